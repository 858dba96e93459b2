// Runs, steps and stores for the tests of server/runs.
#ifndef PACKTRAIN_TESTS_SERVER_RUNS_RUN_FIXTURES_H_
#define PACKTRAIN_TESTS_SERVER_RUNS_RUN_FIXTURES_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "packtrain/v1/run.pb.h"
#include "server/runs/rocks_run_store.h"
#include "tests/server/analysis/reported_run.h"

namespace packtrain::runs {

// A store in a directory of its own, which ends with it, and clocks that stand until they are moved.
class TestRunStore {
 public:
  // `env` (null: the system's) must outlive it.
  explicit TestRunStore(rocksdb::Env* env = nullptr);
  ~TestRunStore();

  RunStore& operator*() { return *store_; }
  RunStore* operator->() { return store_.get(); }

  // Closes the store and opens it again on the same directory; after a failure it is closed.
  absl::Status TryReopen();
  // Throws where that fails.
  void Reopen();
  const std::string& directory() const { return directory_; }

  // Moves both clocks on.
  void Pass(std::int64_t ms) {
    now_ms += ms;
    steady_ms += ms;
  }

  std::int64_t now_ms = 1'700'000'000'000;  // 2023-11-14 22:13:20 UTC
  std::int64_t steady_ms = 0;
  // Of the disk, from the next Reopen on.
  std::uint64_t reserve_bytes = 0;

 private:
  rocksdb::Env* const env_;
  std::string directory_;
  std::unique_ptr<RocksRunStore> store_;
};

// World size 1, rank 0, static-multiple with 32 graphs, schnet on qm9@1.
v1::StartRunRequest StartRequest(const std::string& idempotency_key);

// Starts a run and gives its rank 0; fails the test where it can't.
Reporter StartRun(RunStore& store, const v1::StartRunRequest& request);

using analysis::Step;
using analysis::Steps;

struct StoredStep {
  std::uint32_t rank = 0;
  std::uint32_t attempt = 0;
  std::uint64_t step = 0;
  friend bool operator==(const StoredStep&, const StoredStep&) = default;
};

// Everything ReadSteps gives, in its order.
std::vector<StoredStep> StoredSteps(const RunStore& store, const std::string& run);

// Everything ReadEvaluations gives, in its order.
absl::StatusOr<std::vector<v1::Evaluation>> EvaluationsIn(const RunStore& store, std::string_view run);

// What RunService answers of the runs in a store.
absl::StatusOr<v1::SummarizeRunResponse> Summarize(const RunStore& store, const std::string& run);
absl::StatusOr<v1::CompareRunsResponse> Compare(const RunStore& store, const v1::CompareRunsRequest& request);

}  // namespace packtrain::runs

#endif  // PACKTRAIN_TESTS_SERVER_RUNS_RUN_FIXTURES_H_
