// What the tests of RunStore's contract share. They run on RocksRunStore, reopened wherever that must make no
// difference.
#ifndef PACKTRAIN_TESTS_SERVER_RUNS_RUN_STORE_CONFORMANCE_H_
#define PACKTRAIN_TESTS_SERVER_RUNS_RUN_STORE_CONFORMANCE_H_

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/server/runs/run_fixtures.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::runs {

class RunStoreConformance : public ::testing::Test {
 protected:
  v1::Run Get(const std::string& run) {
    const absl::StatusOr<v1::Run> found = store_->Get(run);
    EXPECT_THAT(found, packtrain::testing::IsOk());
    return found.ok() ? *found : v1::Run();
  }

  absl::StatusOr<std::uint64_t> Add(const Reporter& reporter, std::uint64_t first, std::uint64_t last) {
    return store_->AddSteps(reporter, Steps(first, last));
  }

  TestRunStore store_;
};

inline v1::Evaluation TestEvaluation(std::uint64_t step, const std::string& split, double mae) {
  v1::Evaluation evaluation;
  evaluation.set_step(step);
  evaluation.set_split(split);
  evaluation.set_mae(mae);
  return evaluation;
}

inline v1::CorruptGraphs CorruptAt(std::uint64_t step, std::uint64_t batch, const std::string& split,
                                   const std::vector<std::uint64_t>& graphs) {
  v1::CorruptGraphs corrupt;
  corrupt.set_step(step);
  corrupt.set_epoch(1);
  corrupt.set_batch_index(batch);
  corrupt.set_split(split);
  corrupt.mutable_graphs()->Add(graphs.begin(), graphs.end());
  return corrupt;
}

inline v1::Sample SampleAt(std::int64_t time_ns) {
  v1::Sample sample;
  sample.set_time_ns(time_ns);
  return sample;
}

}  // namespace packtrain::runs

#endif  // PACKTRAIN_TESTS_SERVER_RUNS_RUN_STORE_CONFORMANCE_H_
