// The reports of a run, and the questions about it, are any messages: first a StartRunRequest, then for each
// further one a byte that says which, and the message. An empty `run` means the one that was started.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "proto/wire/step_convert.h"
#include "server/analysis/comparison.h"
#include "server/analysis/run_filter.h"
#include "server/analysis/step_listing.h"
#include "server/analysis/summary.h"
#include "server/runs/rocks_run_store.h"
#include "server/runs/run_loader.h"
#include "tests/fuzz/fact.h"
#include "tests/fuzz/input.h"
#include "tests/testing/temp_file.h"

namespace {

using packtrain::fuzz::Expect;
using packtrain::fuzz::Input;
namespace analysis = packtrain::analysis;
namespace runs = packtrain::runs;
namespace v1 = packtrain::v1;
namespace wire = packtrain::wire;

// The store grows by a run an input, so a new one is begun now and then.
constexpr int kRunsPerStore = 200;

class Store {
 public:
  Store() {
    runs::RocksRunStoreOptions options;
    options.database.reserve_bytes = 0;
    auto opened = runs::RocksRunStore::Open(folder_.PathOf("runs"), options);
    Expect(opened.ok(), "an empty store opens: " + opened.status().ToString());
    store_ = *std::move(opened);
  }
  runs::RunStore& operator*() { return *store_; }

 private:
  const packtrain::testing::TempFolder folder_;
  std::unique_ptr<runs::RunStore> store_;
};

template <typename Message>
bool Parse(std::string_view bytes, Message* message) {
  return message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

template <typename Request>
runs::Reporter ReporterOf(const Request& request) {
  return {request.run(), request.rank(), request.attempt()};
}

class Run {
 public:
  Run(runs::RunStore& store, std::string name) : store_(store), name_(std::move(name)) {}

  void Take(std::uint8_t kind, std::string_view bytes) {
    switch (kind % 8) {
      case 0:
        return With<v1::ReportStepsRequest>(bytes, [this](const auto& request) { AddSteps(request); });
      case 1:
        return With<v1::ReportEvaluationRequest>(bytes, [this](const auto& request) {
          store_.AddEvaluation(request.run(), request.evaluation()).IgnoreError();
        });
      case 2:
        return With<v1::ReportSamplesRequest>(bytes, [this](const auto& request) {
          store_.AddSamples(ReporterOf(request), {request.samples().begin(), request.samples().end()})
              .IgnoreError();
        });
      case 3:
        return With<v1::ReportEventsRequest>(bytes, [this](const auto& request) {
          store_.AddEvents(ReporterOf(request), {request.events().begin(), request.events().end()})
              .IgnoreError();
        });
      case 4:
        return With<v1::FinishRunRequest>(
            bytes, [this](const auto& request) { store_.Finish(request).IgnoreError(); });
      case 5:
        return With<v1::ListStepsRequest>(bytes, [this](const auto& request) {
          auto steps = runs::LoadSteps(store_, request.run());
          const auto counted = runs::LoadCounted(store_, request.run());
          if (!steps.ok() || !counted.ok()) return;
          analysis::ListSteps(*std::move(steps), *counted, request, [](const v1::ListStepsResponse&) {
            return absl::OkStatus();
          }).IgnoreError();
        });
      case 6:
        return Compare(bytes);
      default:
        return Filter(bytes);
    }
  }

  void LookAt() {
    Expect(store_.Get(name_).ok(), "a run that was started is there");
    const absl::StatusOr<analysis::LoadedRun> run = runs::LoadRun(store_, name_, analysis::kSummaryParts);
    Expect(run.ok(), "every run can be loaded: " + run.status().ToString());
    Expect(analysis::Summarize(*run).run() == name_, "every run has a summary");
    const auto take = [](const v1::Evaluation&) { return absl::OkStatus(); };
    Expect(store_.ReadEvaluations(name_, take).ok(), "what is stored can be read");
  }

 private:
  template <typename Request, typename Take>
  void With(std::string_view bytes, Take take) {
    Request request;
    if (!Parse(bytes, &request)) return;
    if (request.run().empty()) request.set_run(name_);
    take(request);
  }

  void AddSteps(const v1::ReportStepsRequest& request) {
    const auto steps = wire::FromStepBlock(request.steps());
    if (!steps.ok()) return;
    const auto last = store_.AddSteps(ReporterOf(request), *steps);
    if (!last.ok()) return;
    Expect(*last >= steps->back().step, "an acknowledged step is stored");
    Expect(store_.AddSteps(ReporterOf(request), *steps) == last, "a block sent again changes nothing");
  }

  void Compare(std::string_view bytes) {
    v1::CompareRunsRequest request;
    if (!Parse(bytes, &request)) return;
    if (request.runs().empty() && request.where().empty()) request.add_runs(name_);
    absl::StatusOr<analysis::Comparison> comparison = analysis::Comparison::Create(request);
    const auto selected = runs::SelectRuns(store_, request.runs(), request.where());
    if (!comparison.ok() || !selected.ok()) return;
    runs::AddRuns(store_, *selected, runs::NeverCancelled, *comparison).IgnoreError();
    comparison->Answer().IgnoreError();
  }

  void Filter(std::string_view bytes) {
    v1::ListRunsRequest request;
    if (!Parse(bytes, &request)) return;
    const auto filter = analysis::RunFilter::Parse(request.where());
    if (filter.ok()) filter->Matches(*store_.Get(name_));
  }

  runs::RunStore& store_;
  const std::string name_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Destroyed before what RocksDB makes while a store is opened.
  static std::unique_ptr<Store> store = std::make_unique<Store>();
  static int number = 0;
  if (++number % kRunsPerStore == 0) {
    store.reset();
    store = std::make_unique<Store>();
  }
  Input input(data, size);
  v1::StartRunRequest start;
  if (!Parse(input.Message(), &start)) return 0;
  // A key of its own, or an input would join the run of an earlier one.
  if (start.idempotency_key().size() >= 8) start.set_idempotency_key(absl::StrCat("run number ", number));
  const absl::StatusOr<v1::StartRunResponse> started = (**store).Start(start);
  if (!started.ok()) return 0;
  Run run(**store, started->run());
  while (!input.empty()) {
    const std::uint8_t kind = input.Byte();
    run.Take(kind, input.Message());
  }
  run.LookAt();
  return 0;
}
