#include "trainer/selftest/engine_checks.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/types.h>

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trainer/engine/device.h"
#include "trainer/engine/precision.h"
#include "trainer/engine/step_timeline.h"
#include "trainer/engine/trained_model.h"
#include "trainer/models/model.h"
#include "trainer/ranks/gradient_sync.h"
#include "trainer/selftest/precision_errors.h"
#include "trainer/selftest/random_graphs.h"

namespace packtrain::trainer {
namespace {

constexpr std::array<wire::Shape, 3> kShapes = {{{4, 64, 256}, {6, 128, 320}, {8, 128, 512}}};

// A batch that leaves padding of each kind.
GraphTensors BatchOf(const wire::Shape& padded, std::uint64_t seed) {
  return MakeRandomGraphs({.real = {padded.graphs - 1, padded.nodes / 2, padded.edges / 2}, .padded = padded},
                          at::detail::createCPUGenerator(seed));
}

// A training of SchNet on one card. Used by one thread.
class Trainee {
 public:
  Trainee(const EngineOptions& options, bool fused, const std::string& precision = "f32")
      : device_(OpenDevice("cuda", /*local_rank=*/0).value()),
        sync_(GradientSync::Connect(World(), {}).value()),
        trained_(TrainedModel::Create(FindModel("schnet").value(),
                                      {.model = {.sizes = {.classes = 5},
                                                 .seed = 1,
                                                 .edge_type = SetPrecision(precision, at::kCUDA).value()},
                                       .adam = {.learning_rate = 1e-3, .decay = 0.5, .decay_steps = 2},
                                       .engine = options,
                                       .plain_kernels = !fused},
                                      *device_, *sync_)
                     .value()),
        timeline_(trained_->clock(), [this](const wire::StepRecord& step, const StepReading& reading) {
          steps_.push_back(step);
          last_ = reading;
        }) {}

  void Step(const GraphTensors& batch) {
    timeline_.Begin({});
    CopyInto(batch, engine().InputsFor({static_cast<std::uint32_t>(batch.n_node.size(0)),
                                        static_cast<std::uint32_t>(batch.classes.size(0)),
                                        static_cast<std::uint32_t>(batch.senders.size(0))}));
    Issue();
  }
  // `batch` lies on the card.
  void StepInPlace(const GraphTensors& batch) {
    timeline_.Begin({});
    engine().ReadInPlace(batch);
    Issue();
  }

  at::Tensor parameters() const { return trained_->parameters().values().to(at::kCPU, at::kDouble); }
  CaptureCounts captures() const { return engine().captures(); }
  const std::vector<wire::StepRecord>& steps() const { return steps_; }
  bool halted() const { return last_.sums[kHalted] > 0; }

 private:
  StepEngine& engine() const { return trained_->engine(); }
  void Issue() {
    timeline_.End(engine().Step(issued_++).value());
    timeline_.HandOver(/*max_pending=*/0);
  }

  const std::unique_ptr<Device> device_;
  const std::unique_ptr<GradientSync> sync_;
  const std::unique_ptr<TrainedModel> trained_;
  std::uint64_t issued_ = 0;
  std::vector<wire::StepRecord> steps_;
  StepReading last_;
  StepTimeline timeline_;
};

// Each shape several times, in turns.
void Train(Trainee& trainee, int steps) {
  for (int step = 0; step < steps; ++step) {
    trainee.Step(BatchOf(kShapes[static_cast<std::size_t>(step) % kShapes.size()], /*seed=*/step + 1));
  }
}

absl::Status ExpectError(const std::string& name, double error, double bound) {
  if (error <= bound) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat(name, ": the relative error is ", error, "; roundings explain ", bound));
}

// What the parameters are after 12 steps; f32 afterwards, too.
at::Tensor Trained(const EngineOptions& options, bool fused, const std::string& precision) {
  Trainee trainee(options, fused, precision);
  Train(trainee, 12);
  SetPrecision("f32", at::kCUDA).value();
  return trainee.parameters();
}

// What is rounded on SchNet's way to a prediction. Of three layers: the product with W1 and W2 of the filter,
// those into the messages and out of them, and one behind; then two products of the readout.
constexpr double kProducts = 3 * 5 + 2;
constexpr double kChannels = 64;
// Each product adds up to 150 terms, one after another.
constexpr Roundings kInF32 = {.unit = kF32Roundoff, .chain = kProducts * 150};
// Each product shortens both factors.
constexpr Roundings kInTf32 = {.unit = kTf32Roundoff, .chain = kProducts * 2, .terms = kChannels};
// Gaussians, their product with W1, its softplus, the product with W2, its softplus; in three layers.
constexpr Roundings kInBf16 = {.unit = kBf16Roundoff, .chain = 3 * 5, .terms = kChannels};

// The gradient goes the same way forth and back.
Roundings BothWays(Roundings forward) {
  forward.chain *= 2;
  return forward;
}

// A first step with fused kernels, against plain ones in f64.
absl::Status IsAsExactAs(const Roundings& forward, const std::string& precision) {
  const wire::Shape real = {32, 32 * 18, 32 * 18 * 17}, padded = {33, 640, 10240};
  const GraphTensors graphs =
      CopyTo(MakeFullGraphs({.real = real, .padded = padded}, at::detail::createCPUGenerator(/*seed_val=*/1)),
             at::kCUDA);
  const at::ScalarType edge_type = SetPrecision(precision, at::kCUDA).value();
  const PrecisionErrors errors = ErrorsOf(
      FindModel("schnet").value(),
      {.sizes = {.classes = 5}, .seed = 1, .kernels = KernelForm::kFused, .edge_type = edge_type}, graphs);
  SetPrecision("f32", at::kCUDA).value();
  absl::Status status = ExpectError("predictions", errors.predictions, ErrorBound(forward));
  if (status.ok()) status = ExpectError("gradient", errors.gradient, ErrorBound(BothWays(forward)));
  return status;
}

absl::Status F32IsAsExactAsItsRoundings() { return IsAsExactAs(kInF32, "f32"); }
absl::Status Tf32IsAsExactAsItsRoundings() { return IsAsExactAs(kInTf32, "tf32"); }
absl::Status Bf16IsAsExactAsItsRoundings() { return IsAsExactAs(kInBf16, "bf16"); }

// Of two trainings whose gradients differ by the roundings `gradient`. Adam's first steps are of one length in
// each parameter, whatever the size of its gradient, so what a rounding changes is the sign of gradients that
// are smaller than their error. Of normal gradients of relative error e those are e / pi, and each moves its
// parameter twice the step the other way: the change is off by 2 sqrt(e / pi) of itself.
absl::Status ExpectSameChange(const at::Tensor& actual, const at::Tensor& expected, const Roundings& gradient) {
  const at::Tensor start = Trainee({}, /*fused=*/true).parameters();
  const double error = ((actual - expected).norm() / (expected - start).norm()).item<double>();
  return ExpectError("change of the parameters", error, 2 * std::sqrt(ErrorBound(gradient) / std::numbers::pi));
}

// Trainings that differ only in how their steps are issued. Fused kernels add in a fixed order; the readout
// adds the up to 64 nodes of a graph in no fixed order, and its rounding reaches the whole gradient.
constexpr Roundings kReadoutRoundings = {.unit = kF32Roundoff, .chain = 64};

absl::Status CapturedIsEager(const std::string& precision) {
  return ExpectSameChange(Trained({.captured = true}, /*fused=*/true, precision),
                          Trained({}, /*fused=*/true, precision), kReadoutRoundings);
}

absl::Status CapturedIsEagerInF32() { return CapturedIsEager("f32"); }
absl::Status CapturedIsEagerInTf32() { return CapturedIsEager("tf32"); }
absl::Status CapturedIsEagerInBf16() { return CapturedIsEager("bf16"); }

absl::Status FusedIsPlain() {
  const EngineOptions captured = {.captured = true};
  return ExpectSameChange(Trained(captured, /*fused=*/true, "f32"), Trained(captured, /*fused=*/false, "f32"),
                          BothWays(kInF32));
}

absl::Status CapturesAreCounted() {
  Trainee roomy({.captured = true}, /*fused=*/true),
      tight({.captured = true, .max_captures = 2}, /*fused=*/true);
  Train(roomy, 9);
  Train(tight, 9);
  if (roomy.captures().captures != 3 || roomy.captures().evictions != 0) {
    return absl::InternalError(absl::StrCat("3 shapes with room for all are captured ",
                                            roomy.captures().captures, " times, evicted ",
                                            roomy.captures().evictions));
  }
  if (tight.captures().captures != 9 || tight.captures().evictions != 7) {
    return absl::InternalError(absl::StrCat("3 shapes in turns with room for 2 are captured ",
                                            tight.captures().captures, " times in 9 steps, evicted ",
                                            tight.captures().evictions));
  }
  return ExpectSameChange(tight.parameters(), roomy.parameters(), kReadoutRoundings);
}

// With room for one capture, the pool of their memory has none while the next one is made.
absl::Status OneCaptureAtATime() {
  Trainee roomy({.captured = true}, /*fused=*/true),
      tight({.captured = true, .max_captures = 1}, /*fused=*/true);
  Train(roomy, 6);
  Train(tight, 6);
  if (tight.captures().captures != 6 || tight.captures().evictions != 5) {
    return absl::InternalError(absl::StrCat("3 shapes in turns with room for 1 are captured ",
                                            tight.captures().captures, " times in 6 steps, evicted ",
                                            tight.captures().evictions));
  }
  return ExpectSameChange(tight.parameters(), roomy.parameters(), kReadoutRoundings);
}

// Two batches of one shape, in turns, and between them one that is copied.
absl::Status InPlaceIsCopied() {
  const std::array<GraphTensors, 2> resident = {CopyTo(BatchOf(kShapes[0], 1), at::kCUDA),
                                                CopyTo(BatchOf(kShapes[0], 2), at::kCUDA)};
  Trainee in_place({.captured = true}, /*fused=*/true), copied({.captured = true}, /*fused=*/true);
  for (std::size_t step = 0; step < 6; ++step) {
    const GraphTensors& batch = resident[step % resident.size()];
    in_place.StepInPlace(batch);
    in_place.Step(BatchOf(kShapes[0], 3));
    copied.Step(batch);
    copied.Step(BatchOf(kShapes[0], 3));
  }
  if (in_place.captures().captures != 3) {
    return absl::InternalError(
        absl::StrCat("2 batches in place and 1 shape are captured ", in_place.captures().captures, " times"));
  }
  return ExpectSameChange(in_place.parameters(), copied.parameters(), kReadoutRoundings);
}

absl::Status NotANumberHalts() {
  Trainee trainee({.captured = true}, /*fused=*/true);
  GraphTensors batch = BatchOf(kShapes[0], 1);
  trainee.Step(batch);
  const at::Tensor before = trainee.parameters();
  if (trainee.halted()) return absl::InternalError("a step of numbers halts");
  const at::Tensor positions = at::full_like(batch.positions, std::numeric_limits<float>::quiet_NaN());
  for (const at::Tensor& next : {positions, batch.positions}) {
    GraphTensors changed = batch;
    changed.positions = next;
    trainee.Step(changed);
    if (!trainee.halted()) return absl::InternalError("a step on no number, or one behind it, does not halt");
  }
  if (before.equal(trainee.parameters())) return absl::OkStatus();
  return absl::InternalError("a step that halts changes the model");
}

// All phases of a replay are marked, in order, and add up to no more than the whole.
absl::Status PhasesAreTimed() {
  Trainee trainee({.captured = true}, /*fused=*/true);
  for (int step = 0; step < 5; ++step) trainee.Step(BatchOf(kShapes[0], 1));
  for (const wire::StepRecord& step : trainee.steps()) {
    const std::uint64_t phases =
        step.copy_ns + step.forward_ns + step.backward_ns + step.comm_ns + step.optimizer_ns;
    if (step.forward_ns > 0 && step.backward_ns > 0 && step.optimizer_ns > 0 && phases <= step.total_ns)
      continue;
    return absl::InternalError(absl::StrCat("a step of ", step.total_ns, " ns has phases of ", step.forward_ns,
                                            ", ", step.backward_ns, " and ", step.optimizer_ns, " ns"));
  }
  return absl::OkStatus();
}

constexpr std::array<Check, 12> kChecks = {
    {{"engine: captured steps are the eager ones", CapturedIsEagerInF32},
     {"engine: captured steps in tf32 are the eager ones", CapturedIsEagerInTf32},
     {"engine: captured steps in bf16 are the eager ones", CapturedIsEagerInBf16},
     {"engine: steps with fused kernels are the plain ones", FusedIsPlain},
     {"engine: a step in f32 is as exact as its roundings say", F32IsAsExactAsItsRoundings},
     {"engine: a step in tf32 is as exact as its roundings say", Tf32IsAsExactAsItsRoundings},
     {"engine: a step in bf16 is as exact as its roundings say", Bf16IsAsExactAsItsRoundings},
     {"engine: captures and evictions are counted, and change nothing", CapturesAreCounted},
     {"engine: shapes follow each other with room for one capture", OneCaptureAtATime},
     {"engine: batches that are read in place are as those that are copied", InPlaceIsCopied},
     {"engine: what is no number halts this step and all behind it", NotANumberHalts},
     {"engine: the phases of a captured step are timed", PhasesAreTimed}}};

}  // namespace

std::span<const Check> EngineChecks() { return kChecks; }

}  // namespace packtrain::trainer
