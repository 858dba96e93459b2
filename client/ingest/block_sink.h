// Where an import goes: to a server, or into records that are made here (local_records.h).
#ifndef PACKTRAIN_CLIENT_INGEST_BLOCK_SINK_H_
#define PACKTRAIN_CLIENT_INGEST_BLOCK_SINK_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/ingest/block_source.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::ingest {

// Takes what a BlockSource gives, as DatasetService.ImportGraphs does. Any error ends the import. Used by one
// thread.
class BlockSink {
 public:
  virtual ~BlockSink() = default;

  // To be called first. What was written before a further call is void.
  virtual absl::Status Begin(const v1::ImportHeader& header) = 0;

  virtual absl::Status Write(Block block) = 0;

  // Says that no block follows. What became of the graphs: how many are staged, and which are refused, in the
  // order of their positions.
  virtual absl::StatusOr<v1::ImportGraphsResponse> Finish() = 0;
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_BLOCK_SINK_H_
