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
#include "trainer/models/edge_product.h"
#include "trainer/models/model.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::BatchOf;
using packtrain::testing::Molecule;
using packtrain::testing::Molecules;
using packtrain::testing::StatusIs;
using ::testing::HasSubstr;

constexpr std::uint32_t kSeed = 7;

std::shared_ptr<Model> MakeSchNet(std::int64_t classes = 4, std::uint32_t seed = kSeed,
                                  at::ScalarType edge_type = at::kFloat) {
  return FindModel("schnet")->create({.classes = classes, .seed = seed, .edge_type = edge_type});
}

GraphTensors TensorsOf(const wire::Batch& batch) {
  return testing::TensorsOf(batch, testing::MoleculesTarget("energy"));
}

// Prediction of each molecule, and the gradient of the sum of the predictions' squares.
struct Outcome {
  at::Tensor predictions;
  at::Tensor gradient;
};

Outcome OutcomeOf(const GraphTensors& graphs, std::int64_t real_graphs, at::ScalarType edge_type = at::kFloat) {
  const std::shared_ptr<Model> model = MakeSchNet(4, kSeed, edge_type);
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

// Molecules() with padding of each kind.
GraphTensors Padded() { return TensorsOf(BatchOf(Molecules(), {.graphs = 7, .nodes = 64, .edges = 128})); }

GraphTensors PaddedWithGarbage() {
  const std::int64_t nodes = 15, graphs = 5;
  GraphTensors padded = Padded();
  padded.positions.narrow(0, nodes, 64 - nodes).normal_(3, 100);
  padded.classes.narrow(0, nodes, 64 - nodes).random_(0, 4);
  padded.target.narrow(0, graphs, 2).fill_(1e6);
  return padded;
}

TEST(SchNet, GarbageInThePaddingChangesNothing) {
  const std::vector<Molecule> molecules = Molecules();
  const Outcome with_garbage = OutcomeOf(PaddedWithGarbage(), 5);
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

double RelativeError(const at::Tensor& actual, const at::Tensor& expected) {
  return ((actual - expected).norm() / expected.norm()).item<double>();
}

// A single bf16 is right to 2^-9 of itself, 0.002; errors of many cancel in part.
TEST(SchNetInBf16, IsNearTheOneInF32) {
  const Outcome bf16 = OutcomeOf(Padded(), 5, at::kBFloat16), f32 = OutcomeOf(Padded(), 5);
  EXPECT_LT(RelativeError(bf16.predictions, f32.predictions), 1e-3);
  EXPECT_LT(RelativeError(bf16.gradient, f32.gradient), 1e-3);
  EXPECT_FALSE(bf16.predictions.equal(f32.predictions)) << "nothing was rounded";
}

TEST(SchNetInBf16, HasTheSameParametersInF32) {
  const std::shared_ptr<Model> bf16 = MakeSchNet(5, kSeed, at::kBFloat16);
  EXPECT_EQ(CountParameters(*bf16), 80'352);
  EXPECT_EQ(FlatParameters(*bf16).Checksum(), FlatParameters(*MakeSchNet(5)).Checksum());
}

TEST(SchNetInBf16, ResultsAreFiniteF32) {
  const Outcome outcome = OutcomeOf(Padded(), 5, at::kBFloat16);
  for (const at::Tensor& result : {outcome.predictions, outcome.gradient}) {
    EXPECT_EQ(result.scalar_type(), at::kFloat);
    EXPECT_TRUE(result.isfinite().all().item<bool>());
  }
}

TEST(SchNetInBf16, GarbageInThePaddingChangesNoBit) {
  const Outcome with_garbage = OutcomeOf(PaddedWithGarbage(), 5, at::kBFloat16);
  const Outcome without = OutcomeOf(Padded(), 5, at::kBFloat16);
  EXPECT_TRUE(with_garbage.predictions.equal(without.predictions));
  EXPECT_TRUE(with_garbage.gradient.equal(without.gradient));
}

TEST(EdgeProduct, OfBf16RoundsTheWeightsButNotTheirGradient) {
  at::manual_seed(1);
  const at::Tensor x = at::randn({500, 16}).to(at::kBFloat16).requires_grad_();
  const at::Tensor weights = at::randn({16, 8}).requires_grad_();
  const at::Tensor d_y = at::randn({500, 8}).to(at::kBFloat16);
  const at::Tensor y = EdgeProduct(x, weights);
  y.backward(d_y);
  const at::Tensor wide_x = x.detach().to(at::kDouble), wide_d_y = d_y.to(at::kDouble);
  const at::Tensor rounded = weights.detach().to(at::kBFloat16).to(at::kDouble);
  EXPECT_EQ(y.scalar_type(), at::kBFloat16);
  EXPECT_LT(RelativeError(y.to(at::kDouble), wide_x.mm(rounded)), 0.003);
  EXPECT_LT(RelativeError(x.grad().to(at::kDouble), wide_d_y.mm(rounded.t())), 0.003);
  EXPECT_LT(RelativeError(weights.grad(), wide_x.t().mm(wide_d_y)), 1e-6);
}

TEST(Models, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  EXPECT_THAT(FindModel("mlp"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("schnet")));
}

}  // namespace
}  // namespace packtrain::trainer
