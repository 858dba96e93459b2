#include "client/ingest/formats/sdf_reader.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/ingest/formats/molecule_layout.h"
#include "client/ingest/formats/molecule_parser.h"
#include "client/ingest/formats/sdf_data_items.h"
#include "client/ingest/line_reader.h"
#include "client/ingest/origin.h"
#include "client/ingest/record_reader.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

constexpr char kRecordWord[] = "molecule";
constexpr std::string_view kRecordEnd = "$$$$";
constexpr std::string_view kMolfileEnd = "M  END";
constexpr std::string_view kSkip = "S  SKP";
constexpr std::string_view kSkipNone = "S  SKP  0";
constexpr std::size_t kSkipDigits = 3;
// More than an atom, with its bonds, takes in any molfile.
constexpr std::uint64_t kAtomBytes = 256;
constexpr std::uint64_t kMaxRecordBytes = std::uint64_t{4} << 30;

std::size_t MaxRecordBytes(const ReadLimits& limits) {
  const std::uint64_t atoms = std::min(limits.max_atoms, kMaxRecordBytes / kAtomBytes);
  return static_cast<std::size_t>(atoms * kAtomBytes + limits.max_line_bytes);
}

// How many lines behind this one are to be skipped.
std::uint64_t LinesToSkip(std::string_view line) {
  if (!line.starts_with(kSkip)) return 0;
  return ParseCount(Trim(line.substr(kSkip.size(), kSkipDigits))).value_or(0);
}

class SdfCutter final : public RecordCutter {
 public:
  SdfCutter(std::unique_ptr<LineReader> lines, std::size_t max_record_bytes)
      : lines_(std::move(lines)), max_record_bytes_(max_record_bytes) {}

  absl::StatusOr<bool> Next(RawRecord* record) override {
    while (!ended_) {
      Begin(record);
      absl::Status status = CutRecord(&record->text);
      if (!status.ok()) return EndWith(status);
      if (!is_filled_) continue;
      ++records_;
      if (second_end_ > 0) {
        return RefusedAt({lines_->path(), kRecordWord, records_, second_end_},
                         Refusal("missing_record_end",
                                 absl::StrCat("a second molfile ends in the record that begins on line ",
                                              record->origin.line, "; is a line $$$$ missing between them?")));
      }
      if (!is_too_long_) return true;
      return RefusedAt(record->origin,
                       Refusal("record_too_long", absl::StrCat("the record is longer than ", max_record_bytes_,
                                                               " bytes, which --max-atoms allows")));
    }
    if (records_ > 0) return false;
    ++records_;
    return RefusedWhole(lines_->path(), "empty_file", "the file holds no molecule");
  }

 private:
  void Begin(RawRecord* record) {
    record->origin = {lines_->path(), kRecordWord, records_ + 1, lines_->line_number() + 1};
    record->text.clear();
    is_filled_ = false;
    is_too_long_ = false;
    in_molfile_ = true;
    to_skip_ = 0;
    second_end_ = 0;
  }

  // Appends the lines up to the end of the record, each with "\n".
  absl::Status CutRecord(std::string* text) {
    std::string_view line;
    while (true) {
      ABSL_ASSIGN_OR_RETURN(const bool more, lines_->Next(&line));
      ended_ = !more;
      if (ended_ || (to_skip_ == 0 && line.starts_with(kRecordEnd))) return absl::OkStatus();
      Take(line, text);
    }
  }

  // In place of lines that are to be skipped, and of the one that says so, stand lines that mean nothing.
  void Take(std::string_view line, std::string* text) {
    if (to_skip_ > 0) {
      --to_skip_;
      line = kSkipNone;
    } else if (in_molfile_) {
      to_skip_ = LinesToSkip(line);
      if (to_skip_ > 0) line = kSkipNone;
    }
    if (line.starts_with(kMolfileEnd)) {
      if (!in_molfile_ && second_end_ == 0) second_end_ = lines_->line_number();
      in_molfile_ = false;
    }
    if (!Trim(line).empty()) is_filled_ = true;
    is_too_long_ = is_too_long_ || text->size() + line.size() >= max_record_bytes_;
    if (!is_too_long_) text->append(line).push_back('\n');
  }

  // Nothing can be read behind a line that cannot.
  absl::Status EndWith(const absl::Status& status) {
    ended_ = true;
    ++records_;
    return status;
  }

  const std::unique_ptr<LineReader> lines_;
  const std::size_t max_record_bytes_;
  std::uint64_t records_ = 0;
  bool ended_ = false;
  // Of the record that is being cut.
  bool is_filled_ = false;    // some line is not blank
  bool is_too_long_ = false;  // the text has a part of the record only
  bool in_molfile_ = true;    // no data item yet
  std::uint64_t to_skip_ = 0;
  std::uint64_t second_end_ = 0;  // line on which another molfile ends; 0: none does
};

class SdfParser final : public RecordParser {
 public:
  SdfParser(const MoleculeOptions& options, std::string id)
      : options_(options), id_(std::move(id)), layout_(MoleculeLayout(options)) {}

  const GraphLayout& layout() const override { return layout_; }

  absl::Status Parse(const RawRecord& record, SourceGraph* graph) override {
    const std::string_view text = record.text;
    std::string_view title = text.substr(0, text.find('\n'));
    const std::string_view whole_title = Trim(title);
    graph->title = NextWord(&title);
    const std::size_t end = EndOfMolfile(text);
    const std::string_view molfile = text.substr(0, end);
    std::size_t item_line = 0, line = 0;
    const absl::Status items = ReadDataItems(text.substr(end), &items_, &item_line);
    const auto before = record.origin.line + static_cast<std::uint64_t>(std::ranges::count(molfile, '\n')) - 1;
    TakeItems(before, graph);
    absl::Status read = ReadMolfile(std::string(molfile), options_, graph, &line);
    if (!read.ok()) return RefuseMolfile(record.origin, whole_title, line, read);
    if (!items.ok()) {
      return RefusedAt({record.origin.file, kRecordWord, record.origin.record, before + item_line}, items);
    }
    return id_.empty() || !graph->id.empty() ? absl::OkStatus() : NoId();
  }

 private:
  // The id and the labels; `line` is the one in front of the data items.
  void TakeItems(std::uint64_t line, SourceGraph* graph) const {
    for (const DataItem& item : items_) {
      if (!id_.empty() && item.name == id_) {
        graph->id = item.text;
        graph->id_line = line + item.line + 1;
      } else {
        graph->labels.push_back({.name = item.name, .text = item.text, .line = line + item.line});
      }
    }
  }

  // `line` of the molfile, from 1; 0: none in particular.
  static absl::Status RefuseMolfile(Origin place, std::string_view title, std::size_t line,
                                    const absl::Status& refusal) {
    if (line > 0) place.line += line - 1;
    if (title.empty() || !IsRefusal(refusal)) return RefusedAt(place, refusal);
    return RefusedAt(place, WithMessage(refusal, absl::StrCat(refusal.message(), ", in ", Shown(title))));
  }

  absl::Status NoId() const {
    std::vector<std::string> names;
    for (const DataItem& item : items_) names.emplace_back(item.name);
    return Refusal("no_id", absl::StrCat("the record has no data item '", id_, "' (--id) with a text, but ",
                                         names.empty() ? "none" : absl::StrJoin(names, ", ")));
  }

  static std::size_t EndOfMolfile(std::string_view text) {
    const std::size_t before = text.find("\nM  END");
    return before == text.npos ? text.size() : std::min(text.find('\n', before + 1), text.size() - 1) + 1;
  }

  const MoleculeOptions options_;
  const std::string id_;  // the name of the data item with the id; empty: none
  const GraphLayout layout_;
  std::vector<DataItem> items_;  // of the record that is being parsed
};

}  // namespace

absl::StatusOr<std::unique_ptr<GraphReader>> OpenSdf(std::unique_ptr<ByteSource> file,
                                                     const ReadOptions& options) {
  ABSL_ASSIGN_OR_RETURN(const MoleculeOptions molecules, MoleculeOptionsOf(options, {.always_has_pos = true}));
  const auto id = options.flags.find("--id");
  const std::string id_item = id == options.flags.end() ? std::string() : id->second;
  auto lines = std::make_unique<LineReader>(std::move(file), options.limits);
  return NewRecordReader(
      std::make_unique<SdfCutter>(std::move(lines), MaxRecordBytes(options.limits)),
      [=] { return std::make_unique<SdfParser>(molecules, id_item); }, options.threads);
}

}  // namespace packtrain::ingest
