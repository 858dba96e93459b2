#include "tests/server/runs/run_fixtures.h"

#include <stdlib.h>

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
  v1::RunDescription& description = *request.mutable_description();
  description.set_model("schnet");
  description.set_target("energy");
  description.set_dataset("qm9@1");
  description.mutable_spec()->set_policy(v1::POLICY_STATIC);
  description.mutable_spec()->set_pad(v1::PAD_MULTIPLE);
  description.mutable_spec()->set_graphs(32);
  description.set_precision("f32");
  description.set_engine("eager");
  description.set_world_size(1);
  description.mutable_hardware()->set_device("cpu");
  description.mutable_hardware()->set_name("Xeon");
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

wire::StepRecord Step(std::uint64_t step, std::uint64_t total_ns, std::uint32_t flags) {
  wire::StepRecord record;
  record.step = step;
  record.batch_index = step;
  record.real = {32, 576, 10'000};
  record.padded = {33, 640, 10'048};
  record.total_ns = total_ns;
  record.flags = flags;
  return record;
}

std::vector<wire::StepRecord> Steps(std::uint64_t first, std::uint64_t last) {
  std::vector<wire::StepRecord> steps;
  for (std::uint64_t step = first; step <= last; ++step) steps.push_back(Step(step, 1'000'000));
  return steps;
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

}  // namespace packtrain::runs
