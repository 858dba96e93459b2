#include "server/serving/run_service.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/error_details.h"
#include "proto/base/status_convert.h"
#include "proto/base/status_macros.h"
#include "proto/wire/step_convert.h"
#include "server/analysis/comparison.h"
#include "server/analysis/run_filter.h"
#include "server/analysis/step_listing.h"
#include "server/analysis/summary.h"
#include "server/limits/page.h"
#include "server/runs/run_limits.h"
#include "server/runs/run_loader.h"
#include "server/serving/answer.h"
#include "server/serving/bounded_writer.h"

namespace packtrain::serving {
namespace {

// Calls that read step records at one time: each holds those of a run in memory.
constexpr std::size_t kMaxReads = 32;

// kMaxBlockRows rows of numbers of any size fit.
constexpr std::uint64_t kMaxReportBytes = 16 << 20;

absl::Status TooManyReads() {
  return base::WithRetryDelay(
      base::WithReason(
          absl::ResourceExhaustedError(absl::StrCat(
              kMaxReads, " listings, summaries and comparisons are under way, the server's limit")),
          "READ_LIMIT", {{"limit", absl::StrCat(kMaxReads)}}),
      std::chrono::seconds(5));
}

// What a listing, a summary or a comparison holds beside its request, as part of the call's memory: that of one
// run at a time, and what is kept of all.
class RunMemory {
 public:
  explicit RunMemory(limits::MemoryBudget::Reservation& memory)
      : memory_(memory), kept_bytes_(memory.bytes()) {}

  // As runs::HoldMemory.
  absl::Status operator()(std::uint64_t bytes) const {
    return memory_.Resize(kept_bytes_ + bytes, limits::MemoryBudget::StatedWait());
  }
  // What is held now stays held.
  void Keep() { kept_bytes_ = memory_.bytes(); }
  // Gives back what is not kept.
  void Release() const { memory_.ShrinkTo(kept_bytes_); }

 private:
  limits::MemoryBudget::Reservation& memory_;
  std::uint64_t kept_bytes_;
};

template <typename Request>
runs::Reporter ReporterOf(const Request& request) {
  return {request.run(), request.rank(), request.attempt()};
}

absl::StatusOr<v1::ReportStepsResponse> AddSteps(runs::RunStore& store, const v1::ReportStepsRequest& request) {
  ABSL_ASSIGN_OR_RETURN(const std::vector<wire::StepRecord> steps, wire::FromStepBlock(request.steps()));
  ABSL_ASSIGN_OR_RETURN(const std::uint64_t last_step, store.AddSteps(ReporterOf(request), steps));
  v1::ReportStepsResponse response;
  response.set_last_step(last_step);
  return response;
}

absl::StatusOr<runs::ListPosition> PositionOf(const v1::ListRunsRequest& request) {
  ABSL_ASSIGN_OR_RETURN(const std::string key, limits::KeyOfPageToken(request.page_token(), request.where()));
  runs::ListPosition position = runs::kListBegin;
  if (key.empty() || absl::SimpleAtoi(key, &position)) return position;
  return absl::InvalidArgumentError("page_token is that of another list");
}

absl::StatusOr<v1::ListRunsResponse> ListPage(const runs::RunStore& store, const v1::ListRunsRequest& request,
                                              limits::Page page) {
  ABSL_ASSIGN_OR_RETURN(const analysis::RunFilter filter, analysis::RunFilter::Parse(request.where()));
  ABSL_ASSIGN_OR_RETURN(const runs::ListPosition after, PositionOf(request));
  v1::ListRunsResponse response;
  runs::ListPosition last = after;
  const absl::Status status = store.ListAfter(after, [&](runs::ListPosition position, v1::Run run) {
    if (!filter.Matches(run)) return true;
    if (page.Take(BytesInPage(run))) {
      *response.add_runs() = std::move(run);
      last = position;
      return true;
    }
    response.set_next_page_token(limits::PageToken(request.where(), absl::StrCat(last)));
    return false;
  });
  ABSL_RETURN_IF_ERROR(status);
  return response;
}

absl::StatusOr<v1::GetRunResponse> Get(const runs::RunStore& store, const std::string& name) {
  ABSL_ASSIGN_OR_RETURN(v1::Run run, store.Get(name));
  v1::GetRunResponse response;
  *response.mutable_run() = std::move(run);
  return response;
}

absl::StatusOr<v1::ListEvaluationsResponse> Evaluations(const runs::RunStore& store, const std::string& run,
                                                        RunMemory memory) {
  ABSL_ASSIGN_OR_RETURN(analysis::LoadedRun loaded, runs::LoadRun(store, run, {.evaluations = true}, memory));
  v1::ListEvaluationsResponse response;
  for (v1::Evaluation& evaluation : loaded.evaluations) *response.add_evaluations() = std::move(evaluation);
  return response;
}

absl::StatusOr<v1::SummarizeRunResponse> Summarize(const runs::RunStore& store, const std::string& run,
                                                   RunMemory memory) {
  ABSL_ASSIGN_OR_RETURN(const analysis::LoadedRun loaded,
                        runs::LoadRun(store, run, analysis::kSummaryParts, memory));
  return analysis::Summarize(loaded);
}

absl::StatusOr<v1::CompareRunsResponse> Compare(const runs::RunStore& store,
                                                const v1::CompareRunsRequest& request,
                                                absl::FunctionRef<bool()> cancelled, RunMemory memory) {
  ABSL_ASSIGN_OR_RETURN(analysis::Comparison comparison, analysis::Comparison::Create(request));
  ABSL_ASSIGN_OR_RETURN(const std::vector<v1::Run> selected,
                        runs::SelectRuns(store, request.runs(), request.where(), memory));
  memory.Keep();
  ABSL_RETURN_IF_ERROR(runs::AddRuns(store, selected, cancelled, comparison, memory));
  return comparison.Answer();
}

}  // namespace

RunService::RunService(CallBounds& bounds, runs::RunStore& store, std::uint64_t max_message_bytes,
                       IdleWatch& idle, absl::Status may_start)
    : PackedService(bounds),
      store_(store),
      may_start_(std::move(may_start)),
      max_message_bytes_(max_message_bytes),
      idle_(idle),
      reads_(kMaxReads) {
  BoundReports();
  BoundQuestions();
}

void RunService::BoundReports() {
  const MethodBound report{.max_request_bytes = kMaxReportBytes, .max_elements = runs::kMaxBlockRows};
  MethodBound corrupt = report;
  corrupt.max_elements = runs::kMaxCorruptGraphs;
  Bound(&RunService::StartRun, {.max_request_bytes = 1 << 20});
  Bound(&RunService::ReportSteps, report);
  Bound(&RunService::ReportEvaluation, {});
  Bound(&RunService::ReportSamples, report);
  Bound(&RunService::ReportEvents, report);
  Bound(&RunService::ReportCorruptGraphs, corrupt);
  Bound(&RunService::ReportLostRecords, {});
  Bound(&RunService::FinishRun, {});
}

void RunService::BoundQuestions() {
  using enum limits::MemoryPart;
  Bound(&RunService::ListRuns, {.part = kListings, .work_bytes = kPageBytes});
  Bound(&RunService::GetRun, {.part = kListings});
  Bound(&RunService::StreamSteps, {.part = kListings, .work_bytes = 4 << 20});
  Bound(&RunService::Summary, {.part = kListings, .work_bytes = 1 << 20});
  Bound(&RunService::AllEvaluations, {.part = kListings, .work_bytes = 4 << 20});
  Bound(&RunService::Comparison, {.part = kListings, .max_request_bytes = 1 << 20, .work_bytes = 12 << 20});
}

grpc::Status RunService::StartRun(grpc::ServerContext*, const v1::StartRunRequest* request,
                                  v1::StartRunResponse* response) {
  if (!may_start_.ok()) return base::ToGrpcStatus(may_start_);
  return Answer(store_.Start(*request), response);
}

grpc::Status RunService::ReportSteps(grpc::ServerContext*, const v1::ReportStepsRequest* request,
                                     v1::ReportStepsResponse* response) {
  return Answer(AddSteps(store_, *request), response);
}

grpc::Status RunService::ReportEvaluation(grpc::ServerContext*, const v1::ReportEvaluationRequest* request,
                                          v1::ReportEvaluationResponse*) {
  return base::ToGrpcStatus(store_.AddEvaluation(request->run(), request->evaluation()));
}

grpc::Status RunService::ReportSamples(grpc::ServerContext*, const v1::ReportSamplesRequest* request,
                                       v1::ReportSamplesResponse*) {
  return base::ToGrpcStatus(
      store_.AddSamples(ReporterOf(*request), {request->samples().begin(), request->samples().end()}));
}

grpc::Status RunService::ReportEvents(grpc::ServerContext*, const v1::ReportEventsRequest* request,
                                      v1::ReportEventsResponse*) {
  return base::ToGrpcStatus(
      store_.AddEvents(ReporterOf(*request), {request->events().begin(), request->events().end()}));
}

grpc::Status RunService::ReportCorruptGraphs(grpc::ServerContext*,
                                             const v1::ReportCorruptGraphsRequest* request,
                                             v1::ReportCorruptGraphsResponse*) {
  return base::ToGrpcStatus(
      store_.AddCorruptGraphs(ReporterOf(*request), {request->batches().begin(), request->batches().end()}));
}

grpc::Status RunService::ReportLostRecords(grpc::ServerContext*, const v1::ReportLostRecordsRequest* request,
                                           v1::ReportLostRecordsResponse*) {
  return base::ToGrpcStatus(store_.AddLostRecords(ReporterOf(*request), request->records()));
}

grpc::Status RunService::FinishRun(grpc::ServerContext*, const v1::FinishRunRequest* request,
                                   v1::FinishRunResponse*) {
  return base::ToGrpcStatus(store_.Finish(*request));
}

grpc::Status RunService::ListRuns(grpc::ServerContext*, const v1::ListRunsRequest* request,
                                  v1::ListRunsResponse* response) {
  return Answer(ListPage(store_, *request, limits::Page(request->page_size(), max_message_bytes_)), response);
}

grpc::Status RunService::GetRun(grpc::ServerContext*, const v1::GetRunRequest* request,
                                v1::GetRunResponse* response) {
  return Answer(Get(store_, request->run()), response);
}

grpc::Status RunService::Summary(grpc::ServerContext*, const v1::SummarizeRunRequest& request,
                                 v1::SummarizeRunResponse& response, Memory& memory) {
  const std::optional<limits::Slots::Slot> slot = reads_.Take();
  if (!slot.has_value()) return base::ToGrpcStatus(TooManyReads());
  const RunMemory of_run(memory);
  grpc::Status status = Answer(Summarize(store_, request.run(), of_run), &response);
  of_run.Release();
  return status;
}

grpc::Status RunService::StreamSteps(grpc::ServerContext* context, const v1::ListStepsRequest& request,
                                     PackedWriter<v1::ListStepsResponse>& writer, Memory& memory) {
  const std::optional<limits::Slots::Slot> slot = reads_.Take();
  if (!slot.has_value()) return base::ToGrpcStatus(TooManyReads());
  absl::StatusOr<std::vector<analysis::RankStep>> steps =
      runs::LoadSteps(store_, request.run(), RunMemory(memory));
  if (!steps.ok()) return base::ToGrpcStatus(steps.status());
  const absl::StatusOr<analysis::CountedRecords> counted = runs::LoadCounted(store_, request.run());
  if (!counted.ok()) return base::ToGrpcStatus(counted.status());
  BoundedWriter<v1::ListStepsResponse> out(*context, writer, idle_);
  const auto write = [&out](const v1::ListStepsResponse& block) { return out.Write(block); };
  return base::ToGrpcStatus(analysis::ListSteps(*std::move(steps), *counted, request, write));
}

grpc::Status RunService::AllEvaluations(grpc::ServerContext*, const v1::ListEvaluationsRequest& request,
                                        v1::ListEvaluationsResponse& response, Memory& memory) {
  return Answer(Evaluations(store_, request.run(), RunMemory(memory)), &response);
}

grpc::Status RunService::Comparison(grpc::ServerContext* context, const v1::CompareRunsRequest& request,
                                    v1::CompareRunsResponse& response, Memory& memory) {
  const std::optional<limits::Slots::Slot> slot = reads_.Take();
  if (!slot.has_value()) return base::ToGrpcStatus(TooManyReads());
  const RunMemory of_runs(memory);
  const auto cancelled = [context] { return context->IsCancelled(); };
  grpc::Status status = Answer(Compare(store_, request, cancelled, of_runs), &response);
  of_runs.Release();
  return status;
}

}  // namespace packtrain::serving
