// Where runs live. Implementations: RocksRunStore, and FakeRunStore in tests; one conformance suite
// states the contract for both.
#ifndef PACKTRAIN_SERVER_RUNS_RUN_STORE_H_
#define PACKTRAIN_SERVER_RUNS_RUN_STORE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/run.pb.h"
#include "proto/wire/step_record.h"

namespace packtrain::runs {

// Which process of a run reports.
struct Reporter {
  std::string run;
  std::uint32_t rank = 0;
  std::uint32_t attempt = 0;
};

// Any number of threads may use it.
class RunStore {
 public:
  virtual ~RunStore() = default;

  // Begins a run or joins one by its key; see RunService.StartRun. Synced.
  virtual absl::StatusOr<v1::StartRunResponse> Start(const v1::StartRunRequest& request) = 0;

  // Stores a block, steps ascending, and returns the last step now stored for the reporter.
  virtual absl::StatusOr<std::uint64_t> AddSteps(const Reporter& reporter,
                                                 const std::vector<wire::StepRecord>& steps) = 0;
  virtual absl::Status AddEvaluation(std::string_view run, const v1::Evaluation& evaluation) = 0;
  virtual absl::Status AddSamples(const Reporter& reporter, const std::vector<v1::Sample>& samples) = 0;
  virtual absl::Status AddEvents(const Reporter& reporter, const std::vector<v1::Event>& events) = 0;

  // `state` is RUN_STATE_DONE or RUN_STATE_FAILED. Synced.
  virtual absl::Status Finish(std::string_view run, v1::RunState state, std::string_view message) = 0;

  // `run` is a name or an unambiguous beginning of one. NOT_FOUND, INVALID_ARGUMENT (ambiguous; the
  // message lists the candidates).
  virtual absl::StatusOr<v1::Run> Get(std::string_view run) const = 0;
  // Newest first.
  virtual absl::StatusOr<std::vector<v1::Run>> List() const = 0;

  // Calls `sink` with each stored block of a run: by rank, then attempt, then step.
  using StepSink =
      absl::FunctionRef<absl::Status(const Reporter& reporter, const std::vector<wire::StepRecord>& steps)>;
  virtual absl::Status ReadSteps(std::string_view run, StepSink sink) const = 0;
  // By step, then split.
  virtual absl::StatusOr<std::vector<v1::Evaluation>> ReadEvaluations(std::string_view run) const = 0;
  virtual absl::StatusOr<std::vector<v1::Sample>> ReadSamples(std::string_view run) const = 0;
};

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_RUN_STORE_H_
