#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <torch/types.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/testing/status_matchers.h"
#include "tests/trainer/molecules.h"
#include "tests/trainer/trainee.h"
#include "trainer/engine/adam.h"
#include "trainer/engine/step_timeline.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::BatchOf;
using packtrain::testing::IsOk;
using packtrain::testing::Molecule;
using packtrain::testing::Molecules;
using packtrain::testing::StatusIs;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Molecules are too small for several threads.
class OneThread final : public ::testing::Environment {
  void SetUp() override { at::set_num_threads(1); }
};
const ::testing::Environment* const kOneThread = ::testing::AddGlobalTestEnvironment(new OneThread);

TEST(EagerExecutor, ReadsInPlaceWhatStaysWhereItIsAndFillsOthers) {
  GraphTensors read;
  const std::unique_ptr<ShapeExecutor> executor = OpenCpu()
                                                      ->NewExecutor({}, testing::MoleculesLayout(),
                                                                    [&read](const GraphTensors& inputs) {
                                                                      read = inputs;
                                                                      return absl::OkStatus();
                                                                    })
                                                      .value();
  const GraphTensors resident = TensorsOf(Molecules());
  executor->ReadInPlace(resident);
  ASSERT_THAT(executor->Run(), IsOk());
  EXPECT_TRUE(read.positions.is_same(resident.positions));
  const wire::Shape padded = {.graphs = static_cast<std::uint32_t>(resident.n_node.size(0)),
                              .nodes = static_cast<std::uint32_t>(resident.graph_of_node.size(0)),
                              .edges = static_cast<std::uint32_t>(resident.senders.size(0))};
  EXPECT_FALSE(executor->InputsFor(padded).positions.is_same(resident.positions));
}

TEST(DeviceFeed, NormalisesTheChosenColumn) {
  const Target target = testing::MoleculesTargets("energy").front();
  const GraphTensors graphs = TensorsOf(Molecules());
  const std::vector<Molecule> molecules = Molecules();
  double mean = 0, square = 0;
  for (std::size_t i = 0; i < molecules.size(); ++i) {
    const auto value = graphs.targets[static_cast<std::int64_t>(i)].item<double>();
    EXPECT_NEAR(value * target.scale + target.mean, molecules[i].y[0], 1e-5);
    mean += value / 5;
    square += value * value / 5;
  }
  EXPECT_NEAR(mean, 0, 1e-6);
  EXPECT_NEAR(square, 1, 1e-5);
}

TEST(DeviceFeed, WeighsRealGraphsThatHaveTheTarget) {
  const at::Tensor energy = at::tensor({1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 0.0f});
  const at::Tensor dipole = at::tensor({0.0f, 1.0f, 1.0f, 1.0f, 1.0f, 0.0f});
  EXPECT_TRUE(TensorsOf(Molecules(), "energy").weights.equal(energy.unsqueeze(1)));
  EXPECT_TRUE(TensorsOf(Molecules(), "dipole").weights.equal(dipole.unsqueeze(1)));
  EXPECT_FALSE(TensorsOf(Molecules(), "dipole").targets.isnan().any().item<bool>());
}

TEST(DeviceFeed, BringsSeveralTargetsInTheirOrder) {
  const GraphTensors both = TensorsOf(Molecules(), "dipole,energy");
  const GraphTensors dipole = TensorsOf(Molecules(), "dipole"), energy = TensorsOf(Molecules(), "energy");
  EXPECT_TRUE(both.targets.equal(at::cat({dipole.targets, energy.targets}, 1)));
  EXPECT_TRUE(both.weights.equal(at::cat({dipole.weights, energy.weights}, 1)));
}

TEST(DeviceFeed, RefusesAnAtomThatTheDataSetDoesNotHave) {
  std::vector<Molecule> molecules = Molecules();
  molecules[2].z[0] = 16;
  EXPECT_THAT(MakeFeed("energy").Expand(BatchOf(molecules, kPadded),
                                        NewGraphTensors(kPadded, testing::MoleculesLayout(), at::kCPU)),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("atomic number 16")));
}

// The sum of gradients over `graphs` graphs, and the sums of a step.
at::Tensor Reduced(const std::vector<float>& gradients, float graphs, float withdrawals = 0) {
  return at::cat({at::tensor(gradients), at::tensor({0.0f, graphs, withdrawals, 0.0f})});
}

TEST(Adam, FirstStepsAreThoseOfTheFormula) {
  const at::Tensor parameters = at::tensor({1.0f, -2.0f});
  Adam adam(parameters, {.learning_rate = 0.1});
  double m = 0, v = 0, expected = 1;
  for (int step = 1; step <= 3; ++step) {
    const double gradient = 0.5 * step;
    m = 0.9 * m + 0.1 * gradient;
    v = 0.999 * v + 0.001 * gradient * gradient;
    expected -= 0.1 * (m / (1 - std::pow(0.9, step))) / (std::sqrt(v / (1 - std::pow(0.999, step))) + 1e-8);
    adam.BeginStep(step - 1);
    adam.Step(Reduced({4 * static_cast<float>(gradient), 0}, /*graphs=*/4));
    EXPECT_NEAR(parameters[0].item<float>(), expected, 1e-6);
  }
  EXPECT_EQ(parameters[1].item<float>(), -2);
}

TEST(Adam, AWithdrawalHaltsForGood) {
  const at::Tensor parameters = at::tensor({1.0f, -2.0f});
  Adam adam(parameters, {});
  adam.BeginStep(0);
  adam.Step(Reduced({0.5f, -3.0f}, 1));
  const at::Tensor before = parameters.clone();
  for (const float withdrawals : {1.0f, 0.0f}) {
    const at::Tensor reduced = Reduced({0.5f, -3.0f}, 1, withdrawals);
    adam.Step(reduced);
    EXPECT_EQ(reduced[-1].item<float>(), 1);
  }
  EXPECT_TRUE(parameters.equal(before));
  EXPECT_EQ(adam.halted().item<float>(), 1);
}

TEST(Adam, AGradientThatIsNotFiniteHalts) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const at::Tensor parameters = at::tensor({1.0f, -2.0f});
    Adam adam(parameters, {});
    adam.BeginStep(0);
    adam.Step(Reduced({bad, 1.0f}, 1));
    EXPECT_TRUE(parameters.equal(at::tensor({1.0f, -2.0f})));
    EXPECT_EQ(adam.halted().item<float>(), 1);
  }
}

std::vector<double> RatesOf(const AdamOptions& options, std::uint64_t steps) {
  const Adam adam(at::zeros({1}), options);
  std::vector<double> rates;
  for (std::uint64_t step = 0; step < steps; ++step) rates.push_back(adam.LearningRate(step));
  return rates;
}

TEST(Adam, LearningRateGoesDownAlongHalfACosine) {
  const AdamOptions options = {.learning_rate = 2, .schedule = RateSchedule::kCosine, .steps = 4};
  const double diagonal = std::sqrt(0.5);
  EXPECT_THAT(RatesOf(options, 6), ElementsAre(2, DoubleNear(1 + diagonal, 1e-12), DoubleNear(1, 1e-12),
                                               DoubleNear(1 - diagonal, 1e-12), 0, 0));
}

TEST(Adam, LearningRateStaysWhereItIsConstant) {
  EXPECT_THAT(RatesOf({.learning_rate = 2, .schedule = RateSchedule::kConstant, .decay_steps = 1}, 3),
              ElementsAre(2, 2, 2));
}

TEST(Adam, LearningRateGrowsStepByStepWhileItWarmsUp) {
  AdamOptions options = {.learning_rate = 4, .schedule = RateSchedule::kConstant, .warmup_steps = 4};
  EXPECT_THAT(RatesOf(options, 6), ElementsAre(1, 2, 3, 4, 4, 4));
  options.schedule = RateSchedule::kCosine;
  options.steps = 6;
  EXPECT_THAT(RatesOf(options, 7), ElementsAre(1, 2, 3, 4, 4, DoubleNear(2, 1e-12), 0));
  options = {.learning_rate = 4, .decay = 0.5, .decay_steps = 2, .warmup_steps = 2};
  EXPECT_THAT(RatesOf(options, 5), ElementsAre(2, 4, 2, 2, 1)) << "stairs begin with the first step";
}

TEST(Adam, AScheduleIsSaidInWords) {
  AdamOptions options = {.decay = 0.5, .decay_steps = 9};
  EXPECT_EQ(DescribeSchedule(options), "staircase 0.5 every 9");
  EXPECT_EQ(Describe(options), "adam lr=0.0001 decay=0.5/9");
  options.schedule = RateSchedule::kConstant;
  options.warmup_steps = 7;
  EXPECT_EQ(DescribeSchedule(options), "warm-up of 7 steps, then constant");
  EXPECT_EQ(Describe(options), "adam lr=0.0001");
  options = {.schedule = RateSchedule::kCosine, .steps = 30};
  EXPECT_EQ(DescribeSchedule(options), "cosine to 0 at step 30");
}

TEST(Adam, LearningRateGoesDownInStairs) {
  const Adam adam(at::zeros({1}), {.learning_rate = 1e-4, .decay = 0.5, .decay_steps = 2});
  std::vector<double> rates;
  for (std::uint64_t step = 0; step < 5; ++step) rates.push_back(adam.LearningRate(step));
  EXPECT_THAT(rates, ElementsAre(1e-4, 1e-4, 5e-5, 5e-5, 2.5e-5));
}

TEST(Adam, FollowsTheStairs) {
  const at::Tensor parameters = at::zeros({1});
  Adam adam(parameters, {.learning_rate = 0.5, .decay = 0.25, .decay_steps = 1});
  for (std::uint64_t step = 0; step < 2; ++step) {
    adam.BeginStep(step);
    adam.Step(Reduced({1}, 1));
  }
  EXPECT_NEAR(parameters.item<float>(), -0.5 - 0.125, 1e-6);
}

TEST(StepEngine, AnEmptyBatchHasNoGradient) {
  Trainee trainee(Alone());
  EXPECT_EQ(trainee.GradientOf(PaddedBatch({})).abs().max().item<float>(), 0);
}

TEST(StepEngine, AnEmptyBatchWithoutSlotsHasNoGradient) {
  for (const at::ScalarType edge_type : {at::kFloat, at::kBFloat16}) {
    Trainee trainee(Alone(), edge_type);
    EXPECT_EQ(trainee.GradientOf(BatchOf({}, {.graphs = 4})).abs().max().item<float>(), 0) << edge_type;
  }
}

// As where all graphs of a batch are left out: all of its slots are padding.
TEST(StepEngine, AnEmptyBatchInTheShapeOfAWholeOneChangesNothing) {
  Trainee trainee(Alone());
  const at::Tensor before = trainee.parameters().values().clone();
  const wire::Shape whole = BatchOf(Molecules()).header().real;
  EXPECT_EQ(trainee.GradientOf(BatchOf({}, whole)).abs().max().item<float>(), 0);
  EXPECT_TRUE(trainee.parameters().values().equal(before));
  EXPECT_TRUE(std::isnan(trainee.steps().front().loss));
}

TEST(StepEngine, WhatIsLeftOfABatchInItsShapeIsABatchOfItsOwn) {
  const std::vector<Molecule> molecules = Molecules();
  const std::span<const Molecule> left = std::span(molecules).subspan(2);
  Trainee of_left_out(Alone()), of_own(Alone());
  const at::Tensor in_shape_of_all = of_left_out.GradientOf(BatchOf(left, BatchOf(molecules).header().real));
  const at::Tensor by_itself = of_own.GradientOf(PaddedBatch(left));
  EXPECT_LT((in_shape_of_all - by_itself).abs().max().item<float>(), 1e-4);
  EXPECT_EQ(in_shape_of_all[-static_cast<int>(kStepSums) + kTerms].item<float>(), 3) << "graphs that count";
}

TEST(StepEngine, AGraphWithoutTheTargetHasNoGradient) {
  const std::vector<Molecule> molecules = Molecules();
  Trainee all(Alone()), known(Alone());
  const at::Tensor with_missing = all.GradientOf(PaddedBatch(molecules), "dipole");
  const at::Tensor without = known.GradientOf(PaddedBatch(std::span(molecules).subspan(1)), "dipole");
  EXPECT_LT((with_missing - without).abs().max().item<float>(), 1e-4);
  EXPECT_EQ(with_missing[-static_cast<int>(kStepSums) + kTerms].item<float>(), 4) << "graphs that count";
}

TEST(StepEngine, StepsLowerTheLoss) {
  for (const at::ScalarType edge_type : {at::kFloat, at::kBFloat16}) {
    Trainee trainee(Alone(), edge_type);
    const wire::Batch graphs = PaddedBatch(Molecules());
    for (int step = 0; step < 60; ++step) ASSERT_THAT(trainee.Step(graphs), IsOk());
    EXPECT_LT(trainee.steps().back().loss, 0.5 * trainee.steps().front().loss) << edge_type;
  }
}

TEST(StepEngine, ANumberThatIsNotFiniteHaltsThisStepAndAllAfter) {
  Trainee trainee(Alone());
  ASSERT_THAT(trainee.Step(PaddedBatch(Molecules())), IsOk());
  EXPECT_EQ(trainee.last().sums[kHalted], 0);
  const std::string before = trainee.parameters().Checksum();
  std::vector<Molecule> broken = Molecules();
  broken[1].pos[0][0] = std::numeric_limits<float>::quiet_NaN();
  for (const std::vector<Molecule>& molecules : {broken, Molecules()}) {
    ASSERT_THAT(trainee.Step(PaddedBatch(molecules)), IsOk());
    EXPECT_EQ(trainee.last().sums[kHalted], 1);
    EXPECT_EQ(trainee.last().sums[kWithdrawals], 0);
  }
  EXPECT_EQ(trainee.parameters().Checksum(), before);
}

TEST(StepEngine, TheCpuHasNoCaptures) {
  EXPECT_THAT(
      OpenCpu()->NewExecutor({.captured = true}, {}, [](const GraphTensors&) { return absl::OkStatus(); }),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--engine captured")));
}

TEST(StepEngine, PhasesLieWithinTheStep) {
  Trainee trainee(Alone());
  for (int step = 0; step < 5; ++step) ASSERT_THAT(trainee.Step(PaddedBatch(Molecules())), IsOk());
  ASSERT_EQ(trainee.steps().size(), 5);
  for (const wire::StepRecord& step : trainee.steps()) {
    EXPECT_GT(step.forward_ns, 0);
    EXPECT_GT(step.backward_ns, 0);
    EXPECT_LE(step.copy_ns + step.forward_ns + step.backward_ns + step.comm_ns + step.optimizer_ns,
              step.total_ns);
  }
}

TEST(StepEngine, AStepWithoutGraphsHasNoLoss) {
  Trainee trainee(Alone());
  ASSERT_THAT(trainee.Step(PaddedBatch({})), IsOk());
  EXPECT_TRUE(std::isnan(trainee.steps().front().loss));
}

TEST(StepTimeline, HandsOverNoMoreThanIsAskedFor) {
  const std::unique_ptr<StepClock> clock = OpenCpu()->NewClock();
  std::size_t handed_over = 0;
  StepTimeline timeline(*clock, [&](const wire::StepRecord&, const StepReading&) { ++handed_over; });
  for (int step = 0; step < 3; ++step) {
    timeline.Begin({});
    timeline.End();
  }
  timeline.HandOver(2);
  EXPECT_EQ(handed_over, 1) << "though the others have ended, too";
  timeline.HandOverEnded();
  EXPECT_EQ(handed_over, 3);
}

}  // namespace
}  // namespace packtrain::trainer
