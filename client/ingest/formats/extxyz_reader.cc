#include "client/ingest/formats/extxyz_reader.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/ingest/formats/atom_rows.h"
#include "client/ingest/formats/extxyz_comment.h"
#include "client/ingest/formats/ipi_comment.h"
#include "client/ingest/formats/xyz_frames.h"
#include "client/ingest/line_reader.h"
#include "client/ingest/origin.h"
#include "client/ingest/record_reader.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

// Positions in the layout.
enum FieldPosition : std::size_t { kZ, kPos, kCell, kPbc };

GraphLayout MakeLayout() {
  constexpr char kLattice[] = "Lattice";
  return {.fields = {{.name = "z", .scope = v1::FIELD_SCOPE_NODE, .data_type = v1::DATA_TYPE_U8},
                     {.name = "pos",
                      .scope = v1::FIELD_SCOPE_NODE,
                      .data_type = v1::DATA_TYPE_F32,
                      .dims = {3},
                      .unit = "angstrom"},
                     {.name = "cell",
                      .scope = v1::FIELD_SCOPE_GRAPH,
                      .data_type = v1::DATA_TYPE_F32,
                      .dims = {3, 3},
                      .unit = "angstrom",
                      .optional_noun = kLattice,
                      .zero_where_absent = true},
                     {.name = "pbc",
                      .scope = v1::FIELD_SCOPE_GRAPH,
                      .data_type = v1::DATA_TYPE_U8,
                      .dims = {3},
                      .optional_noun = kLattice,
                      .zero_where_absent = true}},
          .record_word = "frame"};
}

// Keys that say what the frame is.
bool IsStructural(std::string_view key) {
  const absl::string_view view(key.data(), key.size());
  return key == "id" || absl::EqualsIgnoreCase(view, "Lattice") || absl::EqualsIgnoreCase(view, "Properties") ||
         absl::EqualsIgnoreCase(view, "pbc");
}

absl::Status BadVectors(std::string_view row) {
  return Refusal("bad_lattice", absl::StrCat("the row ", Shown(row),
                                             " behind the atoms is none of VEC1, VEC2 and "
                                             "VEC3 with three finite numbers each"));
}

// The cell that rows VEC1, VEC2 and VEC3 make. `line` is the one in front of them, and becomes that of the last
// one read.
absl::StatusOr<PeriodicCell> ParseVectors(std::string_view rows, std::uint64_t* line) {
  PeriodicCell cell;
  for (std::size_t k = 0; k < 3; ++k) {
    if (!rows.empty()) ++*line;
    const std::string_view row = NextLine(&rows);
    std::string_view rest = row;
    if (NextWord(&rest) != absl::StrCat("VEC", k + 1)) return BadVectors(row);
    for (std::size_t column = 0; column < 3; ++column) {
      const std::optional<float> value = NextFloat(&rest);
      if (!value || !std::isfinite(*value)) return BadVectors(row);
      cell.vectors[3 * k + column] = *value;
    }
  }
  return cell;
}

class ExtxyzParser final : public RecordParser {
 public:
  ExtxyzParser(std::uint64_t max_atoms, bool species_are_numbers)
      : max_atoms_(max_atoms), species_are_numbers_(species_are_numbers), layout_(MakeLayout()) {}

  const GraphLayout& layout() const override { return layout_; }

  absl::Status Parse(const RawRecord& record, SourceGraph* graph) override {
    std::uint64_t line = record.origin.line;
    absl::Status status = ParseFrame(record.text, &line, graph);
    if (status.ok()) return status;
    Origin place = record.origin;
    place.line = line;
    return RefusedAt(place, std::move(status));
  }

 private:
  // `line` is that of the count, and becomes that of what is refused.
  absl::Status ParseFrame(std::string_view text, std::uint64_t* line, SourceGraph* graph) {
    const std::uint64_t count = FrameCount(NextLine(&text)).value_or(0);
    const std::uint64_t count_line = *line;
    if (!text.empty()) ++*line;
    comment_line_ = *line;
    ABSL_RETURN_IF_ERROR(ReadHead(NextLine(&text), graph));
    *line = count_line;
    ABSL_RETURN_IF_ERROR(CheckAtomCount(count, max_atoms_));
    *line = comment_line_;
    AtomRows rows(properties_.columns, text, *line);
    const absl::Status status = rows.Read(count, &graph->Values<std::uint8_t>(kZ), &graph->Values<float>(kPos));
    *line = rows.line();
    ABSL_RETURN_IF_ERROR(status);
    graph->n_node = static_cast<std::uint32_t>(count);
    if (!rows.rest().empty()) {
      ABSL_ASSIGN_OR_RETURN(cell_, ParseVectors(rows.rest(), line));
    }
    *line = comment_line_;
    return StoreCell(graph);
  }

  absl::Status ReadHead(std::string_view comment, SourceGraph* graph) {
    cell_.reset();
    angstrom_of_pos_ = 1;
    graph->id_line = comment_line_;
    if (IsIpiComment(comment)) return ReadIpiHead(comment, graph);
    const absl::Status status = ParseComment(comment, &pairs_);
    graph->id = FindKey(pairs_, "id").value_or("");
    if (!pairs_.empty() && !pairs_.front().has_value) graph->title = pairs_.front().key;
    ABSL_RETURN_IF_ERROR(status);
    ABSL_RETURN_IF_ERROR(ReadProperties(FindSetting(pairs_, "Properties").value_or("")));
    AddLabels(/*descriptive=*/false, graph);
    if (const std::optional<std::string_view> lattice = FindSetting(pairs_, "Lattice")) {
      ABSL_ASSIGN_OR_RETURN(cell_, ParseCell(*lattice, FindSetting(pairs_, "pbc")));
    }
    return absl::OkStatus();
  }

  absl::Status ReadIpiHead(std::string_view comment, SourceGraph* graph) {
    pairs_.clear();
    ABSL_RETURN_IF_ERROR(ReadProperties(""));
    ABSL_ASSIGN_OR_RETURN(const IpiHead head, ParseIpiComment(comment));
    cell_ = head.cell;
    angstrom_of_pos_ = head.angstrom_of_pos;
    ABSL_RETURN_IF_ERROR(ParseComment(head.rest, &pairs_));
    AddLabels(/*descriptive=*/true, graph);
    return absl::OkStatus();
  }

  absl::Status ReadProperties(std::string_view text) {
    if (text == properties_text_) return absl::OkStatus();
    ABSL_ASSIGN_OR_RETURN(Properties properties, text.empty() ? Properties() : ParseProperties(text));
    properties_ = std::move(properties);
    properties_.columns.numbers = properties_.columns.numbers || species_are_numbers_;
    properties_text_ = text;
    return absl::OkStatus();
  }

  // `descriptive`: what the comment says is of the file's program, and not of the molecule.
  void AddLabels(bool descriptive, SourceGraph* graph) const {
    for (const KeyValue& pair : pairs_) {
      if (!pair.has_value) continue;
      graph->labels.push_back({.name = pair.key,
                               .text = pair.value,
                               .structural = !pair.is_ambiguous && IsStructural(pair.key),
                               .descriptive = descriptive,
                               .ambiguous = pair.is_ambiguous,
                               .line = comment_line_});
    }
    if (pairs_.size() == 1 && !pairs_[0].has_value && ParseDouble(pairs_[0].key)) {
      graph->labels.push_back({.name = "energy", .text = pairs_[0].key, .line = comment_line_});
    }
    const std::string_view properties = FindSetting(pairs_, "Properties").value_or("");
    for (const auto& [begin, size] : properties_.other_names) {
      graph->labels.push_back(
          {.name = properties.substr(begin, size), .text = {}, .form = LabelForm::kPerNode});
    }
  }

  absl::Status StoreCell(SourceGraph* graph) const {
    std::vector<float>& pos = graph->Values<float>(kPos);
    if (angstrom_of_pos_ != 1) {
      for (float& component : pos) component = static_cast<float>(component * angstrom_of_pos_);
    }
    if (!cell_) return CheckOpen();
    graph->Values<float>(kCell).assign(cell_->vectors.begin(), cell_->vectors.end());
    graph->Values<std::uint8_t>(kPbc).assign(cell_->pbc.begin(), cell_->pbc.end());
    return absl::OkStatus();
  }

  // A frame without a cell is open in all directions.
  absl::Status CheckOpen() const {
    const std::optional<std::string_view> text = FindSetting(pairs_, "pbc");
    if (!text) return absl::OkStatus();
    ABSL_ASSIGN_OR_RETURN(const auto pbc, ParsePbc(*text));
    if (pbc[0] + pbc[1] + pbc[2] == 0) return absl::OkStatus();
    return Refusal("bad_pbc", absl::StrCat("pbc=", Shown(*text), ", but the frame has no Lattice"));
  }

  const std::uint64_t max_atoms_;
  const bool species_are_numbers_;
  const GraphLayout layout_;

  // Of the frame being read.
  std::uint64_t comment_line_ = 0;
  std::vector<KeyValue> pairs_;
  std::optional<PeriodicCell> cell_;
  double angstrom_of_pos_ = 1;
  std::string properties_text_ = "none yet";  // that `properties_` came from
  Properties properties_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<GraphReader>> OpenExtxyz(std::unique_ptr<ByteSource> file,
                                                        const ReadOptions& options) {
  const std::uint64_t max_atoms = options.limits.max_atoms;
  const bool species_are_numbers = options.flags.contains(kSpeciesAreNumbers.name);
  auto lines = std::make_unique<LineReader>(std::move(file), options.limits);
  return NewRecordReader(
      std::make_unique<XyzCutter>(std::move(lines), options.limits, XyzTail::kVectors),
      [=] { return std::make_unique<ExtxyzParser>(max_atoms, species_are_numbers); }, options.threads);
}

}  // namespace packtrain::ingest
