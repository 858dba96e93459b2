#include "client/ingest/formats/cif_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/ingest/elements.h"
#include "client/ingest/formats/cif_block.h"
#include "client/ingest/formats/cif_cutter.h"
#include "client/ingest/formats/cif_lines.h"
#include "client/ingest/formats/cif_symmetry.h"
#include "client/ingest/formats/crystal_layout.h"
#include "client/ingest/origin.h"
#include "client/ingest/record_reader.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

// Of the sum of what rounding leaves of one: "0.9999", "1.000(3)".
constexpr double kFullOccupancy = 1e-3;

// Beginnings of tags whose values are stored as the cell.
constexpr std::string_view kStructuralTags[] = {"_cell_length_", "_cell_angle_"};

// Beginnings of tags of the IUCr's dictionaries, and of programs that measure and refine.
constexpr std::string_view kDescriptiveTags[] = {
    "_atom_",    "_audit_",  "_cell_",   "_ccdc_",   "_chemical_", "_citation_",    "_cod_",      "_computing_",
    "_database", "_diffrn_", "_exptl_",  "_geom_",   "_iucr_",     "_journal_",     "_olex2_",    "_oxdiff_",
    "_pd_",      "_publ_",   "_refine_", "_reflns_", "_shelx_",    "_space_group_", "_symmetry_", "_vrf_"};

bool BeginsAsAny(std::string_view tag, std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(beginnings, [tag](std::string_view beginning) {
    return absl::StartsWithIgnoreCase(absl::string_view(tag.data(), tag.size()),
                                      absl::string_view(beginning.data(), beginning.size()));
  });
}

// A number without the standard uncertainty of its last digits, "1.23" of "1.23(4)"; any other word as it is.
std::string_view WithoutUncertainty(std::string_view word) {
  const std::size_t bracket = word.find('(');
  const bool has_one = bracket != word.npos && word.ends_with(')') &&
                       ParseCount(word.substr(bracket + 1, word.size() - bracket - 2)) &&
                       ParseDouble(word.substr(0, bracket));
  return has_one ? word.substr(0, bracket) : word;
}

std::optional<double> NumberOf(std::string_view word) {
  const std::optional<double> value = ParseDouble(WithoutUncertainty(word));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

double CosineOf(double degrees) { return degrees == 90 ? 0 : std::cos(degrees * std::numbers::pi / 180); }

struct CellParameters {
  Vector lengths = {};  // angstrom
  Vector angles = {};   // degrees
};

// `wrong` becomes the place of what is refused.
absl::StatusOr<CellParameters> ReadCell(const CifBlock& block, CifPlace* wrong) {
  constexpr std::array<std::string_view, 3> kLengths = {"_cell_length_a", "_cell_length_b", "_cell_length_c"};
  constexpr std::array<std::string_view, 3> kAngles = {"_cell_angle_alpha", "_cell_angle_beta",
                                                       "_cell_angle_gamma"};
  CellParameters cell;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::string length = block.Find(kLengths[k]), angle = block.Find(kAngles[k]);
    *wrong = {kLengths[k]};
    if (length.empty()) return Refusal("no_cell", absl::StrCat("the block has no ", std::string(kLengths[k])));
    const std::optional<double> value = NumberOf(length);
    if (!value || *value <= 0) {
      return Refusal("bad_cell",
                     absl::StrCat(std::string(kLengths[k]), " is no number above 0, but ", Shown(length)));
    }
    cell.lengths[k] = *value;
    *wrong = {kAngles[k]};
    const std::optional<double> degrees = angle.empty() ? 90 : NumberOf(angle);  // the dictionary's default
    if (!degrees || *degrees <= 0 || *degrees >= 180) {
      return Refusal("bad_cell", absl::StrCat(std::string(kAngles[k]), " is no number between 0 and 180, but ",
                                              Shown(angle)));
    }
    cell.angles[k] = *degrees;
  }
  return cell;
}

// The first vector along x, the second in the plane of x and y. Refusal: there are no such three vectors.
absl::StatusOr<std::array<Vector, 3>> VectorsOf(const CellParameters& cell) {
  const auto& [a, b, c] = cell.lengths;
  const double alpha = CosineOf(cell.angles[0]), beta = CosineOf(cell.angles[1]),
               gamma = CosineOf(cell.angles[2]);
  const double sine = std::sqrt(1 - gamma * gamma);
  const double y = (alpha - beta * gamma) / sine;
  const double z_squared = 1 - beta * beta - y * y;
  if (!(z_squared > 0)) {
    return Refusal("bad_cell", absl::StrCat("no cell has the angles ", cell.angles[0], ", ", cell.angles[1],
                                            " and ", cell.angles[2]));
  }
  return std::array<Vector, 3>{
      Vector{a, 0, 0}, {b * gamma, b * sine, 0}, {c * beta, c * y, c * std::sqrt(z_squared)}};
}

// "Fe3+" is Fe, "O1" is O; of a symbol, "CU" is Cu. 0: no element.
std::uint8_t ElementOf(const CifSite& site) {
  const std::string_view word = site.symbol.empty() ? site.label : site.symbol;
  std::size_t letters = 0;
  while (letters < word.size() && ((word[letters] | 0x20) >= 'a' && (word[letters] | 0x20) <= 'z')) ++letters;
  std::string symbol(word.substr(0, letters));
  if (symbol == "D" || symbol == "T") return 1;  // hydrogen, whichever isotope
  if (symbol.size() == 2 && !site.symbol.empty()) symbol[1] = static_cast<char>(symbol[1] | 0x20);
  return letters == 0 ? 0 : AtomicNumber(symbol);
}

absl::Status CheckOccupancy(const CifSite& site) {
  if (site.occupancy.empty()) return absl::OkStatus();  // 1 by the dictionary
  const std::optional<double> occupancy = NumberOf(site.occupancy);
  if (!occupancy) {
    return Refusal("not_a_number",
                   absl::StrCat("the occupancy of site ", Shown(site.label), " is ", Shown(site.occupancy)));
  }
  if (std::abs(*occupancy - 1) <= kFullOccupancy) return absl::OkStatus();
  return Refusal("partial_occupancy", absl::StrCat("site ", Shown(site.label), " has the occupancy ",
                                                   site.occupancy, ": it is no one atom"));
}

absl::StatusOr<Vector> PlaceOf(const CifSite& site) {
  Vector place;
  for (std::size_t k = 0; k < 3; ++k) {
    if (site.at[k].empty()) {
      return Refusal("unknown_coordinate",
                     absl::StrCat("a coordinate of site ", Shown(site.label), " is unknown"));
    }
    const std::optional<double> value = NumberOf(site.at[k]);
    if (!value) {
      return Refusal("not_a_number", absl::StrCat("coordinate ", Shown(site.at[k]), " of site ",
                                                  Shown(site.label), " is not a number"));
    }
    place[k] = *value;
  }
  return place;
}

// The words between quotes or semicolons, without them; nothing for "?" and ".".
std::string_view Unquoted(std::string_view value) {
  if (value == "?" || value == ".") return {};
  if (value.size() < 2) return value;
  const char quote = value.front();
  if (quote != '\'' && quote != '"' && quote != ';') return value;
  value = value.substr(1, value.size() - 2);
  while (quote == ';' && (value.ends_with('\n') || value.ends_with('\r'))) value.remove_suffix(1);
  return value;
}

// A refusal whose message is Gemmi's, "line:3:1: parse error", at this line of the record. Of a loop with too
// many or too few values Gemmi has the line on which it begins.
absl::Status AtItsLine(const RawRecord& record, const absl::Status& refusal) {
  constexpr std::string_view kLine = "line:", kUnevenLoop = "Wrong number of values in the loop";
  const std::string message(refusal.message());
  const std::size_t text = message.find(": ");
  if (!message.starts_with(kLine) || text == message.npos) return refusal;
  const std::size_t digits = message.find_first_not_of("0123456789", kLine.size()) - kLine.size();
  std::optional<std::uint64_t> line = ParseCount(std::string_view(message).substr(kLine.size(), digits));
  if (!line || *line == 0) return refusal;
  if (message.find(kUnevenLoop) != message.npos) line = LineOfUnevenRow(record.text, *line).value_or(*line);
  Origin place = record.origin;
  place.line += *line - 1;
  return RefusedAt(place, WithMessage(refusal, message.substr(text + 2)));
}

class CifParser : public RecordParser {
 public:
  explicit CifParser(std::uint64_t max_atoms) : max_atoms_(max_atoms) {}

  const GraphLayout& layout() const override { return layout_; }

  absl::Status Parse(const RawRecord& record, SourceGraph* graph) override {
    graph->title = NameOfCifBlock(record.text);
    const absl::StatusOr<CifBlock> block = ReadCifBlock(record.text);
    if (!block.ok()) return AtItsLine(record, block.status());
    CifPlace wrong;
    const absl::Status status = ReadStructure(*block, graph, &wrong);
    if (!status.ok()) {
      Origin place = record.origin;
      place.line += LineOfCifValue(record.text, wrong).value_or(1) - 1;
      return RefusedAt(place, status);
    }
    AddLabels(*block, record, graph);
    return absl::OkStatus();
  }

 private:
  // `wrong` becomes the place of what is refused.
  absl::Status ReadStructure(const CifBlock& block, SourceGraph* graph, CifPlace* wrong) {
    ABSL_ASSIGN_OR_RETURN(const CellParameters cell, ReadCell(block, wrong));
    const CifPlace cell_place = std::exchange(*wrong, {});
    ABSL_RETURN_IF_ERROR(CheckSites(block));
    *wrong = cell_place;
    ABSL_ASSIGN_OR_RETURN(const auto vectors, VectorsOf(cell));
    ABSL_ASSIGN_OR_RETURN(const auto operations,
                          OperationsOfBlock(block, cell.angles[0], cell.angles[2], wrong));
    *wrong = cell_place;
    ABSL_RETURN_IF_ERROR(writer_.Begin(vectors, graph));
    for (std::size_t row = 0; row < block.sites.size(); ++row) {
      *wrong = {"_atom_site_fract_x", row};
      ABSL_RETURN_IF_ERROR(AddSite(block.sites[row], operations, vectors, graph));
    }
    return absl::OkStatus();
  }

  static absl::Status CheckSites(const CifBlock& block) {
    if (!block.sites.empty()) return absl::OkStatus();
    if (!block.has_cartesian_sites) return Refusal("no_nodes", "the block has no atoms");
    return Refusal("no_coordinates", "the atoms have no fractional coordinates (_atom_site_fract_x)");
  }

  absl::Status AddSite(const CifSite& site, std::span<const SymmetryOperation> operations,
                       const std::array<Vector, 3>& vectors, SourceGraph* graph) {
    const std::uint8_t z = ElementOf(site);
    if (z == 0) {
      return Refusal("unknown_symbol", absl::StrCat("site ", Shown(site.label), " is of the unknown element ",
                                                    Shown(site.symbol.empty() ? site.label : site.symbol)));
    }
    ABSL_RETURN_IF_ERROR(CheckOccupancy(site));
    ABSL_ASSIGN_OR_RETURN(const Vector place, PlaceOf(site));
    for (const Vector& image : ImagesOf(place, operations, vectors)) {
      if (graph->n_node == max_atoms_) {
        return Refusal("too_many_atoms",
                       absl::StrCat("the cell has more than ", max_atoms_, " atoms (--max-atoms)"));
      }
      writer_.AddFractional(z, image);
    }
    return absl::OkStatus();
  }

  // Labels are views into the text, in which pairs stand in their order.
  static void AddLabels(const CifBlock& block, const RawRecord& record, SourceGraph* graph) {
    const std::string_view text = record.text;
    std::uint64_t line = record.origin.line;
    std::size_t at = 0;
    for (const CifBlock::Pair& pair : block.pairs) {
      const std::size_t tag = text.find(pair.tag, at);
      if (tag == text.npos) return;
      const std::size_t value = text.find(pair.value, tag + pair.tag.size());
      if (value == text.npos) return;
      line += static_cast<std::uint64_t>(std::ranges::count(text.substr(at, value - at), '\n'));
      const std::uint64_t value_line = line;
      line += static_cast<std::uint64_t>(std::ranges::count(pair.value, '\n'));
      at = value + pair.value.size();
      const std::string_view name = text.substr(tag, pair.tag.size());
      graph->labels.push_back({.name = name,
                               .text = WithoutUncertainty(Unquoted(text.substr(value, pair.value.size()))),
                               .structural = BeginsAsAny(name, kStructuralTags),
                               .descriptive = BeginsAsAny(name, kDescriptiveTags),
                               .line = value_line});
    }
  }

  const std::uint64_t max_atoms_;
  const GraphLayout layout_ = CrystalLayout(kCifRecordWord);
  CrystalWriter writer_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<GraphReader>> OpenCif(std::unique_ptr<ByteSource> file,
                                                     const ReadOptions& options) {
  auto lines = std::make_unique<LineReader>(std::move(file), options.limits);
  return NewRecordReader(
      std::make_unique<CifCutter>(std::move(lines), options.limits),
      [max_atoms = options.limits.max_atoms] { return std::make_unique<CifParser>(max_atoms); },
      options.threads);
}

}  // namespace packtrain::ingest
