// Servers that do as a test says, over real gRPC in the same process.
#ifndef PACKTRAIN_TESTS_CLIENT_SCRIPTED_SERVICES_H_
#define PACKTRAIN_TESTS_CLIENT_SCRIPTED_SERVICES_H_

#include <grpcpp/server.h>
#include <grpcpp/server_context.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/connection.h"
#include "packtrain/v1/batch.grpc.pb.h"
#include "packtrain/v1/dataset.grpc.pb.h"
#include "packtrain/v1/run.grpc.pb.h"
#include "packtrain/v1/server_info.grpc.pb.h"
#include "proto/base/mutex.h"
#include "proto/wire/batch_layout.h"

namespace packtrain::testing {

class ScriptedInfo final : public v1::ServerInfoService::Service {
 public:
  explicit ScriptedInfo(std::string api = "v1") : api_(std::move(api)) {}

  grpc::Status GetServerInfo(grpc::ServerContext* context, const v1::GetServerInfoRequest* request,
                             v1::GetServerInfoResponse* response) override;

 private:
  const std::string api_;
};

// A batch as a server would build it: two graphs with all edges, and 12 kB of node data that depend on
// epoch and step.
struct BuiltBatch {
  wire::BatchHeader header;
  std::vector<std::byte> body;
};
BuiltBatch BuildBatch(std::uint64_t epoch, std::uint64_t step, std::uint64_t epoch_steps);

// Streams BuildBatch for rank 0 of 1. Thread-safe.
class ScriptedBatches final : public v1::BatchService::Service {
 public:
  // What one call does; the default sends everything that was asked for.
  struct Call {
    // Sends this many parts, then ends with `end`.
    std::size_t parts = std::numeric_limits<std::size_t>::max();
    grpc::Status end = grpc::Status(grpc::StatusCode::UNAVAILABLE, "draining");
    // Sends the batches from this many steps later than asked for.
    std::uint64_t skip_steps = 0;
    std::string fingerprint = "f00d";
    // Flips a bit of every body.
    bool corrupt = false;
  };

  explicit ScriptedBatches(std::uint64_t epoch_steps, std::deque<Call> calls = {})
      : epoch_steps_(epoch_steps), calls_(std::move(calls)) {}

  grpc::Status StreamBatches(grpc::ServerContext* context, const v1::StreamBatchesRequest* request,
                             grpc::ServerWriter<v1::StreamBatchesResponse>* writer) override;

  std::vector<v1::StreamBatchesRequest> requests() const;

 private:
  Call NextCall(const v1::StreamBatchesRequest& request);

  const std::uint64_t epoch_steps_;
  mutable base::Mutex mutex_;
  std::deque<Call> calls_ ABSL_GUARDED_BY(mutex_);  // for the next calls, in order
  std::vector<v1::StreamBatchesRequest> requests_ ABSL_GUARDED_BY(mutex_);
};

// Keeps what is reported. Thread-safe.
class ScriptedRuns final : public v1::RunService::Service {
 public:
  // The answers to the next ReportSteps, in order. Whatever the answer, the block is kept: an answer that
  // is an error is an acknowledgement that was lost.
  void AnswerSteps(std::deque<grpc::Status> answers);
  // The next calls of ListSteps, in order, send this many blocks and end with UNAVAILABLE.
  void CutListings(std::deque<std::size_t> blocks);
  // From now on ReportSteps does not return before Release.
  void Hold();
  void Release();
  // Blocks until ReportSteps has been called this often.
  void WaitForStepCalls(std::size_t calls);

  std::vector<std::uint64_t> steps() const;  // of all blocks, as they came
  std::vector<v1::ReportStepsRequest> step_calls() const;
  std::vector<v1::Evaluation> evaluations() const;
  std::vector<v1::Sample> samples() const;
  std::vector<v1::Event> events() const;
  std::vector<v1::ReportCorruptGraphsRequest> corrupt_graphs() const;
  std::vector<v1::StartRunRequest> starts() const;
  std::vector<v1::ReportLostRecordsRequest> losses() const;
  std::vector<v1::FinishRunRequest> finishes() const;

  grpc::Status StartRun(grpc::ServerContext* context, const v1::StartRunRequest* request,
                        v1::StartRunResponse* response) override;
  grpc::Status ReportSteps(grpc::ServerContext* context, const v1::ReportStepsRequest* request,
                           v1::ReportStepsResponse* response) override;
  grpc::Status ReportEvaluation(grpc::ServerContext* context, const v1::ReportEvaluationRequest* request,
                                v1::ReportEvaluationResponse* response) override;
  grpc::Status ReportSamples(grpc::ServerContext* context, const v1::ReportSamplesRequest* request,
                             v1::ReportSamplesResponse* response) override;
  grpc::Status ReportEvents(grpc::ServerContext* context, const v1::ReportEventsRequest* request,
                            v1::ReportEventsResponse* response) override;
  grpc::Status ReportCorruptGraphs(grpc::ServerContext* context, const v1::ReportCorruptGraphsRequest* request,
                                   v1::ReportCorruptGraphsResponse* response) override;
  grpc::Status ReportLostRecords(grpc::ServerContext* context, const v1::ReportLostRecordsRequest* request,
                                 v1::ReportLostRecordsResponse* response) override;
  grpc::Status FinishRun(grpc::ServerContext* context, const v1::FinishRunRequest* request,
                         v1::FinishRunResponse* response) override;
  grpc::Status ListSteps(grpc::ServerContext* context, const v1::ListStepsRequest* request,
                         grpc::ServerWriter<v1::ListStepsResponse>* writer) override;
  // Three runs, one a page; with `where` "endless" every page leads to the same one.
  grpc::Status ListRuns(grpc::ServerContext* context, const v1::ListRunsRequest* request,
                        v1::ListRunsResponse* response) override;

 private:
  std::optional<std::size_t> NextCut();

  mutable base::Mutex mutex_;
  base::CondVar changed_;
  bool held_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<grpc::Status> answers_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::size_t> cuts_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::StartRunRequest> starts_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::ReportStepsRequest> step_calls_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::Evaluation> evaluations_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::Sample> samples_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::Event> events_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::ReportCorruptGraphsRequest> corrupt_graphs_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::ReportLostRecordsRequest> losses_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::FinishRunRequest> finishes_ ABSL_GUARDED_BY(mutex_);
};

// Refuses the `refused_block`-th block of an import; counts nodes and graphs of the others.
class ScriptedDatasets final : public v1::DatasetService::Service {
 public:
  explicit ScriptedDatasets(std::size_t refused_block = std::numeric_limits<std::size_t>::max())
      : refused_block_(refused_block) {}

  // What the next imports, seals and deletions end with, one each.
  void AnswerWith(std::deque<grpc::Status> statuses);
  std::size_t calls() const;  // of these three

  grpc::Status ImportGraphs(grpc::ServerContext* context, grpc::ServerReader<v1::ImportGraphsRequest>* reader,
                            v1::ImportGraphsResponse* response) override;
  grpc::Status SealDataset(grpc::ServerContext* context, const v1::SealDatasetRequest* request,
                           v1::SealDatasetResponse* response) override;
  grpc::Status DeleteDataset(grpc::ServerContext* context, const v1::DeleteDatasetRequest* request,
                             v1::DeleteDatasetResponse* response) override;
  // Sends messages with an id that is not UTF-8 for as long as the client takes them.
  grpc::Status ExportDataset(grpc::ServerContext* context, const v1::ExportDatasetRequest* request,
                             grpc::ServerWriter<v1::ExportDatasetResponse>* writer) override;
  // Knows "qm9" only.
  grpc::Status GetDataset(grpc::ServerContext* context, const v1::GetDatasetRequest* request,
                          v1::GetDatasetResponse* response) override;

 private:
  grpc::Status NextAnswer();

  const std::size_t refused_block_;
  mutable base::Mutex mutex_;
  std::deque<grpc::Status> answers_ ABSL_GUARDED_BY(mutex_);
  std::size_t calls_ ABSL_GUARDED_BY(mutex_) = 0;
};

// A refusal for want of memory, which may be tried again in a moment.
grpc::Status NoMemoryYet();

// Plans every spec as 7 batches in 4 steps.
class ScriptedPlans final : public v1::PlanService::Service {
 public:
  grpc::Status GetPlan(grpc::ServerContext* context, const v1::GetPlanRequest* request,
                       v1::GetPlanResponse* response) override;
};

// Serves borrowed services on a free port of the loopback until it is shut down.
class InProcessServer {
 public:
  // With `port` 0 a free one.
  explicit InProcessServer(const std::vector<grpc::Service*>& services, int port = 0);
  ~InProcessServer() { Shutdown(); }

  int port() const { return port_; }
  std::string address() const;
  // Cancels what is going on.
  void Shutdown();

 private:
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

// Options for a server in the same process.
client::ConnectionOptions OptionsFor(const std::string& address, std::chrono::milliseconds give_up);

}  // namespace packtrain::testing

#endif  // PACKTRAIN_TESTS_CLIENT_SCRIPTED_SERVICES_H_
