#include "client/ingest/formats/qm9_xyz_reader.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/ingest/formats/atom_rows.h"
#include "client/ingest/formats/xyz_frames.h"
#include "client/ingest/line_reader.h"
#include "client/ingest/origin.h"
#include "client/ingest/record_reader.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

struct Property {
  std::string_view name;
  std::string_view unit;
};

// In the order of the file; units of the article's table 3.
constexpr std::array<Property, 15> kProperties = {{{"A", "GHz"},
                                                   {"B", "GHz"},
                                                   {"C", "GHz"},
                                                   {"mu", "debye"},
                                                   {"alpha", "bohr^3"},
                                                   {"homo", "hartree"},
                                                   {"lumo", "hartree"},
                                                   {"gap", "hartree"},
                                                   {"r2", "bohr^2"},
                                                   {"zpve", "hartree"},
                                                   {"U0", "hartree"},
                                                   {"U", "hartree"},
                                                   {"H", "hartree"},
                                                   {"G", "hartree"},
                                                   {"Cv", "cal/(mol K)"}}};

// Positions in the layout.
enum FieldPosition : std::size_t { kZ, kPos };

GraphLayout MakeLayout() {
  return {.fields = {{.name = "z", .scope = v1::FIELD_SCOPE_NODE, .data_type = v1::DATA_TYPE_U8},
                     {.name = "pos",
                      .scope = v1::FIELD_SCOPE_NODE,
                      .data_type = v1::DATA_TYPE_F32,
                      .dims = {3},
                      .unit = "angstrom"}},
          .record_word = "frame"};
}

absl::Status BadProperties(std::string_view line, std::string_view what) {
  return Refusal("bad_properties",
                 absl::StrCat("the line ", Shown(line), " is no tag, index and 15 properties of QM9: ",
                              absl::string_view(what.data(), what.size())));
}

absl::Status CheckProperty(const Property& property, std::string_view word) {
  const std::optional<double> value = ParseDouble(word);
  if (value && std::isfinite(*value)) return absl::OkStatus();
  return Refusal(value ? "not_finite" : "not_a_number",
                 absl::StrCat("property ", std::string(property.name), " is ", Shown(word)));
}

absl::Status ReadProperties(std::string_view line, std::uint64_t number, SourceGraph* graph) {
  std::string_view rest = line;
  const std::string_view tag = NextWord(&rest);
  const std::string_view index = NextWord(&rest);
  if (!ParseCount(index)) return BadProperties(line, "its second word is no index");
  graph->title.assign(tag).append("_").append(index);
  for (std::size_t k = 0; k < kProperties.size(); ++k) {
    const std::string_view word = NextWord(&rest);
    if (word.empty()) return BadProperties(line, absl::StrCat("it has ", k, " properties"));
    ABSL_RETURN_IF_ERROR(CheckProperty(kProperties[k], word));
    graph->labels.push_back(
        {.name = kProperties[k].name, .text = word, .unit = kProperties[k].unit, .line = number});
  }
  if (NextWord(&rest).empty()) return absl::OkStatus();
  return BadProperties(line, "it has more than 15 properties");
}

// The line of frequencies, which a molecule of one atom leaves empty.
absl::Status CheckFrequencies(std::string_view line) {
  std::string_view rest = line;
  for (std::string_view word = NextWord(&rest); !word.empty(); word = NextWord(&rest)) {
    if (ParseDouble(word)) continue;
    return Refusal("count_too_low", absl::StrCat("expected frequencies behind the atoms, found ", Shown(line),
                                                 "; is the number of atoms too low?"));
  }
  return absl::OkStatus();
}

void AddTexts(std::string_view line, std::uint64_t number, std::string_view name, std::string_view relaxed_name,
              SourceGraph* graph) {
  for (const std::string_view label : {name, relaxed_name}) {
    const std::string_view text = NextWord(&line);
    if (!text.empty()) graph->labels.push_back({.name = label, .text = text, .line = number});
  }
}

// `text` is what stands behind the atoms, on lines behind `line`, which becomes the last one read.
absl::Status ReadTail(std::string_view text, std::uint64_t* line, SourceGraph* graph) {
  if (text.empty()) return Refusal("truncated_frame", "the file ends without the line of frequencies");
  ++*line;
  ABSL_RETURN_IF_ERROR(CheckFrequencies(NextLine(&text)));
  if (text.empty()) return Refusal("truncated_frame", "the file ends without the line of SMILES");
  AddTexts(NextLine(&text), ++*line, "smiles", "smiles_relaxed", graph);
  if (text.empty()) return Refusal("truncated_frame", "the file ends without the line of InChI");
  AddTexts(NextLine(&text), ++*line, "inchi", "inchi_relaxed", graph);
  for (const std::string_view name : {"mulliken_charge", "frequencies"}) {
    graph->labels.push_back({.name = name, .text = {}, .form = LabelForm::kPerNode});
  }
  return absl::OkStatus();
}

class Qm9XyzParser final : public RecordParser {
 public:
  explicit Qm9XyzParser(std::uint64_t max_atoms) : max_atoms_(max_atoms), layout_(MakeLayout()) {}

  const GraphLayout& layout() const override { return layout_; }

  absl::Status Parse(const RawRecord& record, SourceGraph* graph) override {
    Origin place = record.origin;
    absl::Status status = ParseFrame(record.text, &place.line, graph);
    return RefusedAt(place, std::move(status));
  }

 private:
  // `line` is that of the count, and becomes that of what is refused.
  absl::Status ParseFrame(std::string_view text, std::uint64_t* line, SourceGraph* graph) const {
    const std::uint64_t count = FrameCount(NextLine(&text)).value_or(0);
    if (text.empty()) return Refusal("truncated_frame", "the file ends without the line of properties");
    const std::uint64_t count_line = (*line)++;
    graph->id_line = *line;
    ABSL_RETURN_IF_ERROR(ReadProperties(NextLine(&text), *line, graph));
    if (absl::Status status = CheckAtomCount(count, max_atoms_); !status.ok()) {
      *line = count_line;
      return status;
    }
    constexpr AtomColumns kColumns = {.count = kQm9AtomColumns, .frequencies = true};
    AtomRows rows(kColumns, text, *line);
    const absl::Status status = rows.Read(count, &graph->Values<std::uint8_t>(kZ), &graph->Values<float>(kPos));
    *line = rows.line();
    ABSL_RETURN_IF_ERROR(status);
    graph->n_node = static_cast<std::uint32_t>(count);
    return ReadTail(rows.rest(), line, graph);
  }

  const std::uint64_t max_atoms_;
  const GraphLayout layout_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<GraphReader>> OpenQm9Xyz(std::unique_ptr<ByteSource> file,
                                                        const ReadOptions& options) {
  const std::uint64_t max_atoms = options.limits.max_atoms;
  auto lines = std::make_unique<LineReader>(std::move(file), options.limits);
  return NewRecordReader(
      std::make_unique<XyzCutter>(std::move(lines), options.limits, XyzTail::kQm9),
      [max_atoms] { return std::make_unique<Qm9XyzParser>(max_atoms); }, options.threads);
}

}  // namespace packtrain::ingest
