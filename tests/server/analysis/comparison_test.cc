#include "server/analysis/comparison.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/server/analysis/comparison_fixtures.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::analysis {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// With A, B, C the logarithms of kFast, kSlow, kAlike, and SciPy 1.17.1:
//   w = stats.ttest_ind(A, B, equal_var=False); ratio np.exp(A.mean() - B.mean()); p w.pvalue;
//   interval np.exp(w.confidence_interval(0.95)); g as in significance_test.cc; Holm over the three p.
TEST_F(Comparisons, AgreesWithSciPy) {
  AddRuns(Dynamic, kFast);
  AddRuns(Multiple, kSlow);
  AddRuns(Pow2, kAlike);
  const v1::CompareRunsResponse response = CompareBy("policy");
  EXPECT_EQ(response.metric(), "seconds_per_graph");
  EXPECT_EQ(response.alpha(), 0.05);
  EXPECT_EQ(response.excluded_size(), 0);
  ASSERT_EQ(response.cells_size(), 1);
  ASSERT_EQ(response.cells(0).pairs_size(), 3);

  const v1::PairComparison& fast = response.cells(0).pairs(0);
  EXPECT_EQ(fast.a(), "dynamic");
  EXPECT_EQ(fast.b(), "static-multiple");
  EXPECT_EQ(fast.n_a(), 3u);
  EXPECT_EQ(fast.n_b(), 3u);
  EXPECT_NEAR(fast.ratio(), 0.8048580938964988, kTolerance);
  EXPECT_NEAR(fast.ci95_low(), 0.7573615506509024, kTolerance);
  EXPECT_NEAR(fast.ci95_high(), 0.8553332959059866, kTolerance);
  EXPECT_NEAR(fast.welch_p(), 0.0006115535836540797, kTolerance);
  EXPECT_NEAR(fast.holm_p(), 0.0018346607509622391, kTolerance);
  EXPECT_NEAR(fast.effect(), -6.492458864619622, kTolerance);
  EXPECT_FALSE(fast.has_mann_whitney_p());
  EXPECT_EQ(fast.verdict(), v1::VERDICT_FASTER);
  EXPECT_EQ(fast.sentence(),
            "dynamic is 1.24x faster than static-multiple (95 % 1.17 to 1.32, p = .002, 3 against 3 runs)");

  const v1::PairComparison& alike = response.cells(0).pairs(1);
  EXPECT_EQ(alike.b(), "static-pow2");
  EXPECT_NEAR(alike.ratio(), 0.9968862771886534, kTolerance);
  EXPECT_NEAR(alike.welch_p(), 0.9067314647990332, kTolerance);
  EXPECT_NEAR(alike.holm_p(), 0.9067314647990332, kTolerance);
  EXPECT_EQ(alike.verdict(), v1::VERDICT_NO_DIFFERENCE_SEEN);
  EXPECT_EQ(alike.sentence(),
            "no difference seen between dynamic and static-pow2: ratio 0.997 (95 % 0.928 to 1.071, p = .907, 3 "
            "against 3 runs)");

  const v1::PairComparison& slow = response.cells(0).pairs(2);
  EXPECT_NEAR(slow.ratio(), 1.2385863852875023, kTolerance);
  EXPECT_NEAR(slow.ci95_low(), 1.1509819897319173, kTolerance);
  EXPECT_NEAR(slow.ci95_high(), 1.3328585916247717, kTolerance);
  EXPECT_NEAR(slow.welch_p(), 0.0014225184537647742, kTolerance);
  EXPECT_NEAR(slow.holm_p(), 0.0028450369075295485, kTolerance);
  EXPECT_NEAR(slow.effect(), 5.370174214635451, kTolerance);
  EXPECT_EQ(slow.verdict(), v1::VERDICT_SLOWER);
  EXPECT_EQ(slow.sentence(),
            "static-multiple is 1.24x slower than static-pow2 (95 % 1.15 to 1.33, p = .003, 3 against 3 runs)");
}

// With A, B the logarithms of both sides: s = stats.ttest_ind(A, B); s.pvalue;
// np.exp(s.confidence_interval(0.95)); w the same with equal_var=False.
TEST_F(Comparisons, StudentsTestDecidesWhereItIsChosen) {
  AddRuns(Dynamic, {1.00e-3, 1.03e-3, 0.98e-3, 1.01e-3});
  AddRuns(Multiple, {1.25e-3, 1.21e-3, 1.38e-3});
  v1::CompareRunsRequest request;
  request.set_by("policy");
  request.set_test(v1::TEST_KIND_STUDENT);
  const v1::CompareRunsResponse by_student = Compare(request);
  EXPECT_EQ(by_student.test(), v1::TEST_KIND_STUDENT);
  const v1::PairComparison& student = by_student.cells(0).pairs(0);
  EXPECT_NEAR(student.student_p(), 0.0010352815534971623, kTolerance);
  EXPECT_NEAR(student.welch_p(), 0.020278037662015795, kTolerance);
  EXPECT_NEAR(student.holm_p(), 0.0010352815534971623, kTolerance);
  EXPECT_NEAR(student.ci95_low(), 0.7181140590023832, kTolerance);
  EXPECT_NEAR(student.ci95_high(), 0.8608931680508349, kTolerance);
  EXPECT_EQ(student.sentence(),
            "dynamic is 1.27x faster than static-multiple (95 % 1.16 to 1.39, p = .001, 4 against 3 runs)");

  const v1::CompareRunsResponse by_welch = CompareBy("policy");
  EXPECT_EQ(by_welch.test(), v1::TEST_KIND_WELCH);
  const v1::PairComparison& welch = by_welch.cells(0).pairs(0);
  EXPECT_FALSE(welch.has_student_p());
  EXPECT_NEAR(welch.welch_p(), 0.020278037662015795, kTolerance);
  EXPECT_NEAR(welch.holm_p(), 0.020278037662015795, kTolerance);
  EXPECT_NEAR(welch.ci95_low(), 0.6721293410053572, kTolerance);
  EXPECT_NEAR(welch.ci95_high(), 0.9197924410674976, kTolerance);
}

TEST_F(Comparisons, BelowThreeRunsThereIsNoVerdict) {
  AddRuns(Dynamic, {1.00e-3, 1.01e-3});
  AddRuns(Multiple, {2.00e-3, 2.01e-3, 2.02e-3});
  const v1::CompareRunsResponse response = CompareBy("policy");
  const v1::PairComparison& pair = response.cells(0).pairs(0);
  EXPECT_TRUE(pair.has_welch_p());
  EXPECT_EQ(pair.verdict(), v1::VERDICT_TOO_FEW_RUNS);
  EXPECT_EQ(pair.sentence(),
            "too few runs to compare dynamic with static-multiple: 2 against 3, and 3 a side are needed (ratio "
            "0.50)");
}

TEST_F(Comparisons, OneRunASideHasARatioAndNothingElse) {
  AddRun(Dynamic, 1e-3);
  AddRun(Multiple, 2e-3);
  const v1::CompareRunsResponse response = CompareBy("policy");
  const v1::PairComparison& pair = response.cells(0).pairs(0);
  EXPECT_NEAR(pair.ratio(), 0.5, kTolerance);
  EXPECT_FALSE(pair.has_ci95_low());
  EXPECT_FALSE(pair.has_ci95_high());
  EXPECT_FALSE(pair.has_welch_p());
  EXPECT_FALSE(pair.has_holm_p());
  EXPECT_FALSE(pair.has_effect());
  EXPECT_EQ(pair.verdict(), v1::VERDICT_TOO_FEW_RUNS);
}

TEST_F(Comparisons, MannWhitneyIsShownFromFiveRunsASide) {
  AddRuns(Dynamic, {1.00e-3, 1.01e-3, 1.02e-3, 1.03e-3, 1.04e-3});
  AddRuns(Multiple, {2.00e-3, 2.01e-3, 2.02e-3, 2.03e-3, 2.04e-3});
  // stats.mannwhitneyu([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]).pvalue
  EXPECT_NEAR(CompareBy("policy").cells(0).pairs(0).mann_whitney_p(), 0.007936507936507936, kTolerance);
}

TEST_F(Comparisons, ARunThatCannotBeComparedIsExcludedWithTheReason) {
  AddRuns(Dynamic, kFast);
  AddRuns(Multiple, kSlow);
  v1::Run& other = AddRun(Dynamic, 1e-3).record();
  const std::pair<v1::RunState, std::string> states[] = {
      {v1::RUN_STATE_RUNNING, "running"}, {v1::RUN_STATE_LOST, "lost"}, {v1::RUN_STATE_FAILED, "failed"}};
  for (const auto& [state, word] : states) {
    other.set_state(state);
    const v1::CompareRunsResponse response = CompareBy("policy");
    EXPECT_EQ(response.cells_size(), 1);
    ASSERT_EQ(response.excluded_size(), 1);
    EXPECT_EQ(response.excluded(0).run(), other.run());
    EXPECT_EQ(response.excluded(0).reason(), absl::StrCat("its state is ", word, ", not done"));
  }
}

TEST_F(Comparisons, NothingIsReadOfARunThatIsNotDone) {
  v1::CompareRunsRequest request;
  request.set_by("policy");
  const absl::StatusOr<Comparison> comparison = Comparison::Create(request);
  ASSERT_THAT(comparison, IsOk());
  v1::Run run;
  run.set_state(v1::RUN_STATE_DONE);
  EXPECT_TRUE(comparison->PartsOf(run).steps);
  run.set_state(v1::RUN_STATE_RUNNING);
  EXPECT_FALSE(comparison->PartsOf(run).steps);
}

TEST_F(Comparisons, OnlyWhatTheMetricNeedsIsRead) {
  v1::CompareRunsRequest request;
  request.set_by("policy");
  request.set_metric("test.mae");
  const absl::StatusOr<Comparison> comparison = Comparison::Create(request);
  ASSERT_THAT(comparison, IsOk());
  v1::Run run;
  run.set_state(v1::RUN_STATE_DONE);
  EXPECT_TRUE(comparison->PartsOf(run).evaluations);
  EXPECT_FALSE(comparison->PartsOf(run).steps);
}

TEST_F(Comparisons, ARunWithoutSteadyStepsIsExcluded) {
  AddRuns(Dynamic, kFast);
  AddEmptyRun(Multiple).AddSteps({}, {Step(0, 1'000'000, wire::kWarmUp), Step(1, 0)});
  EXPECT_EQ(CompareBy("policy").excluded(0).reason(),
            "none of its 2 steps is steady, measured and reported by all 1 ranks");
}

TEST_F(Comparisons, ARunWithNothingToBeComparedWithIsExcluded) {
  const std::string alone = AddRun(Dynamic, 1e-3).record().run();
  const v1::CompareRunsResponse response = CompareBy("policy");
  EXPECT_EQ(response.cells_size(), 0);
  ASSERT_EQ(response.excluded_size(), 1);
  EXPECT_EQ(response.excluded(0).run(), alone);
  EXPECT_THAT(response.excluded(0).reason(), HasSubstr("no other value of policy"));
}

TEST_F(Comparisons, MetricsOfPhasesEpochsAndErrorsAreMeasured) {
  const auto add = [this](const Change& change, std::uint64_t scale) {
    std::vector<wire::StepRecord> steps = Steps(0, 4);
    for (wire::StepRecord& step : steps) {
      step.total_ns = scale * 10'000;
      step.forward_ns = scale * 3'000;
      step.epoch = step.step / 2;
    }
    ReportedRun& run = AddEmptyRun(change);
    run.AddSteps({}, steps);
    v1::Evaluation evaluation;
    evaluation.set_split("test");
    for (std::uint64_t step = 1; step < 3; ++step) {
      evaluation.set_step(step);
      evaluation.set_mae(static_cast<double>(scale * 10 * step));
      evaluation.set_rmse(static_cast<double>(scale * scale * step));
      evaluation.set_accuracy(static_cast<double>(scale * step) / 1000);
      run.AddEvaluation(evaluation);
    }
  };
  for (const std::uint64_t scale : {100u, 101u, 102u}) {
    add(Dynamic, scale);
    add(Multiple, 2 * scale);
  }
  const auto compare = [this](const std::string& metric) {
    v1::CompareRunsRequest request;
    request.set_by("policy");
    request.set_metric(metric);
    const v1::CompareRunsResponse response = Compare(request);
    EXPECT_EQ(response.metric(), metric);
    EXPECT_EQ(response.cells_size(), 1);
    return response.cells_size() == 1 ? response.cells(0).pairs(0) : v1::PairComparison();
  };
  EXPECT_NEAR(compare("seconds_per_epoch").ratio(), 0.5, kTolerance);
  EXPECT_NEAR(compare("forward.p95").ratio(), 0.5, kTolerance);
  EXPECT_NEAR(compare("test.rmse").ratio(), 0.25, kTolerance);
  EXPECT_THAT(compare("seconds_per_epoch").sentence(),
              StartsWith("dynamic is 2.00x faster than static-multiple ("));
  EXPECT_EQ(compare("forward.mean").verdict(), v1::VERDICT_FASTER);
  EXPECT_THAT(compare("forward.mean").sentence(),
              StartsWith("forward.mean of dynamic is 2.00x smaller than that of static-multiple (95 % "));
  EXPECT_THAT(compare("test.accuracy").sentence(),
              StartsWith("test.accuracy of dynamic is 2.00x smaller than that of static-multiple (95 % "));
  EXPECT_THAT(compare("test.mae").sentence(),
              StartsWith("test.mae of dynamic is 2.00x smaller than that of static-multiple (95 % "));
}

TEST_F(Comparisons, ASpreadIsGreaterNeverSlower) {
  const auto add = [this](const Change& change, std::uint64_t spread_ns) {
    AddEmptyRun(change).AddSteps({}, {Step(1, 10'000'000 - spread_ns), Step(2, 10'000'000 + spread_ns)});
  };
  for (const std::uint64_t spread_ns : {1'000'000u, 1'010'000u, 1'020'000u}) {
    add(Dynamic, 3 * spread_ns);
    add(Multiple, spread_ns);
  }
  v1::CompareRunsRequest request;
  request.set_by("policy");
  request.set_metric("total.stddev");
  const v1::CompareRunsResponse response = Compare(request);
  const v1::PairComparison& pair = response.cells(0).pairs(0);
  EXPECT_EQ(pair.verdict(), v1::VERDICT_SLOWER);
  EXPECT_THAT(pair.sentence(),
              StartsWith("total.stddev of dynamic is 3.00x greater than that of static-multiple (95 % "));
}

TEST_F(Comparisons, AMetricThatARunLacksExcludesIt) {
  AddRun(Dynamic, 1e-3);
  const auto reason = [this](const std::string& metric) {
    v1::CompareRunsRequest request;
    request.set_by("policy");
    request.set_metric(metric);
    const v1::CompareRunsResponse response = Compare(request);
    return response.excluded_size() == 1 ? response.excluded(0).reason() : std::string();
  };
  EXPECT_EQ(reason("val.mae"), "it has no evaluation on val");
  EXPECT_EQ(reason("seconds_per_epoch"), "it has no complete epoch");
  EXPECT_EQ(reason("joules_per_graph"), "its energy is not known");
  EXPECT_EQ(reason("comm.median"), "its comm.median is 0, and only what is finite and above 0 has a logarithm");
}

TEST(Comparison, BadRequestsAreRefused) {
  v1::CompareRunsRequest request;
  const auto refused = [&request](const std::string& message) {
    EXPECT_THAT(Comparison::Create(request), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  };
  refused("say by which setting to compare: balance, batch_graphs, block_nodes, blocks, budget_sample, ");
  for (const char* by : {"graphs", "qm9@1", "label.", "state"}) {
    request.set_by(by);
    refused(absl::StrCat("unknown setting ", by, "; known are balance, batch_graphs"));
  }
  request.set_by("seed");
  refused("runs are not compared by seed, in which repeats may differ; known are balance");
  request.set_by("policy");
  for (const char* metric : {"speed", "forward.p50", "fore.mean", "test.mse", "holdout.mae", ".", "forward."}) {
    request.set_metric(metric);
    refused("unknown metric");
    refused("known are seconds_per_graph, seconds_per_epoch, joules_per_graph, PHASE.QUANTILE");
  }
  request.clear_metric();
  request.set_test(static_cast<v1::TestKind>(9));
  refused("unknown test 9");
}

TEST_F(Comparisons, MorePairsThanAnAnswerHoldsAreRefused) {
  v1::CompareRunsRequest request;
  request.set_by("label.name");
  absl::StatusOr<Comparison> comparison = Comparison::Create(request);
  ASSERT_THAT(comparison, IsOk());
  const auto add = [&comparison](int name) {
    ReportedRun run(absl::StrCat("run-", name));
    run.record().mutable_description()->mutable_labels()->insert({"name", absl::StrCat(name)});
    run.AddSteps({}, Steps(0, 30));
    comparison->Add(run.Load());
  };
  for (int name = 0; name < 141; ++name) add(name);  // 9,870 pairs
  EXPECT_THAT(comparison->Answer(), IsOk());
  for (int name = 141; name < 143; ++name) add(name);
  EXPECT_THAT(comparison->Answer(), StatusIs(absl::StatusCode::kInvalidArgument,
                                             HasSubstr("10153 pairs, and at most 10000 are compared at once")));
}

TEST_F(Comparisons, NoRunsGiveNoCells) {
  const v1::CompareRunsResponse response = CompareBy("policy");
  EXPECT_EQ(response.cells_size(), 0);
  EXPECT_EQ(response.excluded_size(), 0);
}

}  // namespace
}  // namespace packtrain::analysis
