// Reads files of extended xyz into blocks of graphs, with their targets and a ledger.
#ifndef PACKTRAIN_CLIENT_INGEST_EXTXYZ_IMPORT_H_
#define PACKTRAIN_CLIENT_INGEST_EXTXYZ_IMPORT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/formats/extxyz_reader.h"
#include "client/ingest/frame.h"
#include "client/ingest/graph_block_builder.h"
#include "client/ingest/ledger.h"
#include "client/ingest/line_reader.h"
#include "client/ingest/target_table.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::ingest {

struct ExtxyzImportOptions {
  std::vector<std::string> files;  // at least one
  ReadLimits limits;
  std::uint64_t max_atoms = 1'000'000;
  // Names of the targets; empty: all keys with a number in the first frame, or all columns of numbers in
  // `join`.
  std::vector<std::string> targets;
  // Take targets from this table; `targets` of it is not used.
  std::optional<JoinOptions> join;
  bool missing_target_nan = false;  // otherwise a graph without a target is refused
  bool skip_refused = false;        // otherwise the first refusal ends the import
  std::uint64_t limit = 0;          // read this many frames; 0: all
};

// Every frame has or lacks a cell as the first one does. Used by one thread.
class ExtxyzImport {
 public:
  // Reads the table of `join` and finds every file; nothing else yet. Errors name the file.
  static absl::StatusOr<std::unique_ptr<ExtxyzImport>> Create(ExtxyzImportOptions options);

  // Reads up to the first good frame, which decides the schema. Call once, before Next. A refusal where none is
  // to be skipped, or where no good frame is found. Reasons, besides those of ExtxyzReader: "missing_target",
  // "bad_target", "too_many_targets", "cell_mismatch".
  absl::StatusOr<v1::Schema> Begin();

  // Reads the next block of about 1 MiB; false at the end. A refusal, where none is to be skipped, ends the
  // import.
  absl::StatusOr<bool> Next(v1::GraphBlock* block);

  const Ledger& ledger() const { return ledger_; }
  // The files read so far, as they lie on disk.
  const std::vector<v1::SourceFile>& sources() const { return sources_; }
  std::uint64_t total_bytes() const { return total_bytes_; }
  std::uint64_t consumed_bytes() const;

 private:
  ExtxyzImport(ExtxyzImportOptions options, std::optional<TargetTable> table, std::uint64_t total_bytes);

  // Reads the next good frame into `frame_` and its targets into `y_`; false at the end.
  absl::StatusOr<bool> NextGood();
  // As NextGood, but stops at a refusal, which is in the ledger then.
  absl::StatusOr<bool> NextFrame();
  // The next frame of whatever file; its place and id are in `frame_` even where it is refused.
  absl::StatusOr<bool> ReadFrame();
  absl::Status CloseFile();

  // Checks `frame_` against the layout, or makes it the layout, and fills `y_`.
  absl::Status FitFrame();
  void DecideLayout();
  absl::Status CheckTargetNames() const;
  absl::Status CheckCell() const;
  absl::Status JoinTargets();
  absl::Status TakeTargetsFromFrame();
  absl::Status CheckTargets() const;
  absl::Status Refused(std::string_view reason, const std::string& what) const;
  const std::string& file() const { return options_.files[file_]; }

  const ExtxyzImportOptions options_;
  const std::optional<TargetTable> table_;
  const std::uint64_t total_bytes_;
  std::uint64_t closed_bytes_ = 0;
  std::size_t file_ = 0;
  std::unique_ptr<ExtxyzReader> reader_;  // of `file_`; null: not opened yet
  Frame frame_;
  std::vector<double> y_;
  bool pending_ = false;               // `frame_` is good and in no block yet
  std::optional<FrameLayout> layout_;  // none before the first good frame
  std::optional<GraphBlockBuilder> builder_;
  Ledger ledger_;
  std::vector<v1::SourceFile> sources_;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_EXTXYZ_IMPORT_H_
