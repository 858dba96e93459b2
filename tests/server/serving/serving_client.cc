#include "tests/server/serving/serving_client.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_convert.h"
#include "proto/wire/batch_assembler.h"

namespace packtrain::testing {
namespace {

constexpr std::uint64_t kMaxBodyBytes = std::uint64_t{1} << 30;

void SetDeadline(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(120));
}

template <typename Response, typename Stub, typename Request>
absl::StatusOr<Response> Call(Stub& stub,
                              grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                              const Request& request) {
  grpc::ClientContext context;
  SetDeadline(context);
  Response response;
  const grpc::Status status = (stub.*method)(&context, request, &response);
  if (!status.ok()) return base::FromGrpcStatus(status);
  return response;
}

}  // namespace

v1::Schema PathSchema() {
  v1::Schema schema;
  schema.set_edge_rule(v1::EDGE_RULE_STORED);
  schema.set_edges("path");
  v1::Field& x = *schema.add_fields();
  x.set_name("x");
  x.set_scope(v1::FIELD_SCOPE_NODE);
  x.set_data_type(v1::DATA_TYPE_I32);
  return schema;
}

v1::GraphBlock PathBlock(const std::vector<std::uint32_t>& n_node) {
  v1::GraphBlock block;
  std::string x;
  std::int32_t count = 0;
  for (std::size_t k = 0; k < n_node.size(); ++k) {
    block.add_source_ids(absl::StrCat("path-", k));
    block.add_n_node(n_node[k]);
    block.add_n_edge(2 * (n_node[k] - 1));
    for (std::uint32_t node = 0; node < n_node[k]; ++node, ++count) {
      x.append(reinterpret_cast<const char*>(&count), sizeof(count));
      for (std::uint32_t sender : {node - 1, node + 1}) {
        if (sender >= n_node[k]) continue;  // also below 0
        block.add_senders(sender);
        block.add_receivers(node);
      }
    }
  }
  v1::Column& column = *block.add_columns();
  column.set_field("x");
  column.set_data(x);
  return block;
}

std::string ReceivedBatch::body() const {
  const std::span<const std::byte> bytes = batch.body();
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::vector<std::uint64_t> ReceivedBatch::graphs() const {
  const auto indices = batch.Elements<std::uint64_t>(wire::kGraphIndexSection);
  return {indices->begin(), indices->end()};
}

std::string ReceivedStream::bytes() const {
  std::string all;
  for (const ReceivedBatch& received : batches) {
    const wire::BatchHeader& header = received.batch.header();
    absl::StrAppend(&all, "[", header.epoch, ".", header.step, ".", header.index, " ", header.fingerprint, " ",
                    header.padded.graphs, " ", header.padded.nodes, " ", header.padded.edges, "]",
                    received.body());
  }
  return all;
}

ServingClient::ServingClient(const std::shared_ptr<grpc::Channel>& channel)
    : datasets_(v1::DatasetService::NewStub(channel)),
      plans_(v1::PlanService::NewStub(channel)),
      batches_(v1::BatchService::NewStub(channel)),
      server_info_(v1::ServerInfoService::NewStub(channel)) {}

absl::StatusOr<v1::ImportGraphsResponse> ServingClient::Import(
    const std::vector<v1::ImportGraphsRequest>& messages) {
  grpc::ClientContext context;
  SetDeadline(context);
  v1::ImportGraphsResponse response;
  std::unique_ptr<grpc::ClientWriter<v1::ImportGraphsRequest>> writer =
      datasets_->ImportGraphs(&context, &response);
  v1::ImportGraphsRequest end;
  end.mutable_end()->set_graphs(0);
  for (const v1::ImportGraphsRequest& message : messages) {
    end.mutable_end()->set_graphs(end.end().graphs() +
                                  static_cast<std::uint64_t>(message.block().n_node_size()));
    if (!writer->Write(message)) break;
  }
  if (messages.empty() || !messages.back().has_end()) writer->Write(end);
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  if (!status.ok()) return base::FromGrpcStatus(status);
  return response;
}

absl::StatusOr<v1::ImportGraphsResponse> ServingClient::Import(const v1::Schema& schema,
                                                               const v1::GraphBlock& block,
                                                               v1::Renumbering renumber) {
  std::vector<v1::ImportGraphsRequest> messages(2);
  *messages[0].mutable_header()->mutable_schema() = schema;
  messages[0].mutable_header()->set_renumber(renumber);
  *messages[1].mutable_block() = block;
  return Import(messages);
}

absl::StatusOr<v1::SealDatasetResponse> ServingClient::Seal(const v1::SealDatasetRequest& request) {
  return Call(*datasets_, &v1::DatasetService::Stub::SealDataset, request);
}

absl::StatusOr<std::string> ServingClient::Store(const std::string& name, const v1::Schema& schema,
                                                 const v1::GraphBlock& block, v1::Renumbering renumber) {
  absl::StatusOr<v1::ImportGraphsResponse> imported = Import(schema, block, renumber);
  if (!imported.ok()) return imported.status();
  v1::SealDatasetRequest request;
  request.set_import_id(imported->import_id());
  request.set_name(name);
  absl::StatusOr<v1::SealDatasetResponse> sealed = Seal(request);
  if (!sealed.ok()) return sealed.status();
  return absl::StrCat(name, "@", sealed->dataset().version());
}

absl::StatusOr<v1::ListGraphSizesResponse> ServingClient::ListGraphSizes(
    const v1::ListGraphSizesRequest& request) {
  return Call(*datasets_, &v1::DatasetService::Stub::ListGraphSizes, request);
}

absl::StatusOr<v1::Dataset> ServingClient::Get(const std::string& dataset) {
  v1::GetDatasetRequest request;
  request.set_dataset(dataset);
  absl::StatusOr<v1::GetDatasetResponse> response =
      Call(*datasets_, &v1::DatasetService::Stub::GetDataset, request);
  if (!response.ok()) return response.status();
  return response->dataset();
}

absl::StatusOr<v1::ListDatasetsResponse> ServingClient::List(const v1::ListDatasetsRequest& request) {
  return Call(*datasets_, &v1::DatasetService::Stub::ListDatasets, request);
}

absl::StatusOr<v1::GetPlanResponse> ServingClient::GetPlan(const v1::GetPlanRequest& request) {
  return Call(*plans_, &v1::PlanService::Stub::GetPlan, request);
}

absl::StatusOr<v1::GetPlannedBatchResponse> ServingClient::GetPlannedBatch(
    const v1::GetPlannedBatchRequest& request) {
  return Call(*plans_, &v1::PlanService::Stub::GetPlannedBatch, request);
}

absl::StatusOr<v1::GetServerInfoResponse> ServingClient::GetServerInfo() {
  return Call(*server_info_, &v1::ServerInfoService::Stub::GetServerInfo, v1::GetServerInfoRequest());
}

ReceivedStream ServingClient::Stream(const v1::StreamBatchesRequest& request) {
  grpc::ClientContext context;
  SetDeadline(context);
  const auto reader = batches_->StreamBatches(&context, request);
  ReceivedStream stream;
  wire::BatchAssembler assembler(kMaxBodyBytes);
  v1::StreamBatchesResponse message;
  std::size_t parts = 0;
  std::size_t largest = 0;
  while (stream.status.ok() && reader->Read(&message)) {
    const std::string bytes = message.SerializeAsString();
    const wire::Fragment fragment = std::as_bytes(std::span(bytes));
    absl::StatusOr<std::optional<wire::Batch>> batch = assembler.Add({&fragment, 1});
    stream.status = batch.status();
    ++parts;
    largest = std::max(largest, bytes.size());
    if (!batch.ok() || !batch->has_value()) continue;
    stream.batches.push_back({*std::move(*batch), std::exchange(parts, 0), std::exchange(largest, 0)});
  }
  if (!stream.status.ok()) context.TryCancel();
  const grpc::Status end = reader->Finish();
  if (stream.status.ok()) stream.status = base::FromGrpcStatus(end);
  return stream;
}

std::shared_ptr<grpc::Channel> NarrowChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

OpenStream::OpenStream(const std::shared_ptr<grpc::Channel>& channel, const v1::StreamBatchesRequest& request)
    : stub_(v1::BatchService::NewStub(channel)) {
  SetDeadline(context_);
  reader_ = stub_->StreamBatches(&context_, request);
}

OpenStream::~OpenStream() {
  if (finished_) return;
  Cancel();
  Finish().IgnoreError();
}

bool OpenStream::Read() { return reader_->Read(&message_); }

absl::Status OpenStream::Finish() {
  while (Read()) continue;
  finished_ = true;
  return base::FromGrpcStatus(reader_->Finish());
}

}  // namespace packtrain::testing
