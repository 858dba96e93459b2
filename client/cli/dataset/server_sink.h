// The server as the place where an import goes.
#ifndef PACKTRAIN_CLIENT_CLI_DATASET_SERVER_SINK_H_
#define PACKTRAIN_CLIENT_CLI_DATASET_SERVER_SINK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/command.h"
#include "client/ingest/block_sink.h"
#include "client/internal/service_client.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::cli {

// Whether an import goes on with what the server has kept of it.
enum class GoOn {
  kNo,         // it begins anew
  kIfKept,     // where there is something
  kAsAskedFor  // the user wants it: says why there is nothing, and refuses to pass over another import of the
               // name
};

// Sends a block, whichever it holds. Codes as ImportStream::Write.
absl::Status SendBlock(ingest::Block block, client::ImportStream& stream);

// Connects when the import begins. Codes as ImportGraphs and SealDataset. Used by one thread. Destroyed before
// Finish, where no failure of the server has ended it, it has the server drop the import.
class ServerSink : public ingest::BlockSink {
 public:
  // Without `identity` nothing is kept. `global` and `output`, for what is said to the user, are borrowed.
  ServerSink(const GlobalOptions& global, std::optional<v1::ImportIdentity> identity, GoOn go_on,
             Output& output)
      : global_(global), identity_(std::move(identity)), go_on_(go_on), output_(output) {}
  ~ServerSink() override;
  ServerSink(const ServerSink&) = delete;
  ServerSink& operator=(const ServerSink&) = delete;

  // Also FAILED_PRECONDITION: another import of the name is kept, and GoOn is kAsAskedFor.
  absl::Status Begin(const v1::ImportHeader& header) override;
  // Whether Begin has reached the server.
  bool is_connected() const { return connection_ != nullptr; }
  // Whether Finish has succeeded.
  bool is_staged() const { return staged_; }
  // Graphs that the server had already, and that were not sent again.
  std::uint64_t continued_at() const { return continue_at_; }
  absl::Status Write(ingest::Block block) override;
  absl::StatusOr<v1::ImportGraphsResponse> Finish() override;

  // Publishes what was staged.
  absl::StatusOr<v1::SealDatasetResponse> Seal(const v1::SealDatasetRequest& request);

 private:
  // Finds out where the import goes on.
  absl::Status AskWhere(const v1::ImportHeader& header);
  // `kept` is what the server has under the name.
  absl::Status SayNothingIsKept(const v1::ContinueImportResponse& kept);

  const GlobalOptions& global_;
  const std::optional<v1::ImportIdentity> identity_;
  GoOn go_on_;
  Output& output_;
  std::shared_ptr<client::Connection> connection_;  // null before Begin
  std::unique_ptr<client::ImportStream> stream_;    // likewise, and where blocks are void
  std::uint64_t continue_at_ = 0;
  std::uint64_t position_ = 0;  // graphs written, those that are not sent counted
  // What is kept is of a later header, to which the source will come: the blocks of this one are void.
  bool is_void_ = false;
  bool staged_ = false;
};

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_DATASET_SERVER_SINK_H_
