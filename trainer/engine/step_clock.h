// When the phases of a step began, by the clock of the device that ran them.
#ifndef PACKTRAIN_TRAINER_ENGINE_STEP_CLOCK_H_
#define PACKTRAIN_TRAINER_ENGINE_STEP_CLOCK_H_

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "trainer/engine/flat_parameters.h"
#include "trainer/engine/moment.h"

namespace packtrain::trainer {

// What a step left behind.
struct StepReading {
  std::array<std::int64_t, kMoments> moment_ns{};  // of one clock, whose zero means nothing
  std::array<double, kStepSums> sums{};            // of all ranks

  std::int64_t at(Moment moment) const { return moment_ns[static_cast<std::size_t>(moment)]; }
};

// A mark comes after all work that was issued before it, and adds no wait. Between Begin and Close each moment
// is marked once. MarkX may be captured in a CUDA graph: then each replay marks. Used by one thread.
class StepClock {
 public:
  // Steps that may be closed and not yet read.
  static constexpr std::size_t kCapacity = 64;

  virtual ~StepClock() = default;

  // Begins the next step, and marks kCopy.
  virtual void Begin() = 0;
  virtual void Mark(Moment moment) = 0;
  // Keeps all ranks' `sums`, [kStepSums] of the parameters' type, and marks kEnd.
  virtual void MarkEnd(const at::Tensor& sums) = 0;
  // All work of the step has been issued.
  virtual void Close() = 0;

  // Of the oldest step that is closed and has not been read: there is one.
  virtual bool HasEnded() const = 0;
  // Waits for its end.
  virtual StepReading Read() = 0;

  // The clock's time once all work issued so far is done.
  virtual std::int64_t Now() = 0;
  // What the clock is and how fine, as the run's record states it.
  virtual std::string method() const = 0;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_STEP_CLOCK_H_
