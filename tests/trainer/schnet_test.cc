// What holds of SchNet beside what the conformance suite asks of every model.
#include <gmock/gmock.h>
#include <torch/types.h>

#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "tests/testing/status_matchers.h"
#include "tests/trainer/molecules.h"
#include "trainer/models/model.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::BatchOf;
using packtrain::testing::Molecule;
using packtrain::testing::Molecules;
using packtrain::testing::StatusIs;
using ::testing::HasSubstr;

at::Tensor PredictionsOf(std::span<const Molecule> molecules) {
  const at::NoGradGuard no_grad;
  const std::shared_ptr<Model> model = FindModel("schnet")->create({.sizes = {.classes = 4}, .seed = 7});
  return model->Forward(testing::TensorsOf(BatchOf(molecules)));
}

void ExpectClose(const at::Tensor& actual, const at::Tensor& expected) {
  ASSERT_GT(expected.abs().max().item<float>(), 1e-4) << "nothing to compare";
  EXPECT_LT(((actual - expected).abs().max() / expected.abs().max()).item<float>(), 2e-5);
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
  ExpectClose(PredictionsOf(moved), PredictionsOf(Molecules()));
}

TEST(SchNet, TellsMoleculesApart) {
  const at::Tensor predictions = PredictionsOf(Molecules());
  const at::Tensor sorted = std::get<0>(predictions.sort());
  EXPECT_GT(sorted.diff().min().item<float>(), 1e-4);
}

TEST(Models, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  EXPECT_THAT(FindModel("mlp"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("schnet")));
}

}  // namespace
}  // namespace packtrain::trainer
