#include "client/cli/dataset/server_sink.h"

#include <utility>
#include <variant>

#include "client/connection.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {

absl::Status ServerSink::Begin(const v1::ImportHeader& header) {
  stream_.reset();  // gives up what an earlier call has begun
  ABSL_ASSIGN_OR_RETURN(connection_, Connect(global_));
  ABSL_ASSIGN_OR_RETURN(stream_, client::ImportStream::Open(connection_, header));
  return absl::OkStatus();
}

absl::Status ServerSink::Write(ingest::Block block) {
  return std::visit([&](auto& content) { return stream_->Write(std::move(content)); }, block);
}

absl::StatusOr<v1::ImportGraphsResponse> ServerSink::Finish() {
  absl::StatusOr<v1::ImportGraphsResponse> response = stream_->Finish();
  staged_ = response.ok();
  return response;
}

absl::StatusOr<v1::SealDatasetResponse> ServerSink::Seal(const v1::SealDatasetRequest& request) {
  return client::ServiceClient(connection_).SealDataset(request);
}

}  // namespace packtrain::cli
