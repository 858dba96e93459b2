// The server as the place where an import goes.
#ifndef PACKTRAIN_CLIENT_CLI_DATASET_SERVER_SINK_H_
#define PACKTRAIN_CLIENT_CLI_DATASET_SERVER_SINK_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/command.h"
#include "client/ingest/block_sink.h"
#include "client/internal/service_client.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::cli {

// Connects when the import begins. Codes as ImportGraphs and SealDataset. Used by one thread.
class ServerSink : public ingest::BlockSink {
 public:
  // `global` is borrowed.
  explicit ServerSink(const GlobalOptions& global) : global_(global) {}

  absl::Status Begin(const v1::ImportHeader& header) override;
  // Whether Begin has reached the server.
  bool is_connected() const { return connection_ != nullptr; }
  // Whether Finish has succeeded.
  bool is_staged() const { return staged_; }
  absl::Status Write(ingest::Block block) override;
  absl::StatusOr<v1::ImportGraphsResponse> Finish() override;

  // Publishes what was staged.
  absl::StatusOr<v1::SealDatasetResponse> Seal(const v1::SealDatasetRequest& request);

 private:
  const GlobalOptions& global_;
  std::shared_ptr<client::Connection> connection_;  // null before Begin
  std::unique_ptr<client::ImportStream> stream_;    // likewise
  bool staged_ = false;
};

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_DATASET_SERVER_SINK_H_
