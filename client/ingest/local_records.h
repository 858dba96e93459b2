// Does with the blocks of an import what a server does up to its store: makes records of them.
//
//   LocalRecords records(part);  // `part` takes records: a file, or a server that then builds no edges
//   pipeline.Run(records, display);
#ifndef PACKTRAIN_CLIENT_INGEST_LOCAL_RECORDS_H_
#define PACKTRAIN_CLIENT_INGEST_LOCAL_RECORDS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/block_sink.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::ingest {

// Validates graphs, builds their edges and renumbers their nodes where the header asks for it, numbers or
// refuses repeated ids, and hands the records on to another sink. They are the bytes that a server would store,
// so the data set has the same version. Used by one thread.
class LocalRecords : public BlockSink {
 public:
  // `records` is borrowed.
  explicit LocalRecords(BlockSink& records);
  ~LocalRecords() override;

  // INVALID_ARGUMENT, here and in Write, as of ImportGraphs; a graph that is bad and not to be skipped is a
  // refusal.
  absl::Status Begin(const v1::ImportHeader& header) override;
  // Records that come as such are handed on.
  absl::Status Write(Block block) override;
  // What became of the graphs at both places.
  absl::StatusOr<v1::ImportGraphsResponse> Finish() override;

 private:
  class Maker;

  BlockSink& records_;
  std::unique_ptr<Maker> maker_;  // null before Begin
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_LOCAL_RECORDS_H_
