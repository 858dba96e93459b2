#include "trainer/engine/step_timeline.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace packtrain::trainer {
namespace {

std::uint64_t Elapsed(std::int64_t from, std::int64_t to) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(to - from, 0));
}

// Of the step; NaN where no rank had a term.
double MeanLoss(const StepReading& reading) {
  const double terms = reading.sums[kTerms];
  return terms > 0 ? reading.sums[kLoss] / terms : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

StepTimeline::StepTimeline(StepClock& clock, Sink sink)
    : clock_(clock), sink_(std::move(sink)), last_end_ns_(clock.Now()) {}

void StepTimeline::Begin(const wire::StepRecord& record) {
  HandOver(StepClock::kCapacity - 1);
  pending_.push_back(record);
  clock_.Begin();
}

void StepTimeline::End(std::uint64_t capture_ns) {
  clock_.Close();
  pending_.back().capture_ns = capture_ns;
  if (capture_ns > 0) pending_.back().flags |= wire::kCapture;
}

void StepTimeline::HandOver(std::size_t max_pending) {
  while (pending_.size() > max_pending) HandOverOldest();
}

void StepTimeline::HandOverEnded() {
  while (!pending_.empty() && clock_.HasEnded()) HandOverOldest();
}

void StepTimeline::HandOverOldest() {
  const StepReading reading = clock_.Read();
  const wire::StepRecord record = Complete(pending_.front(), reading);
  pending_.pop_front();
  sink_(record, reading);
}

wire::StepRecord StepTimeline::Complete(wire::StepRecord record, const StepReading& reading) {
  const auto between = [&reading](Moment from, Moment to) { return Elapsed(reading.at(from), reading.at(to)); };
  record.copy_ns = between(Moment::kCopy, Moment::kForward);
  record.forward_ns = between(Moment::kForward, Moment::kBackward);
  record.backward_ns = between(Moment::kBackward, Moment::kComm);
  record.comm_ns = between(Moment::kComm, Moment::kOptimizer);
  record.optimizer_ns = between(Moment::kOptimizer, Moment::kEnd);
  record.total_ns = Elapsed(last_end_ns_, reading.at(Moment::kEnd));
  record.loss = MeanLoss(reading);
  last_end_ns_ = reading.at(Moment::kEnd);
  return record;
}

}  // namespace packtrain::trainer
