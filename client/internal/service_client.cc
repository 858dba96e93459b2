#include "client/internal/service_client.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/client_context.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>
#include <grpcpp/support/sync_stream.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/internal/channel.h"
#include "client/internal/retry.h"
#include "client/internal/unary_call.h"
#include "google/protobuf/descriptor.h"
#include "packtrain/v1/admin.pb.h"
#include "packtrain/v1/dataset.grpc.pb.h"
#include "packtrain/v1/run.grpc.pb.h"
#include "proto/base/status_macros.h"

namespace packtrain::client {
namespace {

using google::protobuf::internal::WireFormatLite;

constexpr char kImportGraphs[] = "/packtrain.v1.DatasetService/ImportGraphs";
constexpr std::chrono::hours kListing{1};
constexpr std::chrono::hours kCheck{24};

// The server is gone, whichever words gRPC has for it, or has reset the call; its own answers are never
// UNKNOWN.
bool IsLoss(const absl::Status& status) {
  return (IsTransient(status) && !IsFailingServer(status)) || absl::IsUnknown(status) || IsReset(status);
}

// The status of a change that `cause` interrupted: says what is known of its outcome, and keeps the details of
// a reset.
absl::Status Lost(const Connection& connection, absl::string_view outcome, const absl::Status& cause) {
  const bool reset = IsReset(cause);
  absl::Status lost(
      reset ? cause.code() : absl::StatusCode::kUnavailable,
      absl::StrCat("server ", connection.options().server, reset ? " reset the call and " : " was lost and ",
                   outcome, "; it may be repeated: ", cause.message()));
  if (!reset) return lost;
  cause.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { lost.SetPayload(url, payload); });
  return lost;
}

class GrpcImportStream final : public ImportStream {
 public:
  explicit GrpcImportStream(std::shared_ptr<Connection> connection)
      : connection_(std::move(connection)),
        writer_(grpc::internal::ClientWriterFactory<grpc::ByteBuffer>::Create(
            ChannelOf(*connection_).get(),
            grpc::internal::RpcMethod(kImportGraphs, grpc::internal::RpcMethod::CLIENT_STREAMING), &context_,
            &response_)) {}

  ~GrpcImportStream() override {
    if (finished_) return;
    context_.TryCancel();
    (void)writer_->Finish();
  }

  absl::Status WriteHeader(const v1::ImportHeader& header) {
    graphs_ = header.continue_at();
    v1::ImportGraphsRequest request;
    *request.mutable_header() = header;
    return Send(request);
  }

  absl::Status Write(v1::GraphBlock block) override {
    if (finished_) return AlreadyEnded();
    graphs_ += static_cast<std::uint64_t>(block.source_ids_size());
    v1::ImportGraphsRequest request;
    *request.mutable_block() = std::move(block);
    return Send(request);
  }

  absl::Status Write(v1::RecordBlock records) override {
    if (finished_) return AlreadyEnded();
    graphs_ += static_cast<std::uint64_t>(records.records_size());
    v1::ImportGraphsRequest request;
    *request.mutable_records() = std::move(records);
    return Send(request);
  }

  absl::Status WritePacked(std::string bytes, std::size_t begin, std::uint64_t graphs) override {
    if (finished_) return AlreadyEnded();
    graphs_ += graphs;
    auto* const owned = new std::string(std::move(bytes));
    const std::size_t size = owned->size() - begin;
    const grpc::Slice slices[] = {
        HeadOfRecords(size),
        grpc::Slice(
            owned->data() + begin, size, [](void* text) { delete static_cast<std::string*>(text); }, owned)};
    return Send(grpc::ByteBuffer(slices, std::size(slices)));
  }

  void Drop() override {
    if (finished_) return;
    v1::ImportGraphsRequest request;
    request.mutable_end()->set_drop(true);
    if (!Send(request).ok()) return;  // the server has ended the call already
    writer_->WritesDone();
    End().IgnoreError();
  }

  absl::StatusOr<v1::ImportGraphsResponse> Finish() override {
    if (finished_) return AlreadyEnded();
    v1::ImportGraphsRequest request;
    request.mutable_end()->set_graphs(graphs_);
    ABSL_RETURN_IF_ERROR(Send(request));
    writer_->WritesDone();
    ABSL_RETURN_IF_ERROR(End());
    return std::move(response_);
  }

 private:
  static absl::Status AlreadyEnded() { return absl::FailedPreconditionError("this import has ended already"); }

  absl::Status End() {
    finished_ = true;
    const absl::Status status = OutcomeOf(writer_->Finish());
    return IsLoss(status) ? Lost(*connection_, "the import was not stored", status) : status;
  }

  // What comes in front of a packed RecordBlock of `size` bytes in a packed request.
  static grpc::Slice HeadOfRecords(std::size_t size) {
    std::string head;
    google::protobuf::io::StringOutputStream stream(&head);
    google::protobuf::io::CodedOutputStream out(&stream);
    out.WriteTag(WireFormatLite::MakeTag(v1::ImportGraphsRequest::kRecordsFieldNumber,
                                         WireFormatLite::WIRETYPE_LENGTH_DELIMITED));
    out.WriteVarint64(size);
    out.Trim();
    return grpc::Slice(head);
  }

  absl::Status Send(const v1::ImportGraphsRequest& request) {
    grpc::ByteBuffer packed;
    bool own = false;
    const grpc::Status status =
        grpc::SerializationTraits<v1::ImportGraphsRequest>::Serialize(request, &packed, &own);
    return status.ok() ? Send(packed) : absl::InternalError(status.error_message());
  }

  absl::Status Send(const grpc::ByteBuffer& packed) {
    if (writer_->Write(packed)) return absl::OkStatus();
    absl::Status status = End();
    return status.ok() ? absl::InternalError("the server ended the import before its last block") : status;
  }

  const std::shared_ptr<Connection> connection_;
  grpc::ClientContext context_;
  v1::ImportGraphsResponse response_;
  // Of messages as bytes: records come packed already.
  const std::unique_ptr<grpc::ClientWriter<grpc::ByteBuffer>> writer_;
  std::uint64_t graphs_ = 0;  // sent, and those before
  bool finished_ = false;
};

// The method that takes and answers such messages, as gRPC names it: a unary one, or one that answers with a
// stream. Empty: there is none in the request's file.
std::string MethodOf(const google::protobuf::Descriptor& request, const google::protobuf::Descriptor& response,
                     bool answers_with_stream = false) {
  const google::protobuf::FileDescriptor& file = *request.file();
  for (int k = 0; k < file.service_count(); ++k) {
    for (int m = 0; m < file.service(k)->method_count(); ++m) {
      const google::protobuf::MethodDescriptor& method = *file.service(k)->method(m);
      if (method.input_type() != &request || method.output_type() != &response) continue;
      if (method.client_streaming() || method.server_streaming() != answers_with_stream) continue;
      return absl::StrCat("/", file.service(k)->full_name(), "/", method.name());
    }
  }
  return "";
}

// As the generated stub of the method does.
grpc::Status CallUnary(grpc::Channel& channel, grpc::ClientContext& context, const std::string& method,
                       const google::protobuf::Message& request, google::protobuf::Message& response) {
  using google::protobuf::MessageLite;
  const grpc::internal::RpcMethod rpc(method.c_str(), grpc::internal::RpcMethod::NORMAL_RPC);
  return grpc::internal::BlockingUnaryCall<MessageLite, MessageLite>(&channel, rpc, &context, request,
                                                                     &response);
}

// Calls `method` for each page of a list, and `take` with each answer.
template <typename Stub, typename Request, typename Response, typename Take>
absl::Status WalkPages(const ConnectionOptions& options, Stub& stub,
                       grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                       Request request, Take take) {
  while (true) {
    ABSL_ASSIGN_OR_RETURN(Response page, CallMethod(options, kLookUp, stub, method, request));
    const std::string next = page.next_page_token();
    take(page);
    if (next.empty()) return absl::OkStatus();
    if (next == request.page_token()) {
      return absl::InternalError(
          absl::StrCat("server ", options.server, " gives the same page again and again"));
    }
    request.set_page_token(next);
  }
}

// Decodes a message of a stream. DATA_LOSS: it is none.
template <typename Response>
absl::Status Decode(grpc::ByteBuffer& packed, Response& response) {
  if (grpc::SerializationTraits<Response>::Deserialize(&packed, &response).ok()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the server sent a message that is no valid ", response.GetTypeName(),
                                          ", or holds text that is not UTF-8"));
}

// Reads the whole stream that the method of such messages answers with. A message that cannot be decoded ends
// it: a reader of gRPC that decodes says of such a one only that there are no more, and then waits for the end
// that the server, which waits for room to send, never comes to.
template <typename Response, typename Request, typename Take>
absl::Status ReadAll(grpc::Channel& channel, std::chrono::seconds deadline, const Request& request, Take take) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + deadline);
  const std::string method =
      MethodOf(*Request::descriptor(), *Response::descriptor(), /*answers_with_stream=*/true);
  const std::unique_ptr<RawReader> reader = OpenRawReader(channel, context, method.c_str(), request);
  absl::Status taken;
  Response response;
  grpc::ByteBuffer packed;
  while (taken.ok() && reader->Read(&packed)) {
    taken = Decode(packed, response);
    if (taken.ok()) taken = take(response);
  }
  if (!taken.ok()) context.TryCancel();
  const absl::Status ended = OutcomeOf(reader->Finish());
  return taken.ok() ? ended : taken;
}

// The same, repeated while the server is away, until the first message has come.
template <typename Response, typename Request, typename Take>
absl::Status ReadUntilTaken(Connection& connection, const Request& request, Take take) {
  StopSignal never_stopped;
  Retry retry(connection.options(), never_stopped);
  bool taken = false;
  while (true) {
    absl::Status status = ReadAll<Response>(*ChannelOf(connection), kListing, request, [&](Response& response) {
      taken = true;
      return take(response);
    });
    if (status.ok() || taken) return status;
    ABSL_RETURN_IF_ERROR(retry.WaitAfter(status));
  }
}

}  // namespace

struct ServiceClient::Stubs {
  explicit Stubs(const std::shared_ptr<grpc::Channel>& channel)
      : dataset(v1::DatasetService::NewStub(channel)), run(v1::RunService::NewStub(channel)) {}

  const std::unique_ptr<v1::DatasetService::Stub> dataset;
  const std::unique_ptr<v1::RunService::Stub> run;
};

ServiceClient::ServiceClient(std::shared_ptr<Connection> connection)
    : connection_(std::move(connection)), stubs_(std::make_unique<const Stubs>(ChannelOf(*connection_))) {}

ServiceClient::~ServiceClient() = default;

absl::Status ServiceClient::ReadInto(const google::protobuf::Message& request,
                                     std::chrono::milliseconds deadline, google::protobuf::Message& response) {
  const std::string method = MethodOf(*request.GetDescriptor(), *response.GetDescriptor());
  if (method.empty()) return absl::InternalError(request.GetTypeName() + " is no request for that answer");
  return CallUntilAnswered(connection_->options(), deadline, [&](grpc::ClientContext& context) {
    return CallUnary(*ChannelOf(*connection_), context, method, request, response);
  });
}

absl::StatusOr<std::vector<v1::Dataset>> ServiceClient::ListDatasets() {
  std::vector<v1::Dataset> datasets;
  const absl::Status status =
      WalkPages(connection_->options(), *stubs_->dataset, &v1::DatasetService::Stub::ListDatasets,
                v1::ListDatasetsRequest(), [&datasets](v1::ListDatasetsResponse& page) {
                  std::move(page.mutable_datasets()->begin(), page.mutable_datasets()->end(),
                            std::back_inserter(datasets));
                });
  ABSL_RETURN_IF_ERROR(status);
  return datasets;
}

absl::StatusOr<v1::ListGraphSizesResponse> ServiceClient::ListGraphSizes(
    const v1::ListGraphSizesRequest& request) {
  v1::ListGraphSizesResponse all;
  const absl::Status status =
      WalkPages(connection_->options(), *stubs_->dataset, &v1::DatasetService::Stub::ListGraphSizes, request,
                [&all](v1::ListGraphSizesResponse& page) { all.MergeFrom(page); });
  ABSL_RETURN_IF_ERROR(status);
  all.clear_next_page_token();
  return all;
}

absl::StatusOr<v1::SealDatasetResponse> ServiceClient::SealDataset(const v1::SealDatasetRequest& request) {
  v1::SealDatasetResponse response;
  const absl::Status status = CallUntilAdmitted(
      connection_->options(), kWork,
      [&](grpc::ClientContext& context) { return stubs_->dataset->SealDataset(&context, request, &response); });
  if (status.ok()) return response;
  if (!IsLoss(status)) return status;
  return Lost(*connection_, "did not say that the import was stored: take it as not stored", status);
}

absl::StatusOr<v1::DeriveDatasetResponse> ServiceClient::DeriveDataset(
    const v1::DeriveDatasetRequest& request) {
  v1::DeriveDatasetResponse response;
  const absl::Status status =
      CallUntilAdmitted(connection_->options(), kListing, [&](grpc::ClientContext& context) {
        return stubs_->dataset->DeriveDataset(&context, request, &response);
      });
  if (status.ok()) return response;
  if (!IsLoss(status)) return status;
  return Lost(*connection_, "did not say that the data set was stored: take it as not stored", status);
}

absl::StatusOr<v1::DeleteDatasetResponse> ServiceClient::DeleteDataset(
    const v1::DeleteDatasetRequest& request) {
  if (request.dry_run()) {
    return CallMethod(connection_->options(), kLookUp, *stubs_->dataset,
                      &v1::DatasetService::Stub::DeleteDataset, request);
  }
  v1::DeleteDatasetResponse response;
  const absl::Status status =
      CallUntilAdmitted(connection_->options(), kWork, [&](grpc::ClientContext& context) {
        return stubs_->dataset->DeleteDataset(&context, request, &response);
      });
  if (status.ok()) return response;
  if (!IsLoss(status)) return status;
  return Lost(*connection_, "did not say whether it deleted anything", status);
}

absl::Status ServiceClient::ExportDataset(const v1::ExportDatasetRequest& request,
                                          absl::FunctionRef<absl::Status(v1::ExportDatasetResponse&)> take) {
  return ReadUntilTaken<v1::ExportDatasetResponse>(*connection_, request, take);
}

absl::StatusOr<std::vector<v1::Run>> ServiceClient::ListRuns(const std::string& where) {
  v1::ListRunsRequest request;
  request.set_where(where);
  std::vector<v1::Run> runs;
  const absl::Status status =
      WalkPages(connection_->options(), *stubs_->run, &v1::RunService::Stub::ListRuns, std::move(request),
                [&runs](v1::ListRunsResponse& page) {
                  std::move(page.mutable_runs()->begin(), page.mutable_runs()->end(), std::back_inserter(runs));
                });
  ABSL_RETURN_IF_ERROR(status);
  return runs;
}

absl::Status ServiceClient::ListSteps(const v1::ListStepsRequest& request,
                                      absl::FunctionRef<absl::Status(const v1::ListStepsResponse&)> take) {
  return ReadUntilTaken<v1::ListStepsResponse>(*connection_, request, take);
}

absl::Status ServiceClient::Fsck(absl::FunctionRef<absl::Status(const v1::FsckResponse&)> take) {
  return ReadAll<v1::FsckResponse>(*ChannelOf(*connection_), kCheck, v1::FsckRequest(), take);
}

absl::StatusOr<std::unique_ptr<ImportStream>> ImportStream::Open(std::shared_ptr<Connection> connection,
                                                                 const v1::ImportHeader& header) {
  auto stream = std::make_unique<GrpcImportStream>(std::move(connection));
  ABSL_RETURN_IF_ERROR(stream->WriteHeader(header));
  return stream;
}

}  // namespace packtrain::client
