// When the parts of each step began and ended, read only after the device has got there.
#ifndef PACKTRAIN_TRAINER_ENGINE_STEP_TIMELINE_H_
#define PACKTRAIN_TRAINER_ENGINE_STEP_TIMELINE_H_

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>

#include "proto/wire/step_record.h"
#include "trainer/engine/device.h"

namespace packtrain::trainer {

// Beginnings of a step's phases, in order; the last is the step's end.
enum class Moment { kCopy, kForward, kBackward, kComm, kOptimizer, kEnd };

// Adds no synchronisation: steps whose marks have not passed wait in a bounded queue. Used by one thread.
class StepTimeline {
 public:
  using Sink = std::function<void(const wire::StepRecord&)>;

  // `device` is borrowed. `sink` gets each finished step, in order, on the calling thread.
  StepTimeline(const Device& device, Sink sink);

  // Begins the next step. `record` holds all that is known before it runs; the timeline fills in the times of
  // its phases, its total since the end of the step before (for the first one: since the construction) and its
  // loss.
  void Begin(const wire::StepRecord& record);
  void Mark(Moment moment);
  // Forgets the step that has begun and not ended.
  void Discard();
  // Loss sum and graphs of this rank, the first two of f32 on the host; read after the step's end has passed.
  void SetSums(at::Tensor sums);
  // Marks the step's end, and hands over the steps that have passed.
  void End();
  // Waits for all steps and hands them over.
  void Drain();

 private:
  static constexpr std::size_t kMoments = static_cast<std::size_t>(Moment::kEnd) + 1;
  static constexpr std::size_t kMostPending = 64;

  struct Pending {
    wire::StepRecord record;
    std::array<std::shared_ptr<TimeMark>, kMoments> marks;
    std::shared_ptr<TimeMark> previous_end;
    at::Tensor sums;

    TimeMark& end() const { return *marks.back(); }
    std::uint64_t Between(Moment from, Moment to) const;
  };

  static wire::StepRecord Finish(const Pending& step);
  void HandOver();

  const Device& device_;
  const Sink sink_;
  std::shared_ptr<TimeMark> last_end_;
  std::deque<Pending> pending_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_STEP_TIMELINE_H_
