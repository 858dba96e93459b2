// The services by their messages, without gRPC in sight: for programs that print what a server answers.
//
// A method that only reads needs no code here: its request and its answer name it.
//
//   ServiceClient services(connection);
//   ABSL_ASSIGN_OR_RETURN(const auto plan, services.Read<v1::GetPlanResponse>(request));
#ifndef PACKTRAIN_CLIENT_INTERNAL_SERVICE_CLIENT_H_
#define PACKTRAIN_CLIENT_INTERNAL_SERVICE_CLIENT_H_

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/connection.h"
#include "client/internal/unary_call.h"
#include "packtrain/v1/admin.pb.h"
#include "packtrain/v1/batch.pb.h"
#include "packtrain/v1/dataset.pb.h"
#include "packtrain/v1/run.pb.h"
#include "packtrain/v1/server_info.pb.h"
#include "proto/base/status_macros.h"

namespace packtrain::client {

// Thread-safe. Each call's codes are those of its rpc in packtrain/v1, and UNAVAILABLE where the server
// stays away for `give_up`, DEADLINE_EXCEEDED where it does not finish in time. Calls that only read are
// repeated while the server is away or has no memory for them, up to `give_up`. Those that change something are
// repeated only while the server refuses them for want of memory; UNAVAILABLE, or RESOURCE_EXHAUSTED of a call
// that gRPC reset, say that it is not known whether the change was made.
class ServiceClient {
 public:
  explicit ServiceClient(std::shared_ptr<Connection> connection);
  ~ServiceClient();

  // Calls the unary method that takes such a request and gives such an answer. For methods that only read.
  template <typename Response, typename Request>
  absl::StatusOr<Response> Read(const Request& request, std::chrono::milliseconds deadline = kWork) {
    Response response;
    ABSL_RETURN_IF_ERROR(ReadInto(request, deadline, response));
    return response;
  }

  // All of them, page by page.
  absl::StatusOr<std::vector<v1::Dataset>> ListDatasets();
  // The sizes of the whole split in one message, from page to page.
  absl::StatusOr<v1::ListGraphSizesResponse> ListGraphSizes(const v1::ListGraphSizesRequest& request);
  // After a lost answer the import is no longer known: the whole import may be repeated, and changes nothing
  // where it was stored after all.
  absl::StatusOr<v1::SealDatasetResponse> SealDataset(const v1::SealDatasetRequest& request);

  // The call may last an hour. It may be repeated as an import may.
  absl::StatusOr<v1::DeriveDatasetResponse> DeriveDataset(const v1::DeriveDatasetRequest& request);
  // A dry run only reads.
  absl::StatusOr<v1::DeleteDatasetResponse> DeleteDataset(const v1::DeleteDatasetRequest& request);
  // As ListSteps.
  absl::Status ExportDataset(const v1::ExportDatasetRequest& request,
                             absl::FunctionRef<absl::Status(v1::ExportDatasetResponse&)> take);

  // All that match, newest first, page by page.
  absl::StatusOr<std::vector<v1::Run>> ListRuns(const std::string& where);

  // Hands each finding, progress message and the summary to `take`, in order; as ListSteps, but never repeated,
  // and it may last a day.
  absl::Status Fsck(absl::FunctionRef<absl::Status(const v1::FsckResponse&)> take);

  // Hands each message of the stream to `take`, in order; ends early with whatever error `take` returns.
  // Repeated only until the first message has come: no message is handed over twice. The whole of it, `take`
  // included, may last an hour.
  absl::Status ListSteps(const v1::ListStepsRequest& request,
                         absl::FunctionRef<absl::Status(const v1::ListStepsResponse&)> take);

 private:
  struct Stubs;

  absl::Status ReadInto(const google::protobuf::Message& request, std::chrono::milliseconds deadline,
                        google::protobuf::Message& response);

  const std::shared_ptr<Connection> connection_;
  const std::unique_ptr<const Stubs> stubs_;
};

// One ImportGraphs call. Used by one thread. Destroyed before Finish or Drop, it cancels the call, and the
// server keeps or drops what it has, as the header's identity says.
class ImportStream {
 public:
  // Sends `header`; the blocks begin behind its continue_at.
  static absl::StatusOr<std::unique_ptr<ImportStream>> Open(std::shared_ptr<Connection> connection,
                                                            const v1::ImportHeader& header);
  virtual ~ImportStream() = default;

  // Sends `block`, waiting as the server's flow control has it. Where the server has ended the call, its
  // status; any call after an error returns FAILED_PRECONDITION.
  virtual absl::Status Write(v1::GraphBlock block) = 0;
  virtual absl::Status Write(v1::RecordBlock records) = 0;
  // The same for a packed RecordBlock, of so many graphs, which `bytes` holds from `begin` to its end.
  virtual absl::Status WritePacked(std::string bytes, std::size_t begin, std::uint64_t graphs) = 0;

  // Says that the import will not go on, and waits until the server has dropped it.
  virtual void Drop() = 0;

  // Says that no block follows and waits for the server's answer.
  virtual absl::StatusOr<v1::ImportGraphsResponse> Finish() = 0;
};

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_INTERNAL_SERVICE_CLIENT_H_
