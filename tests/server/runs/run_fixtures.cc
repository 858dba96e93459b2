#include "tests/server/runs/run_fixtures.h"

#include <stdlib.h>

#include "server/analysis/comparison.h"
#include "server/analysis/summary.h"
#include "server/runs/run_loader.h"

namespace packtrain::runs {

TestRunStore::TestRunStore(rocksdb::Env* env) : env_(env) {
  std::string pattern = (std::filesystem::temp_directory_path() / "packtrain_runs_XXXXXX").string();
  directory_ = mkdtemp(pattern.data());
  Reopen();
}

TestRunStore::~TestRunStore() {
  store_.reset();
  std::filesystem::remove_all(directory_);
}

absl::Status TestRunStore::TryReopen() {
  store_.reset();
  absl::StatusOr<std::unique_ptr<RocksRunStore>> store =
      RocksRunStore::Open(directory_, {.lost_after_ms = 600'000,
                                       .now_ms = [this] { return now_ms; },
                                       .steady_ms = [this] { return steady_ms; },
                                       .database = {.reserve_bytes = reserve_bytes, .env = env_}});
  if (!store.ok()) return store.status();
  store_ = *std::move(store);
  return absl::OkStatus();
}

void TestRunStore::Reopen() {
  if (absl::Status status = TryReopen(); !status.ok()) throw std::runtime_error(status.ToString());
}

v1::StartRunRequest StartRequest(const std::string& idempotency_key) {
  v1::StartRunRequest request;
  request.set_idempotency_key(idempotency_key);
  *request.mutable_description() = analysis::SampleDescription();
  return request;
}

Reporter StartRun(RunStore& store, const v1::StartRunRequest& request) {
  const absl::StatusOr<v1::StartRunResponse> started = store.Start(request);
  if (!started.ok()) {
    ADD_FAILURE() << started.status();
    return {};
  }
  return {started->run(), request.rank(), started->attempt()};
}

std::vector<StoredStep> StoredSteps(const RunStore& store, const std::string& run) {
  std::vector<StoredStep> stored;
  const absl::Status status =
      store.ReadSteps(run, [&stored](const Reporter& reporter, const std::vector<wire::StepRecord>& steps) {
        for (const wire::StepRecord& step : steps)
          stored.push_back({reporter.rank, reporter.attempt, step.step});
        return absl::OkStatus();
      });
  EXPECT_TRUE(status.ok()) << status;
  return stored;
}

absl::StatusOr<std::vector<v1::Evaluation>> EvaluationsIn(const RunStore& store, std::string_view run) {
  std::vector<v1::Evaluation> evaluations;
  ABSL_RETURN_IF_ERROR(store.ReadEvaluations(run, [&evaluations](v1::Evaluation evaluation) {
    evaluations.push_back(std::move(evaluation));
    return absl::OkStatus();
  }));
  return evaluations;
}

absl::StatusOr<v1::SummarizeRunResponse> Summarize(const RunStore& store, const std::string& run) {
  ABSL_ASSIGN_OR_RETURN(const analysis::LoadedRun loaded, LoadRun(store, run, analysis::kSummaryParts));
  return analysis::Summarize(loaded);
}

absl::StatusOr<v1::CompareRunsResponse> Compare(const RunStore& store, const v1::CompareRunsRequest& request) {
  ABSL_ASSIGN_OR_RETURN(analysis::Comparison comparison, analysis::Comparison::Create(request));
  ABSL_ASSIGN_OR_RETURN(const std::vector<v1::Run> selected,
                        SelectRuns(store, request.runs(), request.where()));
  ABSL_RETURN_IF_ERROR(AddRuns(store, selected, NeverCancelled, comparison));
  return comparison.Answer();
}

}  // namespace packtrain::runs
