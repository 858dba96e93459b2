// packtrain import native: files that `packtrain dataset export --format native` or `packtrain import ... -o
// PART` wrote, as a source of blocks.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_NATIVE_SOURCE_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_NATIVE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/block_source.h"
#include "client/ingest/formats/joined_targets.h"
#include "client/ingest/formats/joined_words.h"
#include "client/ingest/formats/native_file.h"
#include "client/ingest/import_options.h"
#include "client/ingest/ledger.h"
#include "client/ingest/split_file.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::ingest {

// Why an import of one file needs a name of its own, for people; empty: the file has one, or cannot be read, as
// the import itself will tell.
std::string WhyNameIsNeeded(const ImportOptions& options);

// One file with a version is a copy: its schema, records, splits and lineage are handed on as they are, and the
// version that it states is asked for: nothing is stored unless that comes out. Anything else is a join: the
// records of all files in the order of the files, as one import of all their sources would store them, with the
// targets that joined_targets.h finds and the words of joined_words.h. The policies and splits of the options
// hold for a join. Where these ask for no split, those that the sources of parts had stay; names and splits of
// sealed data sets are left out. Used by one thread at a time.
class NativeSource : public BlockSource {
 public:
  // Reads the header of each file. INVALID_ARGUMENT, here and in Next: a file is corrupt, cut off or no such
  // file, or the graphs of the files have not the same fields and edges. Also the refusals of JoinedWords and,
  // of a graph, of WordConverter.
  static absl::StatusOr<std::unique_ptr<BlockSource>> Open(const ImportOptions& options);

  absl::StatusOr<v1::ImportHeader> Begin() override;
  absl::StatusOr<bool> Next(Block* block) override;
  // Of files that have the same targets nothing is read but records as they are.
  std::optional<std::vector<LabelUse>> Labels(std::span<const std::uint64_t> refused) const override {
    if (targets_.IsUniform()) return std::nullopt;
    return targets_.Uses(schema_, options_.paths, refused);
  }
  void Describe(const Ledger& ledger, v1::SealDatasetRequest* seal) const override;

  std::optional<Origin> OriginOf(std::uint64_t position) const override;

  bool has_own_splits() const override { return !is_copy_ && splits_.has_value(); }

  const Ledger& ledger() const override { return ledger_; }
  std::uint64_t total_bytes() const override { return total_bytes_; }
  std::uint64_t consumed_bytes() const override {
    return closed_bytes_ + (file_ ? file_->consumed_bytes() : 0);
  }

 private:
  explicit NativeSource(ImportOptions options) : options_(std::move(options)) {}
  absl::Status ReadHeaders();
  // Finds the schema of the join.
  absl::Status Join();
  // Counts the graphs that have a target, for the order of the targets.
  absl::Status CountTargets();
  absl::Status OpenFile();
  // The next block; false behind the last file.
  absl::StatusOr<bool> NextBlock(Block* block);
  // Whether records of the open file become others, or what they know is counted.
  bool reads_records() const { return word_converter_ || target_converter_ || !targets_.IsUniform(); }
  void CloseFile();
  // Turns records of the open file into those of the join.
  absl::Status Convert(v1::RecordBlock* block);
  // OK where the graph at `place` of the file is to be left out.
  absl::Status Refuse(std::uint64_t place, std::string_view id, const absl::Status& refusal);
  // Of the open file, behind its graphs.
  absl::Status AddSplit(const v1::SplitBlock& block);

  const ImportOptions options_;
  std::optional<SplitLists> split_lists_;
  v1::Dataset dataset_;  // of the first file
  JoinedTargets targets_;
  JoinedWords words_;
  v1::Schema schema_;  // of what is sent
  bool is_copy_ = false;
  std::uint64_t total_bytes_ = 0;

  std::size_t next_ = 0;                         // file to be opened
  std::unique_ptr<NativeFile> file_;             // null: none is open
  std::optional<records::RecordLayout> layout_;  // of its records
  // Of its records; none: the words, or the targets, stay as they are.
  std::optional<WordConverter> word_converter_;
  std::optional<TargetConverter> target_converter_;
  std::vector<std::uint64_t> graphs_;                // of each file
  std::vector<std::vector<std::uint64_t>> refused_;  // here, of each file, by position in it
  std::uint64_t closed_bytes_ = 0;
  // Read so far, as positions among the graphs sent.
  std::optional<v1::SplitByIndex> splits_;
  std::uint64_t sent_ = 0;               // graphs of the files before the open one
  std::vector<v1::SourceFile> sources_;  // of the files read so far
  Ledger ledger_;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_NATIVE_SOURCE_H_
