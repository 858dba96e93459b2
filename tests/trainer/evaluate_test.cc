// The metrics of a model on a split.
#include <gmock/gmock.h>
#include <torch/types.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/testing/status_matchers.h"
#include "tests/trainer/molecules.h"
#include "tests/trainer/trainee.h"
#include "trainer/data/host_feed.h"
#include "trainer/ranks/gradient_sync.h"
#include "trainer/run/evaluation.h"

namespace packtrain::trainer {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::Molecule;
using packtrain::testing::Molecules;
using packtrain::testing::StatusIs;

TEST(Evaluate, CountsEachGraphThatHasTheTarget) {
  const std::vector<Molecule> molecules = Molecules();
  const Target target = testing::MoleculesTargets("dipole").front();
  Trainee trainee(Alone(), at::kFloat, "dipole");
  const at::NoGradGuard no_grad;
  const at::Tensor predicted = trainee.model().Forward(TensorsOf(molecules, "dipole"));
  double absolute = 0, square = 0, constant = 0, constant_square = 0;
  for (std::size_t i = 1; i < molecules.size(); ++i) {
    const double error =
        predicted[static_cast<std::int64_t>(i)].item<double>() * target.scale + target.mean - molecules[i].y[1];
    absolute += std::abs(error) / 4;
    square += error * error / 4;
    constant += std::abs(molecules[i].y[1] - target.median) / 4;
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
