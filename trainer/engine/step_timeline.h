// The records of the steps under way, completed once their times are known.
#ifndef PACKTRAIN_TRAINER_ENGINE_STEP_TIMELINE_H_
#define PACKTRAIN_TRAINER_ENGINE_STEP_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>

#include "proto/wire/step_columns.h"
#include "trainer/engine/step_clock.h"

namespace packtrain::trainer {

// Used by one thread.
class StepTimeline {
 public:
  using Sink = std::function<void(const wire::StepRecord&, const StepReading&)>;

  // `clock` is borrowed, and nobody else begins or reads its steps. `sink` gets each finished step, in order,
  // on the calling thread.
  StepTimeline(StepClock& clock, Sink sink);

  // Begins the next step. `record` holds all that is known before it runs; the timeline fills in the times of
  // its phases, its total since the end of the step before (for the first one: since the construction) and its
  // loss.
  void Begin(const wire::StepRecord& record);
  // All work of the step has been issued; it took `capture_ns` to capture, 0 where nothing was.
  void End(std::uint64_t capture_ns = 0);
  // Forgets the step that has begun and not ended.
  void Discard() { pending_.pop_back(); }

  // Hands over steps until `max_pending` stay, and no more; waits for their ends.
  void HandOver(std::size_t max_pending);
  // Hands over the steps that have ended; never waits.
  void HandOverEnded();

 private:
  void HandOverOldest();
  wire::StepRecord Complete(wire::StepRecord record, const StepReading& reading);

  StepClock& clock_;
  const Sink sink_;
  std::int64_t last_end_ns_;
  std::deque<wire::StepRecord> pending_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_STEP_TIMELINE_H_
