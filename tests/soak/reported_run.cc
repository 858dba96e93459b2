#include "tests/soak/reported_run.h"

#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/internal/service_client.h"
#include "client/run_reporter.h"

namespace packtrain::soak {
namespace {

constexpr std::size_t kBlockSteps = 50;
constexpr std::chrono::milliseconds kFlushEvery{50};
constexpr std::uint64_t kFirstTrainersSteps = kRunSteps / 2;
constexpr std::chrono::milliseconds kUntilThereIsSpace{100};

// Repeats what a full disk refuses.
absl::Status OnceThereIsSpace(absl::FunctionRef<absl::Status()> call) {
  while (true) {
    absl::Status status = call();
    if (!absl::IsResourceExhausted(status)) return status;
    std::this_thread::sleep_for(kUntilThereIsSpace);
  }
}

absl::StatusOr<std::unique_ptr<client::RunReporter>> Start(
    const std::shared_ptr<client::Connection>& connection, const std::string& key, std::uint64_t first_step) {
  client::RunDescription description;
  description.model = "none";
  description.spec.policy = wire::Policy::kStatic;
  description.spec.graphs = 1;
  client::ReporterOptions options;
  options.idempotency_key = key;
  options.first_step = first_step;
  options.block_steps = kBlockSteps;
  options.flush_every = kFlushEvery;
  std::unique_ptr<client::RunReporter> reporter;
  const absl::Status status = OnceThereIsSpace([&] {
    auto started = client::RunReporter::Start(connection, description, options);
    if (!started.ok()) return started.status();
    reporter = *std::move(started);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return reporter;
}

void AddSteps(client::RunReporter& reporter, std::uint64_t begin, std::uint64_t end,
              absl::FunctionRef<void()> pause) {
  for (std::uint64_t step = begin; step < end; ++step) {
    wire::StepRecord record;
    record.step = step;
    record.real = record.padded = {1, 1, 1};
    record.total_ns = 1'000 + step;
    reporter.AddStep(record);
    pause();
  }
}

// What the server has, in the order it comes.
absl::StatusOr<std::vector<std::uint64_t>> StepsOf(client::ServiceClient& client, const std::string& run) {
  v1::ListStepsRequest request;
  request.set_run(run);
  while (true) {
    std::vector<std::uint64_t> steps;
    const absl::Status status = client.ListSteps(request, [&steps](const v1::ListStepsResponse& part) {
      steps.insert(steps.end(), part.steps().step().begin(), part.steps().step().end());
      return absl::OkStatus();
    });
    if (status.ok()) return steps;
    if (!absl::IsUnavailable(status) && !absl::IsCancelled(status)) return status;
  }
}

}  // namespace

absl::StatusOr<std::string> ReportRun(const std::shared_ptr<client::Connection>& connection,
                                      const std::string& key, absl::FunctionRef<void()> pause) {
  auto reporter = Start(connection, key, 0);
  if (!reporter.ok()) return reporter.status();
  AddSteps(**reporter, 0, kFirstTrainersSteps, pause);
  const client::UnsentRecords unsent = (*reporter)->unsent();
  reporter->reset();
  reporter = Start(connection, key, kFirstTrainersSteps);
  if (!reporter.ok()) return reporter.status();
  for (const client::AttemptSteps& steps : unsent.steps) (*reporter)->AddSteps(steps);
  for (const client::LostRecords& lost : unsent.lost) (*reporter)->AddLost(lost);
  AddSteps(**reporter, kFirstTrainersSteps, kRunSteps, pause);
  const absl::Status finished = OnceThereIsSpace([&] { return (*reporter)->Finish(/*failed=*/false, ""); });
  if (!finished.ok()) return finished;
  return (*reporter)->run();
}

absl::Status CheckRun(const std::shared_ptr<client::Connection>& connection, const std::string& run) {
  client::ServiceClient client(connection);
  const absl::StatusOr<std::vector<std::uint64_t>> steps = StepsOf(client, run);
  if (!steps.ok()) return steps.status();
  for (std::uint64_t step = 0; step < kRunSteps; ++step) {
    if (step >= steps->size() || (*steps)[step] != step) {
      return absl::DataLossError(absl::StrCat("run ", run, " lacks step ", step, " or has one twice"));
    }
  }
  if (steps->size() == kRunSteps) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("run ", run, " has ", steps->size(), " steps, not ", kRunSteps));
}

}  // namespace packtrain::soak
