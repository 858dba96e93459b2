// The unary services and the two long calls of the command line, without gRPC in sight.
#ifndef PACKTRAIN_CLIENT_INTERNAL_SERVICE_CLIENT_H_
#define PACKTRAIN_CLIENT_INTERNAL_SERVICE_CLIENT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/connection.h"
#include "packtrain/v1/admin.pb.h"
#include "packtrain/v1/batch.pb.h"
#include "packtrain/v1/dataset.pb.h"
#include "packtrain/v1/run.pb.h"
#include "packtrain/v1/server_info.pb.h"

namespace packtrain::client {

// Thread-safe. Each call's codes are those of its rpc in packtrain/v1, and UNAVAILABLE where the server
// stays away for `give_up`, DEADLINE_EXCEEDED where it does not finish in time. Calls that only read are
// repeated while the server is away.
class ServiceClient {
 public:
  explicit ServiceClient(std::shared_ptr<Connection> connection);
  ~ServiceClient();

  absl::StatusOr<v1::GetServerInfoResponse> GetServerInfo();

  // All of them, page by page.
  absl::StatusOr<std::vector<v1::Dataset>> ListDatasets();
  absl::StatusOr<v1::GetDatasetResponse> GetDataset(const v1::GetDatasetRequest& request);
  // The sizes of the whole split in one message, from page to page.
  absl::StatusOr<v1::ListGraphSizesResponse> ListGraphSizes(const v1::ListGraphSizesRequest& request);
  // Not repeated: after a lost answer the import is no longer known. UNAVAILABLE: not stored, as far as is
  // known; the whole import may be repeated, and changes nothing where it was stored after all.
  absl::StatusOr<v1::SealDatasetResponse> SealDataset(const v1::SealDatasetRequest& request);

  // Not repeated, and as much as SealDataset says of a lost answer. The call may last an hour.
  absl::StatusOr<v1::DeriveDatasetResponse> DeriveDataset(const v1::DeriveDatasetRequest& request);
  // Repeated where it is a dry run only. UNAVAILABLE: maybe deleted.
  absl::StatusOr<v1::DeleteDatasetResponse> DeleteDataset(const v1::DeleteDatasetRequest& request);
  // As ListSteps.
  absl::Status ExportDataset(const v1::ExportDatasetRequest& request,
                             absl::FunctionRef<absl::Status(v1::ExportDatasetResponse&)> take);

  absl::StatusOr<v1::GetPlanResponse> GetPlan(const v1::GetPlanRequest& request);
  absl::StatusOr<v1::GetPlannedBatchResponse> GetPlannedBatch(const v1::GetPlannedBatchRequest& request);

  // All that match, newest first, page by page.
  absl::StatusOr<std::vector<v1::Run>> ListRuns(const std::string& where);
  absl::StatusOr<v1::GetRunResponse> GetRun(const v1::GetRunRequest& request);
  absl::StatusOr<v1::SummarizeRunResponse> SummarizeRun(const v1::SummarizeRunRequest& request);
  absl::StatusOr<v1::ListEvaluationsResponse> ListEvaluations(const v1::ListEvaluationsRequest& request);
  absl::StatusOr<v1::CompareRunsResponse> CompareRuns(const v1::CompareRunsRequest& request);

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

  const std::shared_ptr<Connection> connection_;
  const std::unique_ptr<const Stubs> stubs_;
};

// One ImportGraphs call. Used by one thread. Destroyed before Finish, it cancels the call and the server
// drops the import.
class ImportStream {
 public:
  // Sends `header`.
  static absl::StatusOr<std::unique_ptr<ImportStream>> Open(std::shared_ptr<Connection> connection,
                                                            const v1::ImportHeader& header);
  virtual ~ImportStream() = default;

  // Sends `block`, waiting as the server's flow control has it. Where the server has ended the call, its
  // status; any call after an error returns FAILED_PRECONDITION.
  virtual absl::Status Write(v1::GraphBlock block) = 0;
  virtual absl::Status Write(v1::RecordBlock records) = 0;

  // Says that no block follows and waits for the server's answer.
  virtual absl::StatusOr<v1::ImportGraphsResponse> Finish() = 0;
};

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_INTERNAL_SERVICE_CLIENT_H_
