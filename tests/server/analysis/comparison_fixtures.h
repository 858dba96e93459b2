// Runs of a few policies, and comparisons of them.
#ifndef PACKTRAIN_TESTS_SERVER_ANALYSIS_COMPARISON_FIXTURES_H_
#define PACKTRAIN_TESTS_SERVER_ANALYSIS_COMPARISON_FIXTURES_H_

#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/analysis/comparison.h"
#include "tests/server/analysis/reported_run.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::analysis {

inline constexpr double kTolerance = 1e-9;

using Change = std::function<void(v1::RunDescription& description)>;

inline void Dynamic(v1::RunDescription& description) {
  description.mutable_spec()->set_policy(v1::POLICY_DYNAMIC);
  description.mutable_spec()->clear_pad();
}
inline void Pow2(v1::RunDescription& description) { description.mutable_spec()->set_pad(v1::PAD_POW2); }
inline void Multiple(v1::RunDescription&) {}

class Comparisons : public ::testing::Test {
 protected:
  // A run that is done and has no steps yet.
  ReportedRun& AddEmptyRun(const Change& change) {
    ReportedRun& run = runs_.emplace_back(absl::StrCat("run-", runs_.size()));
    change(*run.record().mutable_description());
    return run;
  }

  // A run with one warm-up step and two steady ones that take `seconds_per_graph`.
  ReportedRun& AddRun(const Change& change, double seconds_per_graph) {
    ReportedRun& run = AddEmptyRun(change);
    const auto total_ns = static_cast<std::uint64_t>(std::llround(seconds_per_graph * 32 * 1e9));
    run.AddSteps({}, {Step(0, 1'000'000'000, wire::kWarmUp), Step(1, total_ns), Step(2, total_ns)});
    return run;
  }

  void AddRuns(const Change& change, const std::vector<double>& seconds_per_graph) {
    for (const double seconds : seconds_per_graph) AddRun(change, seconds);
  }

  v1::CompareRunsResponse CompareBy(const std::string& by) {
    v1::CompareRunsRequest request;
    request.set_by(by);
    return Compare(request);
  }

  v1::CompareRunsResponse Compare(const v1::CompareRunsRequest& request) {
    absl::StatusOr<Comparison> comparison = Comparison::Create(request);
    EXPECT_THAT(comparison, packtrain::testing::IsOk());
    if (!comparison.ok()) return {};
    for (const ReportedRun& run : runs_) comparison->Add(run.Load());
    return comparison->Answer().value();
  }

  std::deque<ReportedRun> runs_;
};

inline const std::vector<double> kFast = {1.00e-3, 1.03e-3, 0.98e-3};
inline const std::vector<double> kSlow = {1.25e-3, 1.21e-3, 1.28e-3};
inline const std::vector<double> kAlike = {1.01e-3, 1.04e-3, 0.97e-3};

}  // namespace packtrain::analysis

#endif  // PACKTRAIN_TESTS_SERVER_ANALYSIS_COMPARISON_FIXTURES_H_
