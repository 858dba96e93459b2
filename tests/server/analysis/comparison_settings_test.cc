// Conditions and notes in a comparison: what withholds a verdict, and what stands beside it.
#include <gmock/gmock.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "tests/server/analysis/comparison_fixtures.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::analysis {
namespace {

using ::packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace packtrain::analysis
