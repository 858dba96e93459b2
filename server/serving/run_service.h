// Answers RunService out of a RunStore.
#ifndef PACKTRAIN_SERVER_SERVING_RUN_SERVICE_H_
#define PACKTRAIN_SERVER_SERVING_RUN_SERVICE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "packtrain/v1/run.grpc.pb.h"
#include "server/limits/slots.h"
#include "server/runs/run_store.h"
#include "server/serving/idle_watch.h"
#include "server/serving/packed_call.h"

namespace packtrain::serving {

// Calls run on the threads that gRPC keeps for synchronous services, one call a thread: a summary or a
// comparison may take its time there without holding up the callback threads, which stream batches.
class RunService final : public PackedService<v1::RunService> {
 public:
  // `bounds`, `store` and `idle` are borrowed. Lists come in pages that fit into messages of
  // `max_message_bytes`; `idle` cuts off listings whose client does not read. Where `may_start` is an error, no
  // run begins: StartRun gives it.
  RunService(CallBounds& bounds, runs::RunStore& store, std::uint64_t max_message_bytes, IdleWatch& idle,
             absl::Status may_start = absl::OkStatus());

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
  grpc::Status ListRuns(grpc::ServerContext* context, const v1::ListRunsRequest* request,
                        v1::ListRunsResponse* response) override;
  grpc::Status GetRun(grpc::ServerContext* context, const v1::GetRunRequest* request,
                      v1::GetRunResponse* response) override;

 private:
  // SummarizeRun, ListSteps, ListEvaluations and CompareRuns, which take memory for what they load.
  grpc::Status Summary(grpc::ServerContext* context, const v1::SummarizeRunRequest& request,
                       v1::SummarizeRunResponse& response, Memory& memory);
  grpc::Status StreamSteps(grpc::ServerContext* context, const v1::ListStepsRequest& request,
                           PackedWriter<v1::ListStepsResponse>& writer, Memory& memory);
  grpc::Status AllEvaluations(grpc::ServerContext* context, const v1::ListEvaluationsRequest& request,
                              v1::ListEvaluationsResponse& response, Memory& memory);
  grpc::Status Comparison(grpc::ServerContext* context, const v1::CompareRunsRequest& request,
                          v1::CompareRunsResponse& response, Memory& memory);
  void BoundReports();
  void BoundQuestions();

  runs::RunStore& store_;
  const absl::Status may_start_;
  const std::uint64_t max_message_bytes_;
  IdleWatch& idle_;
  limits::Slots reads_;  // of step records
};

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_RUN_SERVICE_H_
