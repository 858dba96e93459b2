// Reads the files of any format with a GraphReader into blocks of graphs, with their targets and a ledger.
#ifndef PACKTRAIN_CLIENT_INGEST_GRAPH_IMPORT_H_
#define PACKTRAIN_CLIENT_INGEST_GRAPH_IMPORT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/block_source.h"
#include "client/ingest/format.h"
#include "client/ingest/graph_block_builder.h"
#include "client/ingest/graph_names.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/graph_targets.h"
#include "client/ingest/import_options.h"
#include "client/ingest/input_list.h"
#include "client/ingest/ledger.h"
#include "client/ingest/record_stream.h"
#include "client/ingest/split_file.h"

namespace packtrain::ingest {

// The first good graph decides which fields the graphs have. What depends on all of them, the targets, the ids
// and fields that may be absent, is assumed from the first 1,000 records or 1 MiB. Where a later graph shows
// that this was wrong, the rest is read for what it says of that only, and everything is read again. Refusals,
// besides those of the format's reader: "not_utf8", "too_many_targets", "missing_target", "bad_target",
// "not_finite", "no_fields" where nothing of the graphs but their nodes and edges would be stored, "bad_split"
// for a split of the source that is none of train, val and test, "FIELD_mismatch" for an optional field that
// the first graph has and this one lacks, or the reverse, and "fields_mismatch" in a file of other fields than
// those before it. Used by one thread at a time.
class GraphImport : public BlockSource {
 public:
  // Reads split file and table of targets, and finds every file; nothing else yet. Errors name the file.
  // `format` opens graphs, and is borrowed.
  static absl::StatusOr<std::unique_ptr<GraphImport>> Create(const Format& format, ImportOptions options);

  // Reads up to the first good graph, and ahead as far as the header needs. A refusal where none is to be
  // skipped, or "no_graphs" where all are. INVALID_ARGUMENT: the nodes of such graphs cannot be renumbered
  // (server/records/node_renumbering.h).
  absl::StatusOr<v1::ImportHeader> Begin() override;
  // A refusal, where none is to be skipped, ends the import, and so does an assumption that turned out wrong
  // where a file cannot be read twice (INVALID_ARGUMENT).
  absl::StatusOr<bool> Next(Block* block) override;
  std::string WhyBeginAgain() const override { return ended_ ? wrong_ : std::string(); }
  // A list of splits may name graphs that were refused. Splits of the files themselves hold where the options
  // ask for none.
  void Describe(const Ledger& ledger, v1::SealDatasetRequest* seal) const override;

  std::optional<std::vector<LabelUse>> Labels(std::span<const std::uint64_t> refused) const override {
    return targets_.Uses(refused);
  }

  bool has_own_splits() const override;

  const Ledger& ledger() const override { return ledger_; }
  std::uint64_t total_bytes() const override { return inputs_->total_bytes(); }
  std::uint64_t consumed_bytes() const override { return inputs_->consumed_bytes(); }

 private:
  // What Create reads beforehand.
  struct Inputs {
    std::unique_ptr<InputList> list;
    std::optional<TargetTable> table;
    std::optional<SplitLists> splits;
  };
  static absl::StatusOr<Inputs> ReadInputs(const Format& format, const ImportOptions& options);

  GraphImport(ImportOptions options, Inputs inputs);

  // Where the format may hold words: finds all of them, once.
  absl::Status ReadWords();
  void AddVocabularies(v1::Schema* schema) const;
  // Forgets all but what was learnt of the whole input.
  absl::Status Restart();
  // Reads the first records into `head_`.
  absl::Status ReadHead();
  void NameHead();
  // Decides by `head_` what all graphs have in common.
  absl::Status Assume();
  void NotePresent(const ReadRecord& record, bool is_first);
  void NoteUnits(const SourceGraph& graph);
  BlockLayout LayoutOf(const GraphLayout& graphs) const;

  // Takes a record into the block, or refuses it; false at the end.
  absl::StatusOr<bool> Step();
  // Of the graph that is sent next. Refusal "bad_split".
  absl::Status NoteSplit(const std::string& split);
  // The next record, from `head_` or the files; false at the end.
  absl::StatusOr<bool> NextRecord();
  // Checks the record against the layout and fills `y_`.
  absl::Status Fit();
  absl::Status CheckFields();
  // OK where the refusal is to be skipped.
  absl::Status Refuse(const absl::Status& refusal);
  // What was assumed of all graphs is wrong: from now on they are only counted. `advice` is for a user whose
  // files cannot be read again.
  absl::Status FoundWrong(std::string what, std::string_view advice);
  bool HasSameFields();
  // Checks behind the last record what was assumed.
  absl::Status End();

  v1::ImportHeader MakeHeader() const;

  const ImportOptions options_;
  const std::unique_ptr<InputList> inputs_;
  const std::optional<SplitLists> splits_;

  // What is known of the whole input, as far as it was read.
  GraphTargets targets_;
  GraphNames names_;
  std::set<std::string> present_;             // optional fields that some graph has
  std::map<std::string, std::string> units_;  // of labels, by name
  bool has_read_all_ = false;                 // once; the targets are known since
  int readings_ = 0;

  // Of the current reading.
  std::optional<RecordStream> records_;
  std::deque<ReadRecord> head_;  // records that were read to assume something
  std::size_t head_left_ = 0;    // of them that are not taken yet
  ReadRecord record_;            // the current one
  bool is_counted_ = false;      // its labels are
  std::vector<double> y_;
  std::optional<BlockLayout> layout_;  // none before the first good graph
  std::optional<GraphBlockBuilder> builder_;
  bool ended_ = false;
  bool only_counts_ = false;                   // graphs are read for what they say of all
  std::string wrong_;                          // why all has to be read again; empty: it has not
  std::optional<absl::Status> refusal_;        // ends the import, if its target is still one when all is read
  std::shared_ptr<const InputFile> compared_;  // whose fields were compared with those of the layout
  bool same_fields_ = false;                   // and are the same
  Ledger ledger_;
  std::uint32_t sent_ = 0;       // graphs
  v1::SplitByIndex own_splits_;  // of the graphs sent, where their files tell them
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_GRAPH_IMPORT_H_
