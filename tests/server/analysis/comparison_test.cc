#include "server/analysis/comparison.h"

#include <gmock/gmock.h>

#include <cmath>
#include <deque>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/server/analysis/reported_run.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::analysis {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

constexpr double kTolerance = 1e-9;

using Change = std::function<void(v1::RunDescription& description)>;

void Dynamic(v1::RunDescription& description) {
  description.mutable_spec()->set_policy(v1::POLICY_DYNAMIC);
  description.mutable_spec()->clear_pad();
}
void Pow2(v1::RunDescription& description) { description.mutable_spec()->set_pad(v1::PAD_POW2); }
void Multiple(v1::RunDescription&) {}

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
    EXPECT_THAT(comparison, IsOk());
    if (!comparison.ok()) return {};
    for (const ReportedRun& run : runs_) comparison->Add(run.Load());
    return comparison->Answer().value();
  }

  std::deque<ReportedRun> runs_;
};

const std::vector<double> kFast = {1.00e-3, 1.03e-3, 0.98e-3};
const std::vector<double> kSlow = {1.25e-3, 1.21e-3, 1.28e-3};
const std::vector<double> kAlike = {1.01e-3, 1.04e-3, 0.97e-3};

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

TEST_F(Comparisons, ASideOfCopiesAloneGetsNoVerdict) {
  AddRuns(Dynamic, {1e-3, 1e-3, 1e-3});
  AddRuns(Multiple, {2.00e-3, 2.01e-3, 2.02e-3});
  const v1::CompareRunsResponse response = CompareBy("policy");
  const v1::PairComparison& pair = response.cells(0).pairs(0);
  EXPECT_EQ(pair.n_a(), 1u);
  EXPECT_EQ(pair.n_b(), 3u);
  EXPECT_FALSE(pair.has_welch_p());
  EXPECT_FALSE(pair.has_ci95_low());
  EXPECT_EQ(pair.verdict(), v1::VERDICT_TOO_FEW_RUNS);
  ASSERT_EQ(pair.copies_size(), 2);
  EXPECT_EQ(pair.copies(0).run(), "run-1");
  EXPECT_EQ(pair.copies(0).of(), "run-0");
  EXPECT_EQ(pair.copies(1).run(), "run-2");
  EXPECT_THAT(pair.sentence(), HasSubstr("; copies, which count once: run-1 (of run-0), run-2 (of run-0)"));
}

TEST_F(Comparisons, ACopyCountsOnceAmongOthers) {
  AddRuns(Dynamic, kFast);
  AddRuns(Multiple, kSlow);
  const v1::PairComparison without = CompareBy("policy").cells(0).pairs(0);
  AddRun(Dynamic, kFast[1]);
  const v1::PairComparison with_copy = CompareBy("policy").cells(0).pairs(0);
  EXPECT_EQ(with_copy.n_a(), 3u);
  EXPECT_EQ(with_copy.welch_p(), without.welch_p());
  EXPECT_EQ(with_copy.verdict(), v1::VERDICT_FASTER);
  ASSERT_EQ(with_copy.copies_size(), 1);
  EXPECT_EQ(with_copy.copies(0).run(), "run-6");
  EXPECT_EQ(with_copy.copies(0).of(), "run-1");
}

// Seeds that are given, as by a trainer that says its settings.
Change Seeded(const Change& change, std::uint32_t seed, std::uint32_t model_seed) {
  return [change, seed, model_seed](v1::RunDescription& description) {
    change(description);
    description.mutable_settings();
    description.mutable_spec()->set_seed(seed);
    description.set_model_seed(model_seed);
  };
}

TEST_F(Comparisons, OfLearningRunsOfEqualSeedsAndSettingsAreCopies) {
  const auto add = [this](const Change& change, double mae) {
    v1::Evaluation evaluation;
    evaluation.set_split("test");
    evaluation.set_step(9);
    evaluation.set_mae(mae);
    AddEmptyRun(change).AddEvaluation(evaluation);
  };
  // A GPU whose sums are in no fixed order: the last digits differ.
  for (const double mae : {1.0, 1.0000001, 0.9999999}) add(Seeded(Dynamic, 0, 0), mae);
  for (const std::uint32_t seed : {1u, 2u, 3u}) add(Seeded(Multiple, 0, seed), 2.0 + seed / 10.0);
  v1::CompareRunsRequest request;
  request.set_by("policy");
  request.set_metric("test.mae");
  const v1::PairComparison pair = Compare(request).cells(0).pairs(0);
  EXPECT_EQ(pair.n_a(), 1u);
  EXPECT_EQ(pair.n_b(), 3u);
  EXPECT_EQ(pair.copies_size(), 2);
  EXPECT_EQ(pair.verdict(), v1::VERDICT_TOO_FEW_RUNS);
  EXPECT_FALSE(pair.shares_seeds());
}

TEST_F(Comparisons, OfLearningASeedThatIsNotGivenEqualsNoOther) {
  for (const double mae : {1.0, 1.1, 1.2, 2.0, 2.1, 2.2}) {
    v1::Evaluation evaluation;
    evaluation.set_split("test");
    evaluation.set_mae(mae);
    AddEmptyRun(mae < 1.5 ? Change(Dynamic) : Change(Multiple)).AddEvaluation(evaluation);
  }
  v1::CompareRunsRequest request;
  request.set_by("policy");
  request.set_metric("test.mae");
  const v1::PairComparison pair = Compare(request).cells(0).pairs(0);
  EXPECT_EQ(pair.copies_size(), 0);
  EXPECT_EQ(pair.verdict(), v1::VERDICT_FASTER);
}

TEST_F(Comparisons, OfTimesRunsOfOneSeedCountAndTheAnswerSaysThatTheyShareIt) {
  for (const double seconds : kFast) AddRun(Seeded(Dynamic, 4, 5), seconds);
  for (const double seconds : kSlow) AddRun(Seeded(Multiple, 4, 5), seconds);
  const v1::PairComparison shared = CompareBy("policy").cells(0).pairs(0);
  EXPECT_TRUE(shared.shares_seeds());
  EXPECT_EQ(shared.n_a(), 3u);
  EXPECT_EQ(shared.copies_size(), 0);
  EXPECT_EQ(shared.verdict(), v1::VERDICT_FASTER);
  EXPECT_THAT(shared.sentence(),
              EndsWith("; runs of a side share their seeds, so they repeat one order of batches"));

  runs_.clear();
  for (std::uint32_t i = 0; i < 3; ++i) {
    AddRun(Seeded(Dynamic, 4 + i, 5), kFast[i]);
    AddRun(Seeded(Multiple, 4 + i, 5), kSlow[i]);
  }
  EXPECT_FALSE(CompareBy("policy").cells(0).pairs(0).shares_seeds());
}

std::vector<std::string> KeysOf(const google::protobuf::RepeatedPtrField<v1::SettingDifference>& differences) {
  std::vector<std::string> keys;
  for (const v1::SettingDifference& difference : differences) keys.push_back(difference.key());
  return keys;
}

void OtherTraining(v1::RunDescription& description) {
  Dynamic(description);
  description.mutable_spec()->set_balance(v1::BALANCE_COST);
  description.mutable_spec()->set_order(v1::ORDER_NONE);
  description.set_learning_rate(0.01);
}

TEST_F(Comparisons, ConditionsThatDifferInsideASideWithholdTheVerdict) {
  AddRuns(Dynamic, {1.00e-3, 1.03e-3});
  AddRun(OtherTraining, 0.98e-3);
  AddRuns(Multiple, kSlow);
  const v1::PairComparison pair = CompareBy("policy").cells(0).pairs(0);
  EXPECT_EQ(pair.verdict(), v1::VERDICT_MIXED);
  EXPECT_THAT(KeysOf(pair.mixed()), ElementsAre("balance", "learning_rate", "order"));
  EXPECT_THAT(pair.mixed(1).a(), ElementsAre("0", "0.01"));
  EXPECT_THAT(pair.mixed(1).b(), ElementsAre("0"));
  EXPECT_FALSE(pair.has_welch_p());
  EXPECT_FALSE(pair.has_holm_p());
  EXPECT_FALSE(pair.has_ci95_low());
  EXPECT_FALSE(pair.has_effect());
  EXPECT_EQ(
      pair.sentence(),
      "no verdict on dynamic and static-multiple: runs of one side differ in balance (cost, none against "
      "none), learning_rate (0, 0.01 against 0), order (full, none against full); --allow-mixed KEY compares "
      "them all the same (ratio 0.80, 3 against 3 runs)");
}

TEST_F(Comparisons, AConditionThatIsAllowedToDifferWithholdsNothing) {
  AddRuns(Dynamic, {1.00e-3, 1.03e-3});
  AddRun(OtherTraining, 0.98e-3);
  AddRuns(Multiple, kSlow);
  v1::CompareRunsRequest request;
  request.set_by("policy");
  request.add_allow_mixed("balance");
  request.add_allow_mixed("order");
  EXPECT_THAT(KeysOf(Compare(request).cells(0).pairs(0).mixed()), ElementsAre("learning_rate"));
  request.add_allow_mixed("learning_rate");
  const v1::PairComparison pair = Compare(request).cells(0).pairs(0);
  EXPECT_EQ(pair.mixed_size(), 0);
  EXPECT_EQ(pair.verdict(), v1::VERDICT_FASTER);
  request.add_allow_mixed("policy");
  EXPECT_THAT(Comparison::Create(request),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--allow-mixed policy: not a condition; conditions are balance,")));
}

TEST_F(Comparisons, ConditionsThatDifferBetweenTheSidesStandBesideTheVerdict) {
  AddRuns(
      [](v1::RunDescription& description) {
        Dynamic(description);
        description.set_learning_rate(0.01);
        description.mutable_settings()->mutable_other()->insert({"readout", "mean"});
      },
      kFast);
  AddRuns(Multiple, kSlow);
  const v1::PairComparison pair = CompareBy("policy").cells(0).pairs(0);
  EXPECT_EQ(pair.verdict(), v1::VERDICT_FASTER);
  EXPECT_THAT(KeysOf(pair.also_differs()), ElementsAre("learning_rate", "other.readout"));
  EXPECT_THAT(pair.also_differs(1).b(), ElementsAre("not given"));
  EXPECT_THAT(pair.sentence(), HasSubstr("; also differs: learning_rate (0.01 against 0), other.readout (mean "
                                         "against not given)"));
}

TEST_F(Comparisons, BudgetsBelongToThePolicyThatIsCompared) {
  const auto with_nodes = [](const Change& change, std::uint32_t nodes) {
    return [change, nodes](v1::RunDescription& description) {
      change(description);
      description.mutable_spec()->set_nodes(nodes);
    };
  };
  AddRuns(with_nodes(Dynamic, 900), kFast);
  AddRuns(Multiple, kSlow);
  EXPECT_EQ(CompareBy("policy").cells(0).pairs(0).also_differs_size(), 0);

  AddRun(with_nodes(Dynamic, 800), 1.01e-3);
  EXPECT_THAT(KeysOf(CompareBy("policy").cells(0).pairs(0).mixed()), ElementsAre("nodes"));

  runs_.clear();
  AddRuns(with_nodes(Dynamic, 900), kFast);
  AddRuns(
      [&](v1::RunDescription& description) {
        with_nodes(Dynamic, 800)(description);
        description.set_precision("bf16");
      },
      kSlow);
  EXPECT_THAT(KeysOf(CompareBy("precision").cells(0).pairs(0).also_differs()), ElementsAre("nodes"));
}

TEST_F(Comparisons, NotesAreNamedWhereTheySeparateTheSides) {
  const auto on_host = [](const Change& change, const std::string& host, const std::string& torch) {
    return [=](v1::RunDescription& description) {
      change(description);
      description.mutable_hardware()->set_host(host);
      description.mutable_libraries()->insert({"libtorch", torch});
    };
  };
  AddRun(on_host(Dynamic, "h1", "2.1"), kFast[0]);
  AddRun(on_host(Dynamic, "h2", "2.1"), kFast[1]);
  AddRun(on_host(Dynamic, "h2", "2.1"), kFast[2]);
  for (const double seconds : kSlow) AddRun(on_host(Multiple, "h2", "2.10"), seconds);
  const v1::PairComparison pair = CompareBy("policy").cells(0).pairs(0);
  EXPECT_EQ(pair.verdict(), v1::VERDICT_FASTER);
  EXPECT_THAT(KeysOf(pair.also_differs()), ElementsAre("library.libtorch"));
}

TEST_F(Comparisons, ASideThatBeganBeforeAllOfTheOtherIsNamed) {
  AddRuns(Dynamic, kFast);
  AddRuns(Multiple, kSlow);
  std::int64_t started_ms = 1'700'000'000'000;
  for (ReportedRun& run : runs_) run.record().set_started_ms(started_ms += 60'000);
  EXPECT_THAT(CompareBy("policy").cells(0).pairs(0).sentence(),
              EndsWith("; also differs: started (all of dynamic before all of static-multiple)"));
  EXPECT_THAT(CompareBy("policy").cells(0).pairs(0).also_differs(0).a(),
              ElementsAre("2023-11-14T22:14:20Z", "2023-11-14T22:16:20Z"));
  runs_.back().record().set_started_ms(1'600'000'000'000);
  EXPECT_EQ(CompareBy("policy").cells(0).pairs(0).also_differs_size(), 0);
}

TEST_F(Comparisons, SyntheticRunsAreACellOfTheirOwn) {
  AddRuns(Dynamic, kFast);
  AddRuns(Multiple, kSlow);
  const auto by_field = [](v1::RunDescription& description) {
    Dynamic(description);
    description.set_input("synthetic");
  };
  const auto by_label = [](v1::RunDescription& description) {
    Multiple(description);
    description.mutable_labels()->insert({"input", "synthetic"});
  };
  AddRuns(by_field, {0.50e-3, 0.51e-3, 0.52e-3});
  EXPECT_EQ(CompareBy("policy").cells_size(), 1);
  EXPECT_EQ(CompareBy("policy").cells(0).pairs(0).n_a(), 3u);
  AddRuns(by_label, {0.60e-3, 0.61e-3, 0.62e-3});
  const v1::CompareRunsResponse response = CompareBy("policy");
  ASSERT_EQ(response.cells_size(), 2);
  EXPECT_EQ(response.cells(0).factors().at("input"), "served");
  EXPECT_EQ(response.cells(1).factors().at("input"), "synthetic");
  EXPECT_EQ(CompareBy("input").cells(0).pairs(0).a(), "served");
}

TEST_F(Comparisons, PlannedStepsAreAConditionOfLearningAlone) {
  const auto add = [this](const Change& change, std::uint64_t steps, double value) {
    ReportedRun& run = AddRun(change, value * 1e-3);
    run.record().mutable_description()->set_planned_steps(steps);
    v1::Evaluation evaluation;
    evaluation.set_split("test");
    evaluation.set_mae(value);
    run.AddEvaluation(evaluation);
  };
  add(Dynamic, 100, 1.00);
  add(Dynamic, 200, 1.01);
  add(Dynamic, 100, 1.02);
  for (const double value : {2.00, 2.01, 2.02}) add(Multiple, 100, value);
  EXPECT_EQ(CompareBy("policy").cells(0).pairs(0).verdict(), v1::VERDICT_FASTER);
  v1::CompareRunsRequest request;
  request.set_by("policy");
  request.set_metric("test.mae");
  const v1::PairComparison pair = Compare(request).cells(0).pairs(0);
  EXPECT_EQ(pair.verdict(), v1::VERDICT_MIXED);
  EXPECT_THAT(KeysOf(pair.mixed()), ElementsAre("planned_steps"));
}

TEST_F(Comparisons, HardwareIsComparedWithItsCpuAndOtherwiseBothMakeCells) {
  const auto on = [](const std::string& gpu, const std::string& cpu) {
    return [=](v1::RunDescription& description) {
      description.mutable_hardware()->set_device("cuda");
      description.mutable_hardware()->set_name(gpu);
      description.mutable_hardware()->set_cpu(cpu);
    };
  };
  AddRun(on("H200", "Xeon"), 1e-3);
  AddRun(on("A100", "EPYC"), 2e-3);
  const v1::CompareRunsResponse by_hardware = CompareBy("hardware");
  ASSERT_EQ(by_hardware.cells_size(), 1);
  EXPECT_EQ(by_hardware.cells(0).pairs(0).a(), "A100, EPYC");
  EXPECT_EQ(by_hardware.cells(0).pairs(0).b(), "H200, Xeon");
  EXPECT_FALSE(by_hardware.cells(0).factors().contains("cpu"));
  AddRun(
      [&](v1::RunDescription& description) {
        on("H200", "EPYC")(description);
        Dynamic(description);
      },
      1e-3);
  EXPECT_EQ(CompareBy("policy").cells_size(), 0);
}

TEST_F(Comparisons, AnyConditionNoteOrLabelIsComparedByText) {
  const auto with = [](double rate, const std::string& host, const std::string& label) {
    return [=](v1::RunDescription& description) {
      description.set_learning_rate(rate);
      description.mutable_hardware()->set_host(host);
      if (!label.empty()) description.mutable_labels()->insert({"try", label});
    };
  };
  const std::string values[] = {"7", "007", "nan", "1e400", "inf", "7.0", ""};
  for (std::size_t i = 0; i < std::size(values); ++i) {
    AddRun(with(i < 3 ? 1e-4 : 1.0000001e-4, i < 3 ? "h1" : "h2", values[i]),
           1e-3 + 1e-5 * static_cast<double>(i));
  }
  const v1::PairComparison by_rate = CompareBy("learning_rate").cells(0).pairs(0);
  EXPECT_EQ(by_rate.a(), "0.0001");
  EXPECT_EQ(by_rate.b(), "0.00010000001");
  EXPECT_EQ(by_rate.n_b(), 4u);
  EXPECT_THAT(KeysOf(by_rate.also_differs()), ElementsAre("host"));
  EXPECT_EQ(CompareBy("host").cells(0).pairs(0).n_a(), 3u);
  const v1::CompareRunsResponse by_label = CompareBy("label.try");
  EXPECT_EQ(by_label.cells(0).pairs_size(), 15);  // of six sides
  ASSERT_EQ(by_label.excluded_size(), 1);
  EXPECT_EQ(by_label.excluded(0).reason(), "its label.try is not given");
}

TEST_F(Comparisons, MannWhitneyIsShownFromFiveRunsASide) {
  AddRuns(Dynamic, {1.00e-3, 1.01e-3, 1.02e-3, 1.03e-3, 1.04e-3});
  AddRuns(Multiple, {2.00e-3, 2.01e-3, 2.02e-3, 2.03e-3, 2.04e-3});
  // stats.mannwhitneyu([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]).pvalue
  EXPECT_NEAR(CompareBy("policy").cells(0).pairs(0).mann_whitney_p(), 0.007936507936507936, kTolerance);
}

TEST_F(Comparisons, EachCombinationOfTheOtherFactorsIsACell) {
  const auto with_graphs = [](const Change& policy, std::uint32_t graphs) {
    return [policy, graphs](v1::RunDescription& description) {
      policy(description);
      description.mutable_spec()->set_graphs(graphs);
    };
  };
  for (const std::uint32_t graphs : {32u, 64u}) {
    AddRuns(with_graphs(Dynamic, graphs), kFast);
    AddRuns(with_graphs(Multiple, graphs), kSlow);
  }
  const v1::CompareRunsResponse by_policy = CompareBy("policy");
  ASSERT_EQ(by_policy.cells_size(), 2);
  EXPECT_THAT(by_policy.cells(0).factors(),
              UnorderedElementsAre(Pair("model", "schnet"), Pair("target", "energy"), Pair("dataset", "qm9"),
                                   Pair("version", "1"), Pair("precision", "f32"), Pair("engine", "eager"),
                                   Pair("input", "served"), Pair("world_size", "1"), Pair("batch_graphs", "32"),
                                   Pair("hardware", "Xeon"), Pair("cpu", "")));
  EXPECT_EQ(by_policy.cells(1).factors().at("batch_graphs"), "64");
  // Holm is over the pairs of all cells.
  EXPECT_NEAR(by_policy.cells(0).pairs(0).holm_p(), 2 * 0.0006115535836540797, kTolerance);
  EXPECT_EQ(CompareBy("batch_graphs").cells(0).pairs(0).a(), "32");
}

TEST_F(Comparisons, ValuesAreInOrderOfNumbers) {
  for (const std::uint32_t graphs : {127u, 31u, 1024u}) {
    AddRun([graphs](v1::RunDescription& d) { d.mutable_spec()->set_graphs(graphs); }, 1e-3);
  }
  const v1::CompareRunsResponse response = CompareBy("batch_graphs");
  ASSERT_EQ(response.cells(0).pairs_size(), 3);
  EXPECT_EQ(response.cells(0).pairs(0).a(), "31");
  EXPECT_EQ(response.cells(0).pairs(0).b(), "127");
  EXPECT_EQ(response.cells(0).pairs(1).b(), "1024");
}

TEST_F(Comparisons, VersionsOfADatasetNeverMix) {
  const auto on = [](const std::string& dataset, const Change& policy) {
    return [dataset, policy](v1::RunDescription& description) {
      policy(description);
      description.set_dataset(dataset);
    };
  };
  AddRuns(on("qm9@1", Dynamic), {1e-3, 4e-3});
  AddRuns(on("qm9@2", Dynamic), {2e-3, 4e-3, 8e-3});
  AddRun(on("aflow@3", Dynamic), 8e-3);
  AddRun(on("qm9@1", Multiple), 1e-3);
  AddRun(on("qm9@2", Multiple), 2e-3);

  const v1::CompareRunsResponse by_policy = CompareBy("policy");
  ASSERT_EQ(by_policy.cells_size(), 2);
  EXPECT_EQ(by_policy.cells(0).factors().at("version"), "1");
  EXPECT_EQ(by_policy.cells(0).pairs(0).n_a(), 2u);
  EXPECT_EQ(by_policy.cells(1).factors().at("version"), "2");
  EXPECT_EQ(by_policy.cells(1).pairs(0).n_a(), 3u);

  const v1::CompareRunsResponse by_version = CompareBy("version");
  ASSERT_EQ(by_version.cells_size(), 2);
  EXPECT_EQ(by_version.cells(0).factors().at("dataset"), "qm9");
  EXPECT_EQ(by_version.cells(0).pairs(0).a(), "1");
  EXPECT_NEAR(by_version.cells(0).pairs(0).ratio(), 0.5, kTolerance);

  const v1::CompareRunsResponse by_dataset = CompareBy("dataset");
  ASSERT_EQ(by_dataset.cells_size(), 2);
  ASSERT_EQ(by_dataset.cells(0).pairs_size(), 3);
  EXPECT_EQ(by_dataset.cells(0).pairs(0).a(), "aflow@3");
  EXPECT_EQ(by_dataset.cells(0).pairs(0).b(), "qm9@1");
  EXPECT_NEAR(by_dataset.cells(0).pairs(0).ratio(), 4, kTolerance);
  EXPECT_FALSE(by_dataset.cells(0).factors().contains("version"));
}

TEST_F(Comparisons, SeedsHostAndLabelsMakeRepeats) {
  AddRuns(Dynamic, {1.00e-3, 1.01e-3});
  AddRun(
      [](v1::RunDescription& description) {
        Dynamic(description);
        description.set_model_seed(7);
        description.mutable_spec()->set_seed(8);
        description.set_plan_fingerprint("ff");
        description.mutable_hardware()->set_host("other");
        description.mutable_labels()->insert({"a", "b"});
      },
      1.02e-3);
  AddRuns(Multiple, {2.00e-3, 2.01e-3, 2.02e-3});
  const v1::CompareRunsResponse response = CompareBy("policy");
  ASSERT_EQ(response.cells_size(), 1);
  EXPECT_EQ(response.cells(0).pairs(0).n_a(), 3u);
  EXPECT_EQ(response.cells(0).pairs(0).verdict(), v1::VERDICT_FASTER);
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
  refused("say by which setting to compare: balance, batch_graphs, budget_sample, ");
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
