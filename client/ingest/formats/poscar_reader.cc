#include "client/ingest/formats/poscar_reader.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/ingest/elements.h"
#include "client/ingest/formats/crystal_layout.h"
#include "client/ingest/formats/poscar_head.h"
#include "client/ingest/line_reader.h"
#include "client/ingest/origin.h"
#include "client/ingest/record_reader.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

constexpr char kRecordWord[] = "structure";

bool IsBlankLine(std::string_view line) { return Trim(line).empty(); }

bool BeginsWith(std::string_view line, std::string_view word) {
  const std::string_view front = Trim(line).substr(0, word.size());
  return absl::EqualsIgnoreCase(absl::string_view(front.data(), front.size()),
                                absl::string_view(word.data(), word.size()));
}

// What CONTCAR has behind the atoms: rows of numbers, and lines that say what they are.
bool BelongsToTail(std::string_view line) {
  if (BeginsWith(line, "direct") || BeginsWith(line, "cartesian") || BeginsWith(line, "lattice")) return true;
  for (std::string_view word; !(word = NextWord(&line)).empty();) {
    if (!ParseDouble(word)) return false;
  }
  return true;
}

// Whether a structure begins with the first of these lines, at least kMaxHeadLines or all that follow: its head
// can be read, or a comment that is no row stands in front of lines like those of a head.
bool BeginsStructure(std::span<const std::string_view> lines) {
  if (AtomsOfHead(lines)) return true;
  std::string_view rest;
  return !BelongsToTail(lines.front()) && !ThreeNumbers(lines.front(), &rest) && ResemblesHead(lines);
}

// Cuts a file behind the atoms of each structure and what follows them up to the next one.
class PoscarCutter : public RecordCutter {
 public:
  PoscarCutter(std::unique_ptr<LineReader> lines, std::uint64_t max_atoms)
      : lines_(std::move(lines)), max_atoms_(max_atoms) {}

  absl::StatusOr<bool> Next(RawRecord* record) override {
    if (ended_) return false;
    record->origin = {lines_->path(), kRecordWord, ++records_, line_ + 1};
    ABSL_ASSIGN_OR_RETURN(const bool more, LookAhead(kMaxHeadLines));
    if (!more && std::ranges::all_of(ahead_, [](const std::string& line) { return IsBlankLine(line); })) {
      ended_ = true;
      if (records_ > 1) return false;
      return RefusedWhole(lines_->path(), "empty_file", "the file holds no structure");
    }
    ABSL_RETURN_IF_ERROR(CutStructure(record));
    return true;
  }

 private:
  // Reads on until `count` lines lie ahead; false where there are fewer.
  absl::StatusOr<bool> LookAhead(std::size_t count) {
    std::string_view line;
    while (ahead_.size() < count) {
      const absl::StatusOr<bool> more = lines_->Next(&line);
      if (!more.ok()) return End(more.status());
      if (!*more) return false;
      ahead_.emplace_back(line);
    }
    return true;
  }

  // Nothing after `status` can be read.
  absl::Status End(absl::Status status) {
    ended_ = true;
    return status;
  }

  // Appends the next line, if there is one, to `text`.
  absl::StatusOr<bool> Take(std::string* text) {
    ABSL_RETURN_IF_ERROR(LookAhead(1).status());
    if (ahead_.empty()) return false;
    if (text != nullptr) text->append(ahead_.front()).push_back('\n');
    ahead_.pop_front();
    ++line_;
    return true;
  }

  std::vector<std::string_view> Ahead() const { return {ahead_.begin(), ahead_.end()}; }

  absl::Status CutStructure(RawRecord* record) {
    std::size_t wrong_line = 0;
    const absl::StatusOr<PoscarHead> head = ParsePoscarHead(Ahead(), &wrong_line);
    if (!head.ok()) return PassOver(record);
    const std::uint64_t atoms = head->atoms();
    const bool too_many = atoms > max_atoms_;
    std::string* const text = too_many ? nullptr : &record->text;
    for (std::uint64_t line = 0; line < head->lines + atoms; ++line) {
      ABSL_ASSIGN_OR_RETURN(const bool ended, EndsEarly(line < head->lines));
      if (ended) break;
      ABSL_RETURN_IF_ERROR(Take(text).status());
    }
    ABSL_RETURN_IF_ERROR(TakeTail(text));
    if (!too_many) return absl::OkStatus();
    return RefusedAt(record->origin, Refusal("too_many_atoms",
                                             absl::StrCat("the structure has ", atoms, " atoms, the limit is ",
                                                          max_atoms_, " (--max-atoms)")));
  }

  // Whether no line of the head or no row of an atom follows, but the end of the file or the next structure.
  absl::StatusOr<bool> EndsEarly(bool in_head) {
    ABSL_RETURN_IF_ERROR(LookAhead(kMaxHeadLines).status());
    if (ahead_.empty() || in_head) return ahead_.empty();
    std::string_view row = ahead_.front();
    return !ParseDouble(NextWord(&row)) && BeginsStructure(Ahead());
  }

  // Takes what stands between the atoms and the next structure.
  absl::Status TakeTail(std::string* text) {
    while (true) {
      ABSL_RETURN_IF_ERROR(LookAhead(kMaxHeadLines).status());
      if (ahead_.empty() || BeginsStructure(Ahead())) return absl::OkStatus();
      ABSL_RETURN_IF_ERROR(Take(text).status());
    }
  }

  // Takes all up to the next structure, or the end. The first lines are enough to say what is wrong.
  absl::Status PassOver(RawRecord* record) {
    for (std::size_t line = 0; line == 0 || !BeginsBehind(line); ++line) {
      ABSL_RETURN_IF_ERROR(Take(line < kMaxHeadLines ? &record->text : nullptr).status());
      ABSL_RETURN_IF_ERROR(LookAhead(kMaxHeadLines).status());
      record->leaves_rest = ahead_.empty() && line >= kMaxHeadLines;
      if (ahead_.empty()) return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  // Whether the next structure begins `line` lines behind the beginning of a head that cannot be read. Lines of
  // that head, and "Direct" behind it, may look like another one with a wrong line.
  bool BeginsBehind(std::size_t line) const {
    return line < kMaxHeadLines - 1 ? AtomsOfHead(Ahead()).has_value() : BeginsStructure(Ahead());
  }

  const std::unique_ptr<LineReader> lines_;
  const std::uint64_t max_atoms_;
  std::deque<std::string> ahead_;  // read, not cut yet
  std::uint64_t line_ = 0;         // that was cut last
  std::uint64_t records_ = 0;
  bool ended_ = false;
};

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

// Coordinates of one row, and the element symbol behind them; empty: there is none.
struct AtomRow {
  Vector at = {};
  std::string_view symbol;
};

absl::StatusOr<AtomRow> ParseRow(std::string_view line, bool is_selective) {
  AtomRow row;
  std::string_view rest = line;
  for (double& coordinate : row.at) {
    const std::string_view word = NextWord(&rest);
    if (word.empty()) {
      return Refusal("short_row", absl::StrCat("the row ", Shown(line), " has less than three coordinates"));
    }
    const std::optional<double> value = ParseDouble(word);
    if (!value) return Refusal("not_a_number", absl::StrCat("coordinate ", Shown(word), " is not a number"));
    if (!std::isfinite(*value)) {
      return Refusal("not_finite", absl::StrCat("coordinate ", Shown(word), " is not finite"));
    }
    coordinate = *value;
  }
  for (int flag = 0; is_selective && flag < 3; ++flag) NextWord(&rest);
  row.symbol = NextWord(&rest);
  return row;
}

class PoscarParser : public RecordParser {
 public:
  const GraphLayout& layout() const override { return layout_; }

  absl::Status Parse(const RawRecord& record, SourceGraph* graph) override {
    const std::vector<std::string_view> lines = LinesOf(record.text);
    Name(lines, graph);
    std::size_t line = 0;  // of the record, that is read
    absl::Status status = ReadStructure(lines, graph, &line);
    if (status.ok()) return status;
    Origin origin = record.origin;
    origin.line += std::min(line, lines.size() - 1);  // the last one, where more are missing
    return RefusedAt(origin, std::move(status));
  }

 private:
  static void Name(const std::vector<std::string_view>& lines, SourceGraph* graph) {
    if (lines.empty()) return;
    std::string_view comment = lines.front();
    graph->title = NextWord(&comment);
  }

  absl::Status ReadStructure(const std::vector<std::string_view>& lines, SourceGraph* graph,
                             std::size_t* line) {
    ABSL_ASSIGN_OR_RETURN(const PoscarHead head, ParsePoscarHead(lines, line));
    if (head.atoms() == 0) return Refusal("no_nodes", "the structure has no atoms");
    ABSL_RETURN_IF_ERROR(writer_.Begin(head.vectors, graph));
    *line = head.lines;
    for (std::size_t kind = 0; kind < head.counts.size(); ++kind) {
      for (std::uint64_t atom = 0; atom < head.counts[kind]; ++atom, ++*line) {
        if (*line == lines.size()) {
          return Refusal("truncated_file", absl::StrCat("the structure ends after ", graph->n_node, " of ",
                                                        head.atoms(), " atoms"));
        }
        ABSL_RETURN_IF_ERROR(ReadAtom(head, kind, lines[*line]));
      }
    }
    return ReadTail(lines, graph, line);
  }

  absl::Status ReadAtom(const PoscarHead& head, std::size_t kind, std::string_view line) {
    ABSL_ASSIGN_OR_RETURN(AtomRow row, ParseRow(line, head.is_selective));
    const std::uint8_t of_row = AtomicNumber(row.symbol);
    const std::uint8_t of_head = head.species.empty() ? of_row : head.species[kind];
    if (of_head == 0) {
      return Refusal("no_species",
                     "neither the line above the numbers of atoms, nor the comment, nor the row "
                     "says which element it is");
    }
    const bool names_element = of_row != 0 && !ParseCount(row.symbol);
    if (names_element && of_row != of_head) {
      return Refusal("contradiction", absl::StrCat("the row ", Shown(line), " is of element ", of_row,
                                                   ", by the head it is ", of_head));
    }
    if (head.is_cartesian) {
      for (std::size_t k = 0; k < 3; ++k) row.at[k] *= head.scale[k];
      writer_.AddCartesian(of_head, row.at);
    } else {
      writer_.AddFractional(of_head, row.at);
    }
    return absl::OkStatus();
  }

  static absl::Status ReadTail(const std::vector<std::string_view>& lines, SourceGraph* graph,
                               std::size_t* line) {
    if (*line < lines.size() && !IsBlankLine(lines[*line]) && !BeginsWith(lines[*line], "lattice")) {
      return Refusal("extra_rows", absl::StrCat("expected a blank line or the end of the file behind ",
                                                graph->n_node, " atoms, found ", Shown(lines[*line])));
    }
    bool velocities = false;
    for (; *line < lines.size(); ++*line) {
      if (!BelongsToTail(lines[*line])) {
        return Refusal("unknown_tail", absl::StrCat("behind the atoms stands ", Shown(lines[*line]),
                                                    ", which is no velocity and begins no structure"));
      }
      velocities = velocities || !IsBlankLine(lines[*line]);
    }
    if (velocities) graph->labels.push_back({.name = "velocities", .text = "", .form = LabelForm::kPerNode});
    return absl::OkStatus();
  }

  const GraphLayout layout_ = CrystalLayout(kRecordWord);
  CrystalWriter writer_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<GraphReader>> OpenPoscar(std::unique_ptr<ByteSource> file,
                                                        const ReadOptions& options) {
  auto lines = std::make_unique<LineReader>(std::move(file), options.limits);
  return NewRecordReader(
      std::make_unique<PoscarCutter>(std::move(lines), options.limits.max_atoms),
      [] { return std::make_unique<PoscarParser>(); }, options.threads);
}

}  // namespace packtrain::ingest
