// Runs one piece of a device's work on batches of any shape.
#ifndef PACKTRAIN_TRAINER_ENGINE_SHAPE_EXECUTOR_H_
#define PACKTRAIN_TRAINER_ENGINE_SHAPE_EXECUTOR_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/wire/batch_layout.h"
#include "trainer/data/graph_tensors.h"
#include "trainer/engine/engine_options.h"

namespace packtrain::trainer {

struct CaptureCounts {
  std::uint64_t captures = 0;
  std::uint64_t evictions = 0;
};

// Used by one thread.
class ShapeExecutor {
 public:
  // Issues work that depends on the inputs' shape and on nothing else that the host knows.
  using Work = std::function<absl::Status(const GraphTensors& inputs)>;

  virtual ~ShapeExecutor() = default;

  // Tensors of shape `padded` for the next Run; good until the next call.
  virtual const GraphTensors& InputsFor(const wire::Shape& padded) = 0;
  // Has the next Run read `inputs` themselves, which nobody changes until its work is done. Inputs with the
  // same `senders` tensor as before are the same in all their tensors.
  virtual void ReadInPlace(const GraphTensors& inputs) = 0;
  // Issues the work on what the inputs then hold. Returns the nanoseconds that went into a capture, 0 where
  // there was none, or what the work returned.
  virtual absl::StatusOr<std::uint64_t> Run() = 0;

  virtual CaptureCounts counts() const = 0;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_SHAPE_EXECUTOR_H_
