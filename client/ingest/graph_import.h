// Reads the files of any format with a GraphReader into blocks of graphs, with their targets and a ledger.
#ifndef PACKTRAIN_CLIENT_INGEST_GRAPH_IMPORT_H_
#define PACKTRAIN_CLIENT_INGEST_GRAPH_IMPORT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/block_source.h"
#include "client/ingest/format.h"
#include "client/ingest/graph_block_builder.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/graph_targets.h"
#include "client/ingest/import_options.h"
#include "client/ingest/ledger.h"
#include "client/ingest/origin.h"
#include "client/ingest/split_file.h"

namespace packtrain::ingest {

// The first good graph decides the schema: which optional fields all graphs have, and which labels are targets.
// Refusals, besides those of the format's reader: "not_utf8", "too_many_targets", "missing_target",
// "bad_target", "not_finite", "FIELD_mismatch" for an optional field that the first graph has and this one
// lacks, or the reverse, and "fields_mismatch" in a file of other fields than those before it. Used by one
// thread at a time.
class GraphImport : public BlockSource {
 public:
  // Reads split file and table of targets, and finds every file; nothing else yet. Errors name the file.
  // `format` opens graphs, and is borrowed.
  static absl::StatusOr<std::unique_ptr<GraphImport>> Create(const Format& format, ImportOptions options);

  // Reads up to the first good graph. A refusal where none is to be skipped, or "no_graphs" where all are.
  absl::StatusOr<v1::ImportHeader> Begin() override;
  // A refusal, where none is to be skipped, ends the import.
  absl::StatusOr<bool> Next(Block* block) override;
  // A list of splits may name graphs that were refused.
  void Describe(const Ledger& ledger, v1::SealDatasetRequest* seal) const override;

  const Ledger& ledger() const override { return ledger_; }
  std::uint64_t total_bytes() const override { return total_bytes_; }
  std::uint64_t consumed_bytes() const override;

 private:
  // What Create reads beforehand.
  struct Inputs {
    std::vector<std::string> files;
    std::uint64_t total_bytes = 0;
    std::optional<TargetTable> table;
    std::optional<SplitLists> splits;
  };
  static absl::StatusOr<Inputs> ReadInputs(const Format& format, const ImportOptions& options);

  GraphImport(const Format& format, ImportOptions options, Inputs inputs);

  // Reads the next good graph into `graph_` and its targets into `y_`; false at the end.
  absl::StatusOr<bool> NextGood();
  // As NextGood, but stops at a refusal, which is in the ledger then.
  absl::StatusOr<bool> NextGraph();
  // The next record of whatever file; its place and id are in `graph_` even where it is refused.
  absl::StatusOr<bool> ReadRecord();
  absl::Status OpenFile();
  absl::Status CloseFile();

  // Checks `graph_` against the layout, or makes it the layout, and fills `y_`.
  absl::Status Fit();
  absl::StatusOr<BlockLayout> LayoutOfFirst() const;
  absl::Status FitTo(const BlockLayout& layout);
  absl::Status CheckFields(const BlockLayout& layout) const;
  v1::ImportHeader MakeHeader() const;
  Origin PlaceOfGraph() const;
  const std::string& file() const { return files_[file_]; }

  const Format& format_;
  const ImportOptions options_;
  const std::vector<std::string> files_;
  const std::uint64_t total_bytes_;
  const GraphTargets targets_;
  const std::optional<SplitLists> splits_;
  std::uint64_t closed_bytes_ = 0;
  std::size_t file_ = 0;
  std::unique_ptr<GraphReader> reader_;  // of `file_`; null: not opened yet
  std::optional<SourceGraph> graph_;     // for `reader_`
  bool same_fields_ = true;              // `reader_` has the layout of the first good graph, where there is one
  std::vector<double> y_;
  bool pending_ = false;               // `graph_` is good and in no block yet
  std::optional<BlockLayout> layout_;  // none before the first good graph
  std::optional<GraphBlockBuilder> builder_;
  Ledger ledger_;
  std::vector<v1::SourceFile> sources_;  // read so far
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_GRAPH_IMPORT_H_
