#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"
#include "tests/trainer/molecules.h"
#include "tests/trainer/two_ranks.h"
#include "trainer/data/host_feed.h"
#include "trainer/engine/adam.h"
#include "trainer/engine/device.h"
#include "trainer/engine/flat_parameters.h"
#include "trainer/engine/step_timeline.h"
#include "trainer/engine/trained_model.h"
#include "trainer/models/model.h"
#include "trainer/ranks/gradient_sync.h"
#include "trainer/run/evaluation.h"
#include "trainer/run/rank_checkpoints.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::BatchOf;
using packtrain::testing::IsOk;
using packtrain::testing::Molecule;
using packtrain::testing::Molecules;
using packtrain::testing::StatusIs;
using packtrain::testing::WithTwoRanks;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsNan;

// Molecules are too small for several threads.
class OneThread final : public ::testing::Environment {
  void SetUp() override { at::set_num_threads(1); }
};
const ::testing::Environment* const kOneThread = ::testing::AddGlobalTestEnvironment(new OneThread);

constexpr wire::Shape kPadded = {.graphs = 6, .nodes = 64, .edges = 64};

HostFeed MakeFeed(const std::string& target) { return HostFeed(testing::MoleculesFeed(target)); }

wire::Batch PaddedBatch(std::span<const Molecule> molecules) { return BatchOf(molecules, kPadded); }

GraphTensors TensorsOf(std::span<const Molecule> molecules, const std::string& target = "energy") {
  return testing::TensorsOf(PaddedBatch(molecules), target);
}

std::unique_ptr<GradientSync> Alone() { return std::move(GradientSync::Connect(World{}, {}).value()); }

// A rank with everything that a step needs.
class Trainee {
 public:
  explicit Trainee(std::unique_ptr<GradientSync> sync, at::ScalarType edge_type = at::kFloat,
                   const std::string& target = "energy")
      : sync_(std::move(sync)),
        device_(OpenCpu()),
        trained_(TrainedModel::Create(*FindModel("schnet"),
                                      {.model = {.sizes = {.classes = 4}, .seed = 3, .edge_type = edge_type},
                                       .target = testing::MoleculesTarget(target),
                                       .adam = {.learning_rate = 1e-3}},
                                      *device_, *sync_)
                     .value()),
        timeline_(trained_->clock(), [this](const wire::StepRecord& step, const StepReading& reading) {
          steps_.push_back(step);
          last_ = reading;
        }) {}

  absl::Status Step(const wire::Batch& batch, const std::string& target = "energy") {
    timeline_.Begin({});
    absl::Status status = MakeFeed(target).Expand(batch, trained_->engine().InputsFor(batch.header().padded));
    if (!status.ok()) return status;
    status = trained_->engine().Step(steps_.size()).status();
    if (status.ok()) End();
    return status;
  }

  absl::Status Withdraw() {
    timeline_.Begin({});
    const absl::Status status = trained_->engine().Withdraw();
    if (status.ok()) End();
    return status;
  }

  // Of the squared errors' sum over the batch, and then the sums of a step.
  at::Tensor GradientOf(const wire::Batch& batch, const std::string& target = "energy") {
    EXPECT_THAT(Step(batch, target), IsOk());
    return at::cat({parameters().gradients() * std::max(last_.sums[kTerms], 1.0f), parameters().sums()});
  }

  Model& model() { return trained_->model(); }
  EvaluatorParts PartsWith(DeviceFeed& feed) {
    return {.model = trained_->model(),
            .task = trained_->task(),
            .inputs = trained_->inputs(),
            .feed = feed,
            .device = *device_};
  }
  GradientSync& sync() { return *sync_; }
  FlatParameters& parameters() { return trained_->parameters(); }
  Adam& adam() { return trained_->adam(); }
  const std::vector<wire::StepRecord>& steps() const { return steps_; }
  const StepReading& last() const { return last_; }

 private:
  void End() {
    timeline_.End();
    timeline_.HandOver(0);
  }

  std::unique_ptr<GradientSync> sync_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<TrainedModel> trained_;
  std::vector<wire::StepRecord> steps_;
  StepReading last_;
  StepTimeline timeline_;
};

TEST(DeviceFeed, NormalisesTheChosenColumn) {
  const Target target = testing::MoleculesTarget("energy");
  const GraphTensors graphs = TensorsOf(Molecules());
  const std::vector<Molecule> molecules = Molecules();
  double mean = 0, square = 0;
  for (std::size_t i = 0; i < molecules.size(); ++i) {
    const auto value = graphs.target[static_cast<std::int64_t>(i)].item<double>();
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
  EXPECT_TRUE(TensorsOf(Molecules(), "energy").weight.equal(energy));
  EXPECT_TRUE(TensorsOf(Molecules(), "dipole").weight.equal(dipole));
  EXPECT_FALSE(TensorsOf(Molecules(), "dipole").target.isnan().any().item<bool>());
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

TEST(Adam, LearningRateGoesDownInStairs) {
  const Adam adam(at::zeros({1}), {.learning_rate = 1e-4, .decay = 0.5, .decay_steps = 2});
  std::vector<double> rates;
  for (std::uint64_t step = 0; step < 5; ++step) rates.push_back(adam.LearningRate(step));
  EXPECT_THAT(rates, ::testing::ElementsAre(1e-4, 1e-4, 5e-5, 5e-5, 2.5e-5));
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

// After `steps` steps, with one unsent record of `rank`, whose number is the rank.
Checkpoint CheckpointOf(std::uint32_t rank, std::uint64_t steps) {
  wire::StepRecord record;
  record.step = rank;
  Checkpoint checkpoint;
  checkpoint.position.steps = steps;
  checkpoint.totals.graphs = 10 + rank;
  checkpoint.unsent.steps = {{.rank = rank, .attempt = 7, .steps = {record}}};
  return checkpoint;
}

TEST(Checkpoint, ARestoredModelGoesOnBitByBit) {
  const wire::Batch graphs = PaddedBatch(Molecules());
  Trainee unbroken(Alone()), resumed(Alone());
  for (int step = 0; step < 3; ++step) ASSERT_THAT(unbroken.Step(graphs), IsOk());
  const testing::TempFolder temporary;
  const std::optional<CheckpointFolder> folder = CheckpointFolder::Open(temporary.PathOf("")).value();
  ASSERT_THAT(
      SaveCheckpoint(CheckpointOf(0, 3), unbroken.parameters(), unbroken.adam(), folder, unbroken.sync()),
      IsOk());
  const absl::StatusOr<std::optional<Checkpoint>> checkpoint = LoadCheckpoint(folder, resumed.sync());
  ASSERT_THAT(checkpoint, IsOk());
  ASSERT_THAT(RestoreModel(**checkpoint, resumed.parameters(), resumed.adam()), IsOk());
  for (int step = 0; step < 3; ++step) ASSERT_THAT(unbroken.Step(graphs), IsOk());
  for (int step = 0; step < 3; ++step) ASSERT_THAT(resumed.Step(graphs), IsOk());
  EXPECT_EQ(resumed.parameters().Checksum(), unbroken.parameters().Checksum());
}

TEST(Checkpoint, OfAnotherModelIsRefused) {
  Trainee trainee(Alone());
  Checkpoint checkpoint;
  checkpoint.parameters = {1, 2};
  EXPECT_THAT(RestoreModel(checkpoint, trainee.parameters(), trainee.adam()),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("has 2 parameters")));
}

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

TEST(TwoRanks, KeepOneCheckpointOfBoth) {
  const testing::TempFolder temporary;
  WithTwoRanks(
      [&](std::unique_ptr<GradientSync> sync) {
        Trainee trainee(std::move(sync));
        const std::optional<CheckpointFolder> folder = CheckpointFolder::Open(temporary.PathOf("")).value();
        ASSERT_THAT(
            SaveCheckpoint(CheckpointOf(0, 1), trainee.parameters(), trainee.adam(), folder, trainee.sync()),
            IsOk());
        ASSERT_THAT(LoadCheckpoint(folder, trainee.sync()), IsOk());
      },
      [&](std::unique_ptr<GradientSync> sync) {
        Trainee trainee(std::move(sync));
        ASSERT_THAT(SaveCheckpoint(CheckpointOf(1, 1), trainee.parameters(), trainee.adam(), std::nullopt,
                                   trainee.sync()),
                    IsOk());
        const absl::StatusOr<std::optional<Checkpoint>> read = LoadCheckpoint(std::nullopt, trainee.sync());
        ASSERT_THAT(read, IsOk());
        ASSERT_TRUE(read->has_value());
        EXPECT_EQ((*read)->totals.graphs, 21);
        ASSERT_EQ((*read)->unsent.steps.size(), 2);
        EXPECT_EQ((*read)->unsent.steps[1].rank, 1);
        EXPECT_EQ((*read)->unsent.steps[1].steps.front().step, 1);
      });
}

TEST(Evaluate, CountsEachGraphThatHasTheTarget) {
  const std::vector<Molecule> molecules = Molecules();
  const Target target = testing::MoleculesTarget("dipole");
  Trainee trainee(Alone(), at::kFloat, "dipole");
  const at::NoGradGuard no_grad;
  const at::Tensor predicted = trainee.model().Forward(TensorsOf(molecules, "dipole"));
  double absolute = 0, square = 0, constant = 0, constant_square = 0;
  for (std::size_t i = 1; i < molecules.size(); ++i) {
    const double error =
        predicted[static_cast<std::int64_t>(i)].item<double>() * target.scale + target.mean - molecules[i].y[1];
    absolute += std::abs(error) / 4;
    square += error * error / 4;
    constant += std::abs(molecules[i].y[1] - target.mean) / 4;
    constant_square += std::pow(molecules[i].y[1] - target.mean, 2) / 4;
  }
  HostFeed feed = MakeFeed("dipole");
  const std::unique_ptr<GradientSync> sync = Alone();
  const auto batches = testing::ReaderOf(
      {{molecules[0], molecules[1]}, {}, {molecules[2], molecules[3], molecules[4]}}, absl::OkStatus());
  const std::unique_ptr<Evaluator> evaluator = Evaluator::Create(trainee.PartsWith(feed), {}).value();
  int seen = 0;
  const absl::StatusOr<SplitMetrics> metrics =
      evaluator->Evaluate(*batches, *sync, [&](const wire::BatchHeader&) { ++seen; });
  ASSERT_THAT(metrics, IsOk());
  const Metric mae = *metrics->Find("mae"), rmse = *metrics->Find("rmse");
  EXPECT_EQ(seen, 3) << "headers, that of the empty batch too";
  EXPECT_EQ(metrics->graphs, 4);
  EXPECT_NEAR(mae.value, absolute, 1e-5);
  EXPECT_NEAR(rmse.value, std::sqrt(square), 1e-5);
  EXPECT_NEAR(mae.constant, constant, 1e-6);
  EXPECT_NEAR(rmse.constant, std::sqrt(constant_square), 1e-6);
}

TEST(Evaluate, FailsWithTheStream) {
  Trainee trainee(Alone());
  HostFeed feed = MakeFeed("energy");
  const std::unique_ptr<GradientSync> sync = Alone();
  const auto batches = testing::ReaderOf({Molecules()}, absl::UnavailableError("the server is gone"));
  const std::unique_ptr<Evaluator> evaluator = Evaluator::Create(trainee.PartsWith(feed), {}).value();
  EXPECT_THAT(evaluator->Evaluate(*batches, *sync, [](const wire::BatchHeader&) {}),
              StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace packtrain::trainer
