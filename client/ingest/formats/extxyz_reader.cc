#include "client/ingest/formats/extxyz_reader.h"

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/ingest/elements.h"
#include "client/ingest/origin.h"
#include "client/ingest/refusal.h"
#include "client/ingest/source_files.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

constexpr std::size_t kShownBytes = 40;

// `text` in quotes, shortened.
std::string Shown(std::string_view text) {
  const bool whole = text.size() <= kShownBytes;
  const std::string_view shown = whole ? text : text.substr(0, kShownBytes);
  return absl::StrCat("'", absl::string_view(shown.data(), shown.size()), whole ? "'" : "...'");
}

// A line that holds nothing but a count, and so begins a frame.
std::optional<std::uint64_t> CountLine(std::string_view line) { return ParseCount(Trim(line)); }

bool IsRefused(const absl::Status& status, std::string_view reason) {
  return !status.ok() && ReasonOf(status) == reason;
}

absl::Status BadCount(std::string_view line, std::uint64_t frame) {
  return Refusal("bad_count", absl::StrCat("expected the number of atoms, found ", Shown(line),
                                           frame > 1 ? "; is the count of the frame before too low?" : ""));
}

absl::Status Truncated(std::uint64_t atoms_read, std::uint64_t atoms) {
  return Refusal("truncated_frame", absl::StrCat("the file ends after ", atoms_read, " of ", atoms, " atoms"));
}

// First word of a comment, where it is no pair.
std::string_view FirstWord(const std::vector<KeyValue>& pairs) {
  const bool plain = !pairs.empty() && !pairs.front().has_value;
  return plain ? pairs.front().key : std::string_view();
}

// Keys that say what the frame is.
bool IsStructural(std::string_view key) {
  return key == "Lattice" || key == "Properties" || key == "pbc" || key == "id";
}

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
                      .optional_noun = kLattice},
                     {.name = "pbc",
                      .scope = v1::FIELD_SCOPE_GRAPH,
                      .data_type = v1::DATA_TYPE_U8,
                      .dims = {3},
                      .optional_noun = kLattice}},
          .record_word = "frame"};
}

}  // namespace

absl::StatusOr<std::unique_ptr<GraphReader>> ExtxyzReader::Open(std::unique_ptr<ByteSource> file,
                                                                const ReadOptions& options) {
  auto lines = std::make_unique<LineReader>(std::move(file), options.limits);
  return std::unique_ptr<GraphReader>(new ExtxyzReader(std::move(lines), options.limits.max_atoms));
}

ExtxyzReader::ExtxyzReader(std::unique_ptr<LineReader> lines, std::uint64_t max_atoms)
    : lines_(std::move(lines)), max_atoms_(max_atoms), stem_(StemOf(path())), layout_(MakeLayout()) {}

absl::StatusOr<bool> ExtxyzReader::Next(SourceGraph* graph) {
  if (ended_) return false;
  graph->Clear();
  graph->record = ++frames_;
  std::string_view line;
  absl::StatusOr<bool> more = NextFilled(&line);
  graph->line = lines_->line_number();
  if (!more.ok()) return EndWith(more.status());
  if (!*more) {
    ended_ = true;
    if (frames_ > 1) return false;
    return Refusal("empty_file", absl::StrCat(path(), ": the file holds no frame"));
  }
  ABSL_RETURN_IF_ERROR(ReadFrame(line, graph));
  return true;
}

absl::StatusOr<bool> ExtxyzReader::NextFilled(std::string_view* line) {
  while (true) {
    absl::StatusOr<bool> more = lines_->Next(line);
    if (!more.ok() || !*more || !Trim(*line).empty()) return more;
  }
}

absl::Status ExtxyzReader::ReadFrame(std::string_view count_line, SourceGraph* graph) {
  const std::optional<std::uint64_t> count = CountLine(count_line);
  if (!count) return EndWith(Locate(BadCount(count_line, frames_), graph->line, *graph));
  std::string_view comment;
  absl::StatusOr<bool> more = lines_->Next(&comment);
  if (!more.ok()) return EndWith(more.status());
  absl::Status status = ReadHead(*more ? comment : std::string_view(), graph);
  if (status.ok()) status = CheckCount(*count);
  if (!status.ok()) return Refuse(status, *count, graph);
  status = ReadAtoms(*count, graph);
  if (status.ok()) NameByFile(graph);
  return status;
}

absl::Status ExtxyzReader::CheckCount(std::uint64_t count) const {
  if (count == 0) return Refusal("no_nodes", "the frame has no atoms");
  if (count <= max_atoms_) return absl::OkStatus();
  return Refusal("too_many_atoms",
                 absl::StrCat("the frame has ", count, " atoms, the limit is ", max_atoms_, " (--max-atoms)"));
}

absl::Status ExtxyzReader::ReadHead(std::string_view comment, SourceGraph* graph) {
  comment_.assign(comment);
  absl::Status status = ParseComment(comment_, &pairs_);
  NameByComment(graph);
  ABSL_RETURN_IF_ERROR(status);
  AddLabels(graph);
  if (const std::optional<std::string_view> lattice = FindKey(pairs_, "Lattice")) {
    ABSL_ASSIGN_OR_RETURN(const PeriodicCell cell, ParseCell(*lattice, FindKey(pairs_, "pbc")));
    graph->Values<float>(kCell).assign(cell.vectors.begin(), cell.vectors.end());
    graph->Values<std::uint8_t>(kPbc).assign(cell.pbc.begin(), cell.pbc.end());
  }
  return ReadColumns();
}

void ExtxyzReader::AddLabels(SourceGraph* graph) const {
  for (const KeyValue& pair : pairs_) {
    if (pair.has_value) graph->labels.push_back({pair.key, pair.value, IsStructural(pair.key)});
  }
}

absl::Status ExtxyzReader::ReadColumns() {
  const std::string_view properties = FindKey(pairs_, "Properties").value_or("");
  if (properties == properties_) return absl::OkStatus();
  ABSL_ASSIGN_OR_RETURN(AtomColumns columns, properties.empty() ? AtomColumns() : ParseProperties(properties));
  columns_ = columns;
  properties_ = properties;
  return absl::OkStatus();
}

absl::Status ExtxyzReader::ReadAtoms(std::uint64_t count, SourceGraph* graph) {
  std::vector<std::uint8_t>& z = graph->Values<std::uint8_t>(kZ);
  std::vector<float>& pos = graph->Values<float>(kPos);
  for (std::uint64_t atom = 0; atom < count; ++atom) {
    std::string_view row;
    absl::StatusOr<bool> more = lines_->Next(&row);
    if (!more.ok()) return EndWith(more.status());
    if (!*more) return Refuse(Truncated(atom, count), 0, graph);
    const absl::Status status = ReadRow(row, &z, &pos);
    if (!status.ok()) return Refuse(status, count - atom - 1, graph);
  }
  graph->n_node = static_cast<std::uint32_t>(z.size());
  return absl::OkStatus();
}

absl::Status ExtxyzReader::ReadRow(std::string_view row, std::vector<std::uint8_t>* z,
                                   std::vector<float>* pos) const {
  std::string_view rest = row;
  std::array<float, 3> position;
  std::uint8_t atomic_number = 0;
  for (std::size_t column = 0; column < columns_.count; ++column) {
    const std::string_view word = NextWord(&rest);
    if (column == columns_.species) {
      atomic_number = AtomicNumber(word);
    } else if (column - columns_.position < position.size()) {
      const std::optional<float> value = ParseFloat(word);
      if (!value || !std::isfinite(*value)) return ExplainRow(row);
      position[column - columns_.position] = *value;
    } else if (word.empty()) {
      return ExplainRow(row);
    }
  }
  if (atomic_number == 0) return ExplainRow(row);
  z->push_back(atomic_number);
  pos->insert(pos->end(), position.begin(), position.end());
  return absl::OkStatus();
}

absl::Status ExtxyzReader::ExplainRow(std::string_view row) const {
  if (CountLine(row)) {
    return Refusal("count_too_high", absl::StrCat("expected an atom, found ", Shown(row),
                                                  "; is the frame's number of atoms too high?"));
  }
  std::string_view rest = row;
  for (std::size_t column = 0; column < columns_.count; ++column) {
    const std::string_view word = NextWord(&rest);
    if (word.empty()) {
      return Refusal("short_row", absl::StrCat("the row ", Shown(row), " has ", column, " columns, ",
                                               columns_.count, " are needed"));
    }
    if (column == columns_.species && AtomicNumber(word) == 0) {
      return Refusal("unknown_symbol", absl::StrCat("unknown element ", Shown(word)));
    }
    if (column - columns_.position >= 3 || column == columns_.species) continue;
    const std::optional<float> value = ParseFloat(word);
    if (!value) return Refusal("not_a_number", absl::StrCat("coordinate ", Shown(word), " is not a number"));
    if (!std::isfinite(*value))
      return Refusal("not_finite", absl::StrCat("coordinate ", Shown(word), " is not finite"));
  }
  return absl::InternalError("a row was refused for no reason");
}

absl::Status ExtxyzReader::Refuse(const absl::Status& status, std::uint64_t rows, SourceGraph* graph) {
  const std::uint64_t line = lines_->line_number();
  if (IsRefused(status, "count_too_high")) {
    lines_->Unread();
  } else {
    SkipRows(rows);
  }
  NameByFile(graph);
  return Locate(status, line, *graph);
}

void ExtxyzReader::SkipRows(std::uint64_t rows) {
  std::string_view row;
  for (; rows > 0 && !ended_; --rows) {
    const absl::StatusOr<bool> more = lines_->Next(&row);
    ended_ = !more.ok() || !*more;
  }
}

void ExtxyzReader::NameByComment(SourceGraph* graph) const {
  graph->id = FindKey(pairs_, "id").value_or(FirstWord(pairs_));
  if (graph->id.empty()) graph->id = absl::StrCat(stem_, ":", graph->record);
}

void ExtxyzReader::NameByFile(SourceGraph* graph) {
  if (frames_ > 1 || FindKey(pairs_, "id")) return;
  std::string_view line;
  const absl::StatusOr<bool> more = NextFilled(&line);
  if (!more.ok()) return;
  if (*more) {
    lines_->Unread();
  } else {
    graph->id = stem_;
  }
}

absl::Status ExtxyzReader::EndWith(absl::Status status) {
  ended_ = true;
  return status;
}

absl::Status ExtxyzReader::Locate(const absl::Status& status, std::uint64_t line,
                                  const SourceGraph& graph) const {
  return RefusedAt({path(), layout().record_word, graph.record, line}, graph.id, status);
}

}  // namespace packtrain::ingest
