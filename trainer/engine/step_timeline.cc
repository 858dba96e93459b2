#include "trainer/engine/step_timeline.h"

#include <torch/types.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace packtrain::trainer {
namespace {

double MeanLoss(const at::Tensor& sums) {
  const float* values = sums.const_data_ptr<float>();
  return values[1] > 0 ? values[0] / values[1] : std::numeric_limits<double>::quiet_NaN();
}

std::uint64_t Elapsed(const TimeMark& from, const TimeMark& to) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(to.NanosecondsSince(from), 0));
}

}  // namespace

StepTimeline::StepTimeline(const Device& device, Sink sink)
    : device_(device), sink_(std::move(sink)), last_end_(device.NewMark()) {
  last_end_->Record();
}

void StepTimeline::Begin(const wire::StepRecord& record) {
  Pending& step = pending_.emplace_back();
  step.record = record;
  step.previous_end = last_end_;
  for (std::shared_ptr<TimeMark>& mark : step.marks) mark = device_.NewMark();
}

void StepTimeline::Mark(Moment moment) { pending_.back().marks[static_cast<std::size_t>(moment)]->Record(); }

void StepTimeline::Discard() { pending_.pop_back(); }

void StepTimeline::SetSums(at::Tensor sums) { pending_.back().sums = std::move(sums); }

void StepTimeline::End() {
  Mark(Moment::kEnd);
  last_end_ = pending_.back().marks.back();
  if (pending_.size() > kMostPending) pending_.front().end().Wait();
  while (!pending_.empty() && pending_.front().end().Passed()) HandOver();
}

void StepTimeline::Drain() {
  while (!pending_.empty()) {
    pending_.front().end().Wait();
    HandOver();
  }
}

std::uint64_t StepTimeline::Pending::Between(Moment from, Moment to) const {
  return Elapsed(*marks[static_cast<std::size_t>(from)], *marks[static_cast<std::size_t>(to)]);
}

wire::StepRecord StepTimeline::Finish(const Pending& step) {
  wire::StepRecord record = step.record;
  record.copy_ns = step.Between(Moment::kCopy, Moment::kForward);
  record.forward_ns = step.Between(Moment::kForward, Moment::kBackward);
  record.backward_ns = step.Between(Moment::kBackward, Moment::kComm);
  record.comm_ns = step.Between(Moment::kComm, Moment::kOptimizer);
  record.optimizer_ns = step.Between(Moment::kOptimizer, Moment::kEnd);
  record.total_ns = Elapsed(*step.previous_end, step.end());
  record.loss = MeanLoss(step.sums);
  return record;
}

void StepTimeline::HandOver() {
  sink_(Finish(pending_.front()));
  pending_.pop_front();
}

}  // namespace packtrain::trainer
