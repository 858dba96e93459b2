#include <gmock/gmock.h>
#include <torch/types.h>

#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "tests/testing/status_matchers.h"
#include "tests/trainer/molecules.h"
#include "trainer/data/device_feed.h"
#include "trainer/engine/flat_parameters.h"
#include "trainer/models/model.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::BatchOf;
using packtrain::testing::Molecule;
using packtrain::testing::Molecules;
using packtrain::testing::StatusIs;
using ::testing::HasSubstr;

constexpr std::uint32_t kSeed = 7;

std::shared_ptr<Model> MakeSchNet(std::int64_t classes = 4, std::uint32_t seed = kSeed) {
  return FindModel("schnet")->create({.classes = classes, .seed = seed});
}

GraphTensors TensorsOf(const wire::Batch& batch) {
  return testing::TensorsOf(batch, testing::MoleculesTarget("energy"));
}

// Prediction of each molecule, and the gradient of the sum of the predictions' squares.
struct Outcome {
  at::Tensor predictions;
  at::Tensor gradient;
};

Outcome OutcomeOf(const GraphTensors& graphs, std::int64_t real_graphs) {
  const std::shared_ptr<Model> model = MakeSchNet();
  FlatParameters parameters(*model);
  const at::Tensor predictions = model->Forward(graphs).narrow(0, 0, real_graphs);
  const at::Tensor zero = at::zeros({});
  parameters.Differentiate(predictions.square().sum(), {zero, zero, zero, zero});
  return {predictions.detach(), parameters.gradients().clone()};
}

Outcome OutcomeOf(std::span<const Molecule> molecules) {
  return OutcomeOf(TensorsOf(BatchOf(molecules)), static_cast<std::int64_t>(molecules.size()));
}

void ExpectClose(const at::Tensor& actual, const at::Tensor& expected) {
  ASSERT_GT(expected.abs().max().item<float>(), 1e-4) << "nothing to compare";
  EXPECT_LT(((actual - expected).abs().max() / expected.abs().max()).item<float>(), 2e-5);
}

TEST(SchNet, HasTheParametersOfThePaper) {
  EXPECT_EQ(CountParameters(*MakeSchNet(5)), 80'352);
  EXPECT_EQ(CountParameters(*MakeSchNet(74)), 84'768);
}

TEST(SchNet, StartsFromItsSeedAlone) {
  EXPECT_EQ(FlatParameters(*MakeSchNet(4, 1)).Checksum(), FlatParameters(*MakeSchNet(4, 1)).Checksum());
  EXPECT_NE(FlatParameters(*MakeSchNet(4, 1)).Checksum(), FlatParameters(*MakeSchNet(4, 2)).Checksum());
}

TEST(SchNet, PackedGraphsAreWorthTheSameAsEachAlone) {
  const std::vector<Molecule> molecules = Molecules();
  std::vector<at::Tensor> predictions;
  at::Tensor gradient = at::zeros_like(OutcomeOf(molecules).gradient);
  for (const Molecule& molecule : molecules) {
    const Outcome alone = OutcomeOf(std::span(&molecule, 1));
    predictions.push_back(alone.predictions);
    gradient += alone.gradient;
  }
  const Outcome packed = OutcomeOf(molecules);
  ExpectClose(packed.predictions, at::cat(predictions));
  ExpectClose(packed.gradient, gradient);
}

TEST(SchNet, GarbageInThePaddingChangesNothing) {
  const std::vector<Molecule> molecules = Molecules();
  const std::int64_t nodes = 15, graphs = 5;
  GraphTensors padded = TensorsOf(BatchOf(molecules, {.graphs = 7, .nodes = 64, .edges = 128}));
  padded.positions.narrow(0, nodes, 64 - nodes).normal_(3, 100);
  padded.classes.narrow(0, nodes, 64 - nodes).random_(0, 4);
  padded.target.narrow(0, graphs, 2).fill_(1e6);
  const Outcome with_garbage = OutcomeOf(padded, graphs);
  const Outcome without_padding = OutcomeOf(molecules);
  ExpectClose(with_garbage.predictions, without_padding.predictions);
  ExpectClose(with_garbage.gradient, without_padding.gradient);
}

// A rotation about (1, 2, 3) and a shift.
Molecule Moved(Molecule molecule) {
  const double angle = 0.7, c = std::cos(angle), s = std::sin(angle), norm = std::sqrt(14.0);
  const std::array<double, 3> axis = {1 / norm, 2 / norm, 3 / norm};
  for (std::array<float, 3>& p : molecule.pos) {
    const double along = axis[0] * p[0] + axis[1] * p[1] + axis[2] * p[2];
    std::array<float, 3> moved;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
      const double cross = axis[j] * p[k] - axis[k] * p[j];
      moved[i] =
          static_cast<float>(c * p[i] + s * cross + (1 - c) * along * axis[i] + 1.5 * static_cast<double>(i));
    }
    p = moved;
  }
  return molecule;
}

TEST(SchNet, EnergyDoesNotDependOnPlaceOrOrientation) {
  std::vector<Molecule> moved;
  for (const Molecule& molecule : Molecules()) moved.push_back(Moved(molecule));
  ExpectClose(OutcomeOf(moved).predictions, OutcomeOf(Molecules()).predictions);
}

TEST(SchNet, TellsMoleculesApart) {
  const at::Tensor predictions = OutcomeOf(Molecules()).predictions;
  const at::Tensor sorted = std::get<0>(predictions.sort());
  EXPECT_GT(sorted.diff().min().item<float>(), 1e-4);
}

TEST(Models, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  EXPECT_THAT(FindModel("mlp"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("schnet")));
}

}  // namespace
}  // namespace packtrain::trainer
