// A rank with everything that a step needs, and batches of a few molecules for it.
#ifndef PACKTRAIN_TESTS_TRAINER_TRAINEE_H_
#define PACKTRAIN_TESTS_TRAINER_TRAINEE_H_

#include <gmock/gmock.h>
#include <torch/types.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/testing/status_matchers.h"
#include "tests/trainer/molecules.h"
#include "trainer/data/host_feed.h"
#include "trainer/engine/adam.h"
#include "trainer/engine/device.h"
#include "trainer/engine/flat_parameters.h"
#include "trainer/engine/step_timeline.h"
#include "trainer/engine/trained_model.h"
#include "trainer/models/model.h"
#include "trainer/ranks/gradient_sync.h"
#include "trainer/run/evaluation.h"

namespace packtrain::trainer {

inline constexpr wire::Shape kPadded = {.graphs = 6, .nodes = 64, .edges = 64};

inline HostFeed MakeFeed(const std::string& target) { return HostFeed(testing::MoleculesFeed(target)); }

inline wire::Batch PaddedBatch(std::span<const testing::Molecule> molecules) {
  return testing::BatchOf(molecules, kPadded);
}

inline GraphTensors TensorsOf(std::span<const testing::Molecule> molecules,
                              const std::string& target = "energy") {
  return testing::TensorsOf(PaddedBatch(molecules), target);
}

inline std::unique_ptr<GradientSync> Alone() { return std::move(GradientSync::Connect(World{}, {}).value()); }

// A rank with everything that a step needs.
class Trainee {
 public:
  explicit Trainee(std::unique_ptr<GradientSync> sync, at::ScalarType edge_type = at::kFloat,
                   const std::string& target = "energy")
      : sync_(std::move(sync)),
        device_(OpenCpu()),
        trained_(TrainedModel::Create(*FindModel("schnet"),
                                      {.model = {.sizes = {.classes = 4}, .seed = 3, .edge_type = edge_type},
                                       .targets = testing::MoleculesTargets(target),
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
    EXPECT_THAT(Step(batch, target), testing::IsOk());
    return at::cat({parameters().gradients() * std::max(last_.sums[kTerms], 1.0), parameters().sums()});
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

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TESTS_TRAINER_TRAINEE_H_
