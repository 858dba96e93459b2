// An import, from the files of any format to whoever takes its blocks.
//
//   ImportPipeline pipeline(*FindFormat("extxyz"), options);
//   const absl::StatusOr<v1::ImportGraphsResponse> staged = pipeline.Run(server, {std::cerr, is_terminal});
//   ledger_file.Write(pipeline.ledger());  // also where the import failed
//   if (staged.ok()) server.Seal(pipeline.SealRequest(*staged));
//
// client/ingest/README.md follows a record through it.
#ifndef PACKTRAIN_CLIENT_INGEST_IMPORT_PIPELINE_H_
#define PACKTRAIN_CLIENT_INGEST_IMPORT_PIPELINE_H_

#include <iosfwd>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/block_sink.h"
#include "client/ingest/block_source.h"
#include "client/ingest/format.h"
#include "client/ingest/import_options.h"
#include "client/ingest/ledger.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::ingest {

// Opens what `options` names as a source of blocks, of whatever kind the format is. `format` is borrowed.
// Errors of GraphImport::Create and Format::open_blocks.
absl::StatusOr<std::unique_ptr<BlockSource>> OpenSource(const Format& format, const ImportOptions& options);

// Where progress is shown.
struct ProgressDisplay {
  std::ostream& out;
  bool terminal = false;
};

// Used by one thread; a second one reads ahead.
class ImportPipeline {
 public:
  // `format` is borrowed.
  ImportPipeline(const Format& format, ImportOptions options);

  // Reads everything and hands it to `sink`, which is begun only after the first graph was read. To be called
  // once. INVALID_ARGUMENT and NOT_FOUND: a file, a record that is refused and not to be skipped (refusal.h),
  // or nothing to store; otherwise errors of the sink.
  absl::StatusOr<v1::ImportGraphsResponse> Run(BlockSink& sink, const ProgressDisplay& display);

  // What was read, and refused by either end, until now; after a failure, too.
  const Ledger& ledger() const { return ledger_; }

  // What Run staged, to be sealed under `name`; empty: the name that the source knows.
  v1::SealDatasetRequest SealRequest(const v1::ImportGraphsResponse& staged, const std::string& name) const;

 private:
  absl::StatusOr<v1::ImportGraphsResponse> Send(BlockSink& sink, const ProgressDisplay& display);
  // Begins `sink`, while the first blocks are read, and sends all.
  absl::Status SendBlocks(const v1::ImportHeader& header, BlockSink& sink, const ProgressDisplay& display);
  void TakeRefused(const v1::ImportGraphsResponse& staged);

  const Format& format_;
  const ImportOptions options_;
  std::unique_ptr<BlockSource> source_;  // null before Run has opened it
  Ledger ledger_;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_IMPORT_PIPELINE_H_
