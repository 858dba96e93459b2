// Runs that are copies or repeats of each other in a comparison.
#include <gmock/gmock.h>

#include <cstdint>

#include "tests/server/analysis/comparison_fixtures.h"

namespace packtrain::analysis {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace packtrain::analysis
