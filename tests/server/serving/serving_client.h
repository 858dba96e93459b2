// A client made of generated code: what the server looks like to a stranger.
#ifndef PACKTRAIN_TESTS_SERVER_SERVING_SERVING_CLIENT_H_
#define PACKTRAIN_TESTS_SERVER_SERVING_SERVING_CLIENT_H_

#include <grpcpp/channel.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/batch.grpc.pb.h"
#include "packtrain/v1/dataset.grpc.pb.h"
#include "packtrain/v1/server_info.grpc.pb.h"
#include "proto/wire/batch.h"

namespace packtrain::testing {

// Graphs 0, 1, .. with stored edges: graph k is a path of n_node[k] nodes, edges both ways. Node field `x`
// (I32) counts the nodes of the block.
v1::Schema PathSchema();
v1::GraphBlock PathBlock(const std::vector<std::uint32_t>& n_node);

struct ReceivedBatch {
  wire::Batch batch;
  std::size_t parts = 0;
  std::size_t largest_message = 0;

  std::string body() const;
  std::vector<std::uint64_t> graphs() const;
};

// What came, and how the call ended.
struct ReceivedStream {
  std::vector<ReceivedBatch> batches;
  absl::Status status;

  // Bodies end to end, with the headers' checksums: equal for equal batches.
  std::string bytes() const;
};

// Every call blocks and has a deadline well beyond what it needs.
class ServingClient {
 public:
  explicit ServingClient(const std::shared_ptr<grpc::Channel>& channel);

  absl::StatusOr<v1::ImportGraphsResponse> Import(const std::vector<v1::ImportGraphsRequest>& messages);
  absl::StatusOr<v1::ImportGraphsResponse> Import(const v1::Schema& schema, const v1::GraphBlock& block,
                                                  v1::Renumbering renumber = v1::RENUMBERING_UNSPECIFIED);
  absl::StatusOr<v1::SealDatasetResponse> Seal(const v1::SealDatasetRequest& request);
  // Imports and seals; returns NAME@VERSION.
  absl::StatusOr<std::string> Store(const std::string& name, const v1::Schema& schema,
                                    const v1::GraphBlock& block,
                                    v1::Renumbering renumber = v1::RENUMBERING_UNSPECIFIED);
  absl::StatusOr<v1::Dataset> Get(const std::string& dataset);
  absl::StatusOr<v1::ListGraphSizesResponse> ListGraphSizes(const v1::ListGraphSizesRequest& request);
  absl::StatusOr<v1::ListDatasetsResponse> List(const v1::ListDatasetsRequest& request = {});

  absl::StatusOr<v1::GetPlanResponse> GetPlan(const v1::GetPlanRequest& request);
  absl::StatusOr<v1::GetPlannedBatchResponse> GetPlannedBatch(const v1::GetPlannedBatchRequest& request);
  absl::StatusOr<v1::GetServerInfoResponse> GetServerInfo();

  // Reads the whole stream; it must have an end.
  ReceivedStream Stream(const v1::StreamBatchesRequest& request);

 private:
  std::unique_ptr<v1::DatasetService::Stub> datasets_;
  std::unique_ptr<v1::PlanService::Stub> plans_;
  std::unique_ptr<v1::BatchService::Stub> batches_;
  std::unique_ptr<v1::ServerInfoService::Stub> server_info_;
};

// A channel whose receive window stays at gRPC's first 64 kB: what is sent and not read does not grow with the
// speed of the machine.
std::shared_ptr<grpc::Channel> NarrowChannel(const std::string& address);

// A stream that the test reads at its own pace. Cancelled when it goes.
class OpenStream {
 public:
  OpenStream(const std::shared_ptr<grpc::Channel>& channel, const v1::StreamBatchesRequest& request);
  ~OpenStream();

  // One message; false at the end of the stream.
  bool Read();
  const v1::StreamBatchesResponse& message() const { return message_; }
  void Cancel() { context_.TryCancel(); }
  // Reads what is left.
  absl::Status Finish();

 private:
  std::unique_ptr<v1::BatchService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::StreamBatchesResponse>> reader_;
  v1::StreamBatchesResponse message_;
  bool finished_ = false;
};

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_SERVER_SERVING_SERVING_CLIENT_H_
