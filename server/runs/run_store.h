// The contract of a store of runs: what trainers report is added, and read back by run.
//
// RunService writes reports through it, and run_loader.h reads runs out of it for questions. RocksRunStore
// implements it; run_store_conformance_test in tests/server/runs states the contract.
//
//   ABSL_ASSIGN_OR_RETURN(const v1::StartRunResponse started, store.Start(request));
//   ABSL_RETURN_IF_ERROR(store.AddSteps({started.run(), /*rank=*/0, started.attempt()}, steps).status());
//   ABSL_RETURN_IF_ERROR(store.Finish(started.run(), v1::RUN_STATE_DONE, ""));
//   ABSL_ASSIGN_OR_RETURN(const v1::Run run, store.Get(started.run()));
#ifndef PACKTRAIN_SERVER_RUNS_RUN_STORE_H_
#define PACKTRAIN_SERVER_RUNS_RUN_STORE_H_

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/run.pb.h"
#include "proto/wire/step_columns.h"
#include "server/analysis/counted_records.h"

namespace packtrain::runs {

// Which process of a run reports.
struct Reporter {
  std::string run;
  std::uint32_t rank = 0;
  std::uint32_t attempt = 0;
};

// A place in the order in which runs began; the list goes from the greatest to 1. By default before the first
// of the list.
using ListPosition = std::uint64_t;
inline constexpr ListPosition kListBegin = std::numeric_limits<ListPosition>::max();

// Any number of threads may use it.
class RunStore {
 public:
  virtual ~RunStore() = default;

  // Begins a run or joins one by its key; see RunService.StartRun. Synced.
  virtual absl::StatusOr<v1::StartRunResponse> Start(const v1::StartRunRequest& request) = 0;

  // The Add* calls take a run's whole name. NOT_FOUND: no such run. FAILED_PRECONDITION: it is finished, or
  // the reporter's attempt was not opened by Start. INVALID_ARGUMENT: see run_limits.h.

  // Stores the steps of a block, steps ascending, that are not yet stored for the reporter, and returns the
  // greatest step now stored.
  virtual absl::StatusOr<std::uint64_t> AddSteps(const Reporter& reporter,
                                                 const std::vector<wire::StepRecord>& steps) = 0;
  // Of an attempt of rank 0; without one, of the last that it has opened.
  virtual absl::Status AddEvaluation(std::string_view run, const v1::Evaluation& evaluation) = 0;
  virtual absl::Status AddSamples(const Reporter& reporter, const std::vector<v1::Sample>& samples) = 0;
  virtual absl::Status AddEvents(const Reporter& reporter, const std::vector<v1::Event>& events) = 0;
  virtual absl::Status AddCorruptGraphs(const Reporter& reporter,
                                        const std::vector<v1::CorruptGraphs>& batches) = 0;
  // All that the reporter's attempt has lost; the largest number that was said counts.
  virtual absl::Status AddLostRecords(const Reporter& reporter, std::uint64_t records) = 0;

  // `state` is RUN_STATE_DONE or RUN_STATE_FAILED. Synced. The same state again changes nothing; the other
  // one is FAILED_PRECONDITION.
  virtual absl::Status Finish(const v1::FinishRunRequest& request) = 0;
  absl::Status Finish(std::string_view run, v1::RunState state, std::string_view message);

  // `run` is a name or an unambiguous beginning of one. NOT_FOUND, INVALID_ARGUMENT (ambiguous; the
  // message lists the candidates).
  virtual absl::StatusOr<v1::Run> Get(std::string_view run) const = 0;
  // Newest first: in the order in which they began, whatever their dates are.
  virtual absl::StatusOr<std::vector<v1::Run>> List() const = 0;
  // The same, one by one from behind `after`, until `sink` returns false.
  using RunSink = absl::FunctionRef<bool(ListPosition position, v1::Run run)>;
  virtual absl::Status ListAfter(ListPosition after, RunSink sink) const = 0;
  // The attempts that Start opened.
  virtual absl::StatusOr<std::vector<analysis::OpenedAttempt>> ReadAttempts(std::string_view run) const = 0;

  // Calls `sink` with blocks of all stored steps of a run, each step once: by rank, then attempt, then step.
  // STEP_FLAG_WARM_UP is set by the place of a step in its attempt, whatever was reported. `run` as for Get,
  // also below.
  using StepSink =
      absl::FunctionRef<absl::Status(const Reporter& reporter, const std::vector<wire::StepRecord>& steps)>;
  virtual absl::Status ReadSteps(std::string_view run, StepSink sink) const = 0;
  // Calls `sink` with each evaluation: by step, then split, then attempt; first those of older servers, which
  // have none.
  using EvaluationSink = absl::FunctionRef<absl::Status(v1::Evaluation evaluation)>;
  virtual absl::Status ReadEvaluations(std::string_view run, EvaluationSink sink) const = 0;
  // Calls `sink` with each sample: by rank, then attempt, then time.
  using SampleSink = absl::FunctionRef<absl::Status(const Reporter& reporter, const v1::Sample& sample)>;
  virtual absl::Status ReadSamples(std::string_view run, SampleSink sink) const = 0;
  // Calls `sink` with each event: by rank, then attempt, then start.
  using EventSink = absl::FunctionRef<absl::Status(const Reporter& reporter, const v1::Event& event)>;
  virtual absl::Status ReadEvents(std::string_view run, EventSink sink) const = 0;
  // Calls `sink` with what each batch came without: by step, epoch, batch, then split.
  using CorruptGraphsSink = absl::FunctionRef<absl::Status(const v1::CorruptGraphs& batch)>;
  virtual absl::Status ReadCorruptGraphs(std::string_view run, CorruptGraphsSink sink) const = 0;
};

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_RUN_STORE_H_
