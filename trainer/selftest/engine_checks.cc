#include "trainer/selftest/engine_checks.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/types.h>

#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trainer/engine/device.h"
#include "trainer/engine/precision.h"
#include "trainer/engine/step_timeline.h"
#include "trainer/engine/trained_model.h"
#include "trainer/models/model.h"
#include "trainer/ranks/gradient_sync.h"
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
    timeline_.End(engine().Step(issued_++).value());
    timeline_.HandOver(/*max_pending=*/0);
  }

  at::Tensor parameters() const { return trained_->parameters().values().to(at::kCPU, at::kDouble); }
  CaptureCounts captures() const { return engine().captures(); }
  const std::vector<wire::StepRecord>& steps() const { return steps_; }
  bool halted() const { return last_.sums[kHalted] > 0; }

 private:
  StepEngine& engine() const { return trained_->engine(); }

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

absl::Status ExpectClose(const at::Tensor& actual, const at::Tensor& expected, double tolerance) {
  const double error = ((actual - expected).norm() / expected.norm()).item<double>();
  if (error <= tolerance) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("differs by ", error, ", more than ", tolerance));
}

// What the parameters are after 12 steps; f32 afterwards, too.
at::Tensor Trained(const EngineOptions& options, bool fused, const std::string& precision) {
  Trainee trainee(options, fused, precision);
  Train(trainee, 12);
  SetPrecision("f32", at::kCUDA).value();
  return trainee.parameters();
}

// Fused kernels add in a fixed order, so the two are equal bit for bit.
absl::Status CapturedIsEager(const std::string& precision) {
  return ExpectClose(Trained({.captured = true}, /*fused=*/true, precision),
                     Trained({}, /*fused=*/true, precision), 1e-6);
}

absl::Status CapturedIsEagerInF32() { return CapturedIsEager("f32"); }
absl::Status CapturedIsEagerInTf32() { return CapturedIsEager("tf32"); }
absl::Status CapturedIsEagerInBf16() { return CapturedIsEager("bf16"); }

// Steps with fused kernels in `precision`, against plain ones in f32. All steps together move the parameters
// by 1.5 %.
absl::Status IsPlainInF32(const std::string& precision, double tolerance) {
  return ExpectClose(Trained({.captured = true}, /*fused=*/true, precision),
                     Trained({.captured = true}, /*fused=*/false, "f32"), tolerance);
}

absl::Status FusedIsPlain() { return IsPlainInF32("f32", 1e-4); }
absl::Status Tf32IsNearF32() { return IsPlainInF32("tf32", 1e-3); }
absl::Status Bf16IsNearF32() { return IsPlainInF32("bf16", 1e-3); }

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
  return ExpectClose(tight.parameters(), roomy.parameters(), 1e-6);
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
  return ExpectClose(tight.parameters(), roomy.parameters(), 1e-6);
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

constexpr std::array<Check, 10> kChecks = {
    {{"engine: captured steps are the eager ones", CapturedIsEagerInF32},
     {"engine: captured steps in tf32 are the eager ones", CapturedIsEagerInTf32},
     {"engine: captured steps in bf16 are the eager ones", CapturedIsEagerInBf16},
     {"engine: steps with fused kernels are the plain ones", FusedIsPlain},
     {"engine: steps in tf32 are near those in f32", Tf32IsNearF32},
     {"engine: steps in bf16 are near those in f32", Bf16IsNearF32},
     {"engine: captures and evictions are counted, and change nothing", CapturesAreCounted},
     {"engine: shapes follow each other with room for one capture", OneCaptureAtATime},
     {"engine: what is no number halts this step and all behind it", NotANumberHalts},
     {"engine: the phases of a captured step are timed", PhasesAreTimed}}};

}  // namespace

std::span<const Check> EngineChecks() { return kChecks; }

}  // namespace packtrain::trainer
