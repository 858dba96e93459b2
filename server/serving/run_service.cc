#include "server/serving/run_service.h"

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/wire/status_convert.h"
#include "proto/wire/step_convert.h"
#include "server/runs/comparison.h"
#include "server/runs/run_filter.h"
#include "server/runs/step_listing.h"
#include "server/runs/summary.h"

namespace packtrain::serving {
namespace {

// Moves a result into the response, or converts its status.
template <typename Response>
grpc::Status Answer(absl::StatusOr<Response> result, Response* response) {
  if (result.ok()) *response = *std::move(result);
  return wire::ToGrpcStatus(result.status());
}

template <typename Request>
runs::Reporter ReporterOf(const Request& request) {
  return {request.run(), request.rank(), request.attempt()};
}

absl::StatusOr<v1::ReportStepsResponse> AddSteps(runs::RunStore& store, const v1::ReportStepsRequest& request) {
  const absl::StatusOr<std::vector<wire::StepRecord>> steps = wire::FromStepBlock(request.steps());
  if (!steps.ok()) return steps.status();
  const absl::StatusOr<std::uint64_t> last_step = store.AddSteps(ReporterOf(request), *steps);
  if (!last_step.ok()) return last_step.status();
  v1::ReportStepsResponse response;
  response.set_last_step(*last_step);
  return response;
}

absl::StatusOr<v1::ListRunsResponse> ListMatching(const runs::RunStore& store, const std::string& where) {
  const absl::StatusOr<runs::RunFilter> filter = runs::RunFilter::Parse(where);
  if (!filter.ok()) return filter.status();
  absl::StatusOr<std::vector<v1::Run>> runs = store.List();
  if (!runs.ok()) return runs.status();
  v1::ListRunsResponse response;
  for (v1::Run& run : *runs) {
    if (filter->Matches(run)) *response.add_runs() = std::move(run);
  }
  return response;
}

absl::StatusOr<v1::GetRunResponse> Get(const runs::RunStore& store, const std::string& name) {
  absl::StatusOr<v1::Run> run = store.Get(name);
  if (!run.ok()) return run.status();
  v1::GetRunResponse response;
  *response.mutable_run() = *std::move(run);
  return response;
}

absl::StatusOr<v1::ListEvaluationsResponse> Evaluations(const runs::RunStore& store, const std::string& run) {
  absl::StatusOr<std::vector<v1::Evaluation>> evaluations = store.ReadEvaluations(run);
  if (!evaluations.ok()) return evaluations.status();
  v1::ListEvaluationsResponse response;
  for (v1::Evaluation& evaluation : *evaluations) *response.add_evaluations() = std::move(evaluation);
  return response;
}

}  // namespace

RunService::RunService(runs::RunStore& store) : store_(store) {}

grpc::Status RunService::StartRun(grpc::ServerContext*, const v1::StartRunRequest* request,
                                  v1::StartRunResponse* response) {
  return Answer(store_.Start(*request), response);
}

grpc::Status RunService::ReportSteps(grpc::ServerContext*, const v1::ReportStepsRequest* request,
                                     v1::ReportStepsResponse* response) {
  return Answer(AddSteps(store_, *request), response);
}

grpc::Status RunService::ReportEvaluation(grpc::ServerContext*, const v1::ReportEvaluationRequest* request,
                                          v1::ReportEvaluationResponse*) {
  return wire::ToGrpcStatus(store_.AddEvaluation(request->run(), request->evaluation()));
}

grpc::Status RunService::ReportSamples(grpc::ServerContext*, const v1::ReportSamplesRequest* request,
                                       v1::ReportSamplesResponse*) {
  return wire::ToGrpcStatus(
      store_.AddSamples(ReporterOf(*request), {request->samples().begin(), request->samples().end()}));
}

grpc::Status RunService::ReportEvents(grpc::ServerContext*, const v1::ReportEventsRequest* request,
                                      v1::ReportEventsResponse*) {
  return wire::ToGrpcStatus(
      store_.AddEvents(ReporterOf(*request), {request->events().begin(), request->events().end()}));
}

grpc::Status RunService::FinishRun(grpc::ServerContext*, const v1::FinishRunRequest* request,
                                   v1::FinishRunResponse*) {
  return wire::ToGrpcStatus(store_.Finish(request->run(), request->state(), request->message()));
}

grpc::Status RunService::ListRuns(grpc::ServerContext*, const v1::ListRunsRequest* request,
                                  v1::ListRunsResponse* response) {
  return Answer(ListMatching(store_, request->where()), response);
}

grpc::Status RunService::GetRun(grpc::ServerContext*, const v1::GetRunRequest* request,
                                v1::GetRunResponse* response) {
  return Answer(Get(store_, request->run()), response);
}

grpc::Status RunService::SummarizeRun(grpc::ServerContext*, const v1::SummarizeRunRequest* request,
                                      v1::SummarizeRunResponse* response) {
  return Answer(runs::Summarize(store_, request->run()), response);
}

grpc::Status RunService::ListSteps(grpc::ServerContext*, const v1::ListStepsRequest* request,
                                   grpc::ServerWriter<v1::ListStepsResponse>* writer) {
  return wire::ToGrpcStatus(runs::ListSteps(store_, *request, [writer](const v1::ListStepsResponse& block) {
    return writer->Write(block) ? absl::OkStatus() : absl::CancelledError("the client went away");
  }));
}

grpc::Status RunService::ListEvaluations(grpc::ServerContext*, const v1::ListEvaluationsRequest* request,
                                         v1::ListEvaluationsResponse* response) {
  return Answer(Evaluations(store_, request->run()), response);
}

grpc::Status RunService::CompareRuns(grpc::ServerContext*, const v1::CompareRunsRequest* request,
                                     v1::CompareRunsResponse* response) {
  return Answer(runs::Compare(store_, *request), response);
}

}  // namespace packtrain::serving
