#include "client/ingest/formats/smiles_reader.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "client/ingest/formats/molecule_layout.h"
#include "client/ingest/formats/molecule_parser.h"
#include "client/ingest/formats/smiles_columns.h"
#include "client/ingest/formats/smiles_rows.h"
#include "client/ingest/origin.h"
#include "client/ingest/record_reader.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"
#include "proto/base/status_macros.h"

namespace packtrain::ingest {
namespace {

constexpr char kRecordWord[] = "molecule";
// Stands between the cells of a record that was cut off; no line has one.
constexpr char kCellEnd = '\0';

// What the first row says of a file.
struct Head {
  absl::Status status;  // why the file as a whole cannot be read
  std::shared_ptr<const SmilesColumns> columns = std::make_shared<SmilesColumns>();
  std::optional<std::vector<std::string>> first_row = std::nullopt;  // where it is no header
};

std::string FlagOf(const ReadOptions& options, std::string_view name) {
  const auto given = options.flags.find(name);
  return given == options.flags.end() ? std::string() : given->second;
}

// The columns that the first row names or has. In lines of words without a header, all behind the first SMILES
// is one cell, if there is anything.
absl::StatusOr<SmilesColumns> FirstColumns(SmilesRows& rows, const AskedColumns& asked,
                                           std::vector<std::string>& row) {
  absl::StatusOr<SmilesColumns> columns = FindColumns(row, asked);
  const bool is_header = columns.ok() && columns->has_header;
  if (is_header || !rows.are_words()) return columns;
  rows.SetColumns(std::min<std::size_t>(row.size(), 2), /*has_header=*/false);
  rows.Unread();
  ABSL_RETURN_IF_ERROR(rows.Next(&row).status());
  return FindColumns(row, asked);
}

absl::StatusOr<Head> ReadHead(SmilesRows& rows, const ReadOptions& options) {
  std::vector<std::string> row;
  ABSL_ASSIGN_OR_RETURN(const bool more, rows.Next(&row));
  if (!more) return RefusedWhole(rows.path(), "empty_file", "the file holds no row");
  const Origin place = {rows.path(), kRecordWord, 1, rows.row_line()};
  const std::string smiles = FlagOf(options, "--smiles"), id = FlagOf(options, "--id");
  absl::StatusOr<SmilesColumns> columns = FirstColumns(rows, {smiles, id}, row);
  if (!columns.ok()) return RefusedAt(place, columns.status());
  rows.SetColumns(columns->names.size(), columns->has_header);
  Head head;
  if (!columns->has_header) head.first_row = std::move(row);
  head.columns = std::make_shared<const SmilesColumns>(*std::move(columns));
  return head;
}

class SmilesCutter final : public RecordCutter {
 public:
  SmilesCutter(std::unique_ptr<SmilesRows> rows, Head head) : rows_(std::move(rows)), head_(std::move(head)) {}

  absl::StatusOr<bool> Next(RawRecord* record) override {
    if (ended_) return false;
    record->origin = {rows_->path(), kRecordWord, records_ + 1, rows_->row_line()};
    if (!head_.status.ok()) return EndWith(head_.status);
    absl::StatusOr<bool> more = NextRow();
    if (!more.ok() && ReasonOf(more.status()) != "bad_csv") return EndWith(more.status());
    if (more.ok() && !*more) return End();
    record->origin.record = ++records_;
    record->origin.line = rows_->row_line();
    if (more.ok()) record->text = absl::StrJoin(cells_, absl::string_view(&kCellEnd, 1));
    return more;
  }

 private:
  absl::StatusOr<bool> NextRow() {
    if (!head_.first_row) return rows_->Next(&cells_);
    cells_ = std::move(*head_.first_row);
    head_.first_row.reset();
    return true;
  }

  absl::StatusOr<bool> End() {
    if (records_ > 0) return EndWith(absl::OkStatus());
    return EndWith(RefusedWhole(rows_->path(), "empty_file", "the file holds a header and no row"));
  }

  absl::StatusOr<bool> EndWith(absl::Status status) {
    ended_ = true;
    if (!status.ok()) return status;
    return false;
  }

  const std::unique_ptr<SmilesRows> rows_;
  Head head_;
  std::uint64_t records_ = 0;
  bool ended_ = false;
  std::vector<std::string> cells_;
};

class SmilesParser final : public RecordParser {
 public:
  SmilesParser(const MoleculeOptions& options, std::shared_ptr<const SmilesColumns> columns)
      : options_(options), columns_(std::move(columns)), layout_(MoleculeLayout(options)) {
    layout_.labels_are_cells = true;
  }

  const GraphLayout& layout() const override { return layout_; }

  absl::Status Parse(const RawRecord& record, SourceGraph* graph) override {
    Split(record.text);
    ABSL_RETURN_IF_ERROR(CheckCount());
    return ReadRow(graph);
  }

 private:
  void Split(std::string_view text) {
    cells_.clear();
    while (true) {
      const std::size_t end = std::min(text.find(kCellEnd), text.size());
      cells_.push_back(text.substr(0, end));
      if (end == text.size()) return;
      text.remove_prefix(end + 1);
    }
  }

  absl::Status CheckCount() const {
    const std::size_t cells = cells_.size(), columns = columns_->names.size();
    if (cells == columns) return absl::OkStatus();
    return Refusal(cells < columns ? "short_row" : "long_row",
                   absl::StrCat("the row has ", cells, " cells, ", columns, " columns are known"));
  }

  absl::Status ReadRow(SourceGraph* graph) {
    const SmilesCell cell = SplitSmilesCell(cells_[columns_->smiles]);
    if (columns_->id) graph->id = cells_[*columns_->id];
    std::string_view name = NameOf(cell);
    graph->title = NextWord(&name);
    for (std::size_t k = 0; k < cells_.size(); ++k) {
      if (k == columns_->smiles || k == columns_->id) continue;
      graph->labels.push_back({columns_->names[k], cells_[k]});
    }
    const absl::Status status = ReadSmiles(cell.smiles, cell.extension, options_, graph);
    if (IsRefusal(status) && !cell.smiles.empty()) {
      return WithMessage(status, absl::StrCat(status.message(), ": ", Shown(cells_[columns_->smiles])));
    }
    ABSL_RETURN_IF_ERROR(status);
    if (!columns_->id || !graph->id.empty()) return absl::OkStatus();
    return Refusal("no_id",
                   absl::StrCat("the cell of column '", columns_->names[*columns_->id], "' (--id) is empty"));
  }

  // What follows a SMILES is a name.
  std::string_view NameOf(const SmilesCell& cell) const {
    const std::size_t next = columns_->smiles + 1;
    if (!cell.name.empty() || columns_->has_header || next >= cells_.size() || next == columns_->id) {
      return cell.name;
    }
    return cells_[next];
  }

  const MoleculeOptions options_;
  const std::shared_ptr<const SmilesColumns> columns_;
  GraphLayout layout_;
  std::vector<std::string_view> cells_;  // of the record that is being parsed
};

}  // namespace

absl::StatusOr<std::unique_ptr<GraphReader>> OpenSmiles(std::unique_ptr<ByteSource> file,
                                                        const ReadOptions& options) {
  ABSL_ASSIGN_OR_RETURN(const MoleculeOptions molecules,
                        MoleculeOptionsOf(options, {.hydrogens = Hydrogens::kRemove}));
  auto rows = std::make_unique<SmilesRows>(std::make_unique<LineReader>(std::move(file), options.limits),
                                           options.limits);
  absl::StatusOr<Head> read = ReadHead(*rows, options);
  Head head = read.ok() ? *std::move(read) : Head{.status = read.status()};
  const std::shared_ptr<const SmilesColumns> columns = head.columns;
  return NewRecordReader(
      std::make_unique<SmilesCutter>(std::move(rows), std::move(head)),
      [=] { return std::make_unique<SmilesParser>(molecules, columns); }, options.threads);
}

std::vector<FormatFlag> SmilesFlags() {
  return MoleculeFlags({{"--smiles", "COLUMN",
                         "Column of the SMILES, by name, or by number where there is no header "
                         "(default: named smiles, or the first)"}});
}

}  // namespace packtrain::ingest
