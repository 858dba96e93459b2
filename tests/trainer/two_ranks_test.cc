// Two ranks train as one.
#include <gmock/gmock.h>
#include <torch/types.h>

#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/testing/status_matchers.h"
#include "tests/trainer/molecules.h"
#include "tests/trainer/trainee.h"
#include "tests/trainer/two_ranks.h"
#include "trainer/ranks/gradient_sync.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::Molecule;
using packtrain::testing::Molecules;
using packtrain::testing::WithTwoRanks;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::IsNan;

// Parameters after three steps in which two ranks train on these.
at::Tensor TrainOnTwoRanks(std::span<const Molecule> zero, std::span<const Molecule> one) {
  at::Tensor parameters;
  WithTwoRanks(
      [&](std::unique_ptr<GradientSync> sync) {
        Trainee trainee(std::move(sync));
        for (int step = 0; step < 3; ++step) ASSERT_THAT(trainee.Step(PaddedBatch(zero)), IsOk());
        parameters = trainee.parameters().values().clone();
        ASSERT_THAT(trainee.sync().Barrier(), IsOk());
      },
      [&](std::unique_ptr<GradientSync> sync) {
        Trainee trainee(std::move(sync));
        for (int step = 0; step < 3; ++step) ASSERT_THAT(trainee.Step(PaddedBatch(one)), IsOk());
        ASSERT_THAT(trainee.sync().Barrier(), IsOk());
      });
  return parameters;
}

at::Tensor TrainAlone(std::span<const Molecule> molecules) {
  Trainee trainee(Alone());
  for (int step = 0; step < 3; ++step) EXPECT_THAT(trainee.Step(PaddedBatch(molecules)), IsOk());
  return trainee.parameters().values().clone();
}

// Adam divides by the gradient's own size, so where that is rounding noise a step is noise of the size of the
// learning rate: the comparison is of the whole, not of the worst element.
void ExpectSameTraining(const at::Tensor& actual, const at::Tensor& expected) {
  ASSERT_EQ(actual.numel(), expected.numel());
  EXPECT_LT(((actual - expected).norm() / expected.norm()).item<float>(), 1e-4);
}

TEST(TwoRanks, TrainAsOneOnTheGlobalBatch) {
  const std::vector<Molecule> molecules = Molecules();
  const std::span<const Molecule> all(molecules);
  ExpectSameTraining(TrainOnTwoRanks(all.first(2), all.subspan(2)), TrainAlone(all));
}

TEST(TwoRanks, AnEmptyBatchOnOneDoesNotChangeTheOther) {
  const std::vector<Molecule> molecules = Molecules();
  ExpectSameTraining(TrainOnTwoRanks(molecules, {}), TrainAlone(molecules));
}

// Losses of a step that two ranks make of these batches, as either of them records it.
std::vector<double> LossesOnTwoRanks(std::span<const Molecule> zero, std::span<const Molecule> one,
                                     const std::string& target) {
  std::vector<double> losses(2);
  const auto train = [&losses, target](std::span<const Molecule> molecules) {
    return [&losses, target, molecules](std::unique_ptr<GradientSync> sync) {
      Trainee trainee(std::move(sync), at::kFloat, target);
      ASSERT_THAT(trainee.Step(PaddedBatch(molecules), target), IsOk());
      losses[trainee.sync().world().rank] = trainee.steps().front().loss;
      ASSERT_THAT(trainee.sync().Barrier(), IsOk());
    };
  };
  WithTwoRanks(train(zero), train(one));
  return losses;
}

double LossAlone(std::span<const Molecule> molecules) {
  Trainee trainee(Alone());
  EXPECT_THAT(trainee.Step(PaddedBatch(molecules)), IsOk());
  return trainee.steps().front().loss;
}

TEST(TwoRanks, BothRecordTheLossOverTheGraphsOfBoth) {
  const std::vector<Molecule> molecules = Molecules();
  const std::span<const Molecule> all(molecules);
  const double expected = LossAlone(all);
  const double tolerance = 1e-5 * expected;
  ASSERT_GT(std::abs(LossAlone(all.first(2)) - expected), 10 * tolerance);
  EXPECT_THAT(LossesOnTwoRanks(all.first(2), all.subspan(2), "energy"), Each(DoubleNear(expected, tolerance)));
}

TEST(TwoRanks, ARankWithoutAKnownTargetRecordsTheLossOfTheOther) {
  const std::vector<Molecule> molecules = Molecules();
  const double expected = LossAlone(molecules);
  EXPECT_THAT(LossesOnTwoRanks({}, molecules, "energy"), Each(DoubleNear(expected, 1e-5 * expected)));
  EXPECT_THAT(LossesOnTwoRanks({}, {}, "energy"), Each(IsNan()));
}

TEST(TwoRanks, AbandonTheStepThatOneWithdrawsFrom) {
  WithTwoRanks(
      [](std::unique_ptr<GradientSync> sync) {
        Trainee trainee(std::move(sync));
        ASSERT_THAT(trainee.Step(PaddedBatch(Molecules())), IsOk());
        const std::string before = trainee.parameters().Checksum();
        ASSERT_THAT(trainee.Step(PaddedBatch(Molecules())), IsOk());
        EXPECT_EQ(trainee.last().sums[kHalted], 1);
        EXPECT_EQ(trainee.last().sums[kWithdrawals], 1);
        EXPECT_EQ(trainee.parameters().Checksum(), before);
        ASSERT_THAT(trainee.sync().Barrier(), IsOk());
      },
      [](std::unique_ptr<GradientSync> sync) {
        Trainee trainee(std::move(sync));
        ASSERT_THAT(trainee.Step(PaddedBatch({})), IsOk());
        ASSERT_THAT(trainee.Withdraw(), IsOk());
        ASSERT_THAT(trainee.sync().Barrier(), IsOk());
      });
}

}  // namespace
}  // namespace packtrain::trainer
