#include "trainer/run/training_loop.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"
#include "trainer/data/streamed_batches.h"
#include "trainer/data/synthetic_batches.h"
#include "trainer/ranks/rank_errors.h"
#include "trainer/run/rank_checkpoints.h"

namespace packtrain::trainer {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kProgressPeriod{2};

std::uint64_t NanosecondsSince(Clock::time_point start) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - start).count());
}

// Steps of several ranks that have been issued while nobody knows what became of the first of them.
constexpr std::size_t kMaxStepsAhead = 2;

absl::Status NotFinite(std::uint64_t step) {
  return absl::OutOfRangeError(absl::StrCat("the loss or the gradient of step ", step,
                                            " is not a finite number; the model is as it was before; a lower "
                                            "--lr may help"));
}

// Fewer graphs than aimed at, in the last step of an epoch.
bool IsShort(const wire::BatchHeader& header, std::uint32_t graphs_aimed_at) {
  return header.empty || (header.step + 1 == header.epoch_steps && header.real.graphs < graphs_aimed_at);
}

// NaN where the task has no such metric.
Metric MetricOf(const SplitMetrics& metrics, std::string_view name) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  const Metric* metric = metrics.Find(name);
  return metric == nullptr ? Metric{.name = name, .value = kUnknown, .constant = kUnknown} : *metric;
}

std::optional<double> IfKnown(double value) { return std::isnan(value) ? std::nullopt : std::optional(value); }

// "MAE 0.5  RMSE 0.7  (constant predictor: 1, 2)".
std::string Describe(const SplitMetrics& metrics) {
  std::string values, constants;
  for (const Metric& metric : metrics.metrics) {
    absl::StrAppendFormat(&values, "%s %.5g  ", metric.label, metric.value);
    absl::StrAppendFormat(&constants, "%s%.5g", constants.empty() ? "" : ", ", metric.constant);
  }
  return absl::StrCat(values, "(constant predictor: ", constants, ")");
}

}  // namespace

TrainingLoop::TrainingLoop(const TrainingParts& parts, const TrainingOptions& options, Checkpoint start,
                           const std::stop_token& stop)
    : parts_(parts),
      options_(options),
      stop_(stop),
      start_(StartAfter(start.position, options.world.size)),
      first_step_(start.position.steps),
      state_(std::move(start)),
      saved_steps_(first_step_),
      statistics_(std::exchange(state_.totals, {})),
      timeline_(parts.trained.clock(),
                [this](const wire::StepRecord& step, const StepReading& reading) { Learn(step, reading); }) {}

absl::Status TrainingLoop::Run() {
  if (steps() < options_.steps) {
    ABSL_RETURN_IF_ERROR(MakeSteps());
  }
  return EvaluateSplits();
}

absl::Status TrainingLoop::MakeSteps() {
  absl::StatusOr<std::unique_ptr<TrainingBatches>> opened = OpenSource();
  ABSL_RETURN_IF_ERROR(parts_.sync.AllSucceed(opened.status()));
  const std::unique_ptr<TrainingBatches> batches = *std::move(opened);
  const std::stop_callback cancel(stop_, [&batches] { batches->Cancel(); });
  while (issued_steps() < options_.steps) {
    if (IsEvaluationDue()) {
      ABSL_RETURN_IF_ERROR(EvaluateSplits());
    }
    ABSL_RETURN_IF_ERROR(MakeStep(*batches));
    if (!IsCheckpointDue()) continue;
    ABSL_RETURN_IF_ERROR(Save());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<TrainingBatches>> TrainingLoop::OpenSource() const {
  ABSL_ASSIGN_OR_RETURN(
      std::unique_ptr<client::BatchReader> stream,
      OpenBatches(parts_.data, parts_.data.spec, parts_.data.plan.fingerprint, /*epochs=*/0, start_));
  auto streamed = std::make_unique<StreamedBatches>(std::move(stream), parts_.feed);
  if (!options_.synthetic) return streamed;
  return std::make_unique<SyntheticBatches>(std::move(streamed), parts_.trained.inputs(),
                                            parts_.trained.parameters().values().device(),
                                            std::min(SyntheticBatches::kMaxBatches, options_.max_captures));
}

absl::Status TrainingLoop::MakeStep(TrainingBatches& batches) {
  const Clock::time_point asked = Clock::now();
  const absl::Status next = NextBatch(batches);
  const std::uint64_t wait_ns = NanosecondsSince(asked);
  if (!next.ok()) return Withdraw(next);
  wire::StepRecord record = RecordOf(batches.header(), batches.timing());
  record.wait_ns = wait_ns;
  timeline_.Begin(record);
  if (absl::Status status = BringInputs(batches); !status.ok()) {
    timeline_.Discard();
    return Withdraw(status);
  }
  ABSL_ASSIGN_OR_RETURN(const std::uint64_t capture_ns, parts_.trained.engine().Step(issued_steps()));
  issued_.push_back({.after = PositionAfter(batches.header()), .skipped = SkippedIn(batches.header())});
  timeline_.End(capture_ns);
  Settle();
  return halt_ ? EndTogether(*halt_) : absl::OkStatus();
}

// To where the next step reads them.
absl::Status TrainingLoop::BringInputs(TrainingBatches& batches) const {
  StepEngine& engine = parts_.trained.engine();
  if (batches.resident() == nullptr) {
    const GraphTensors& inputs = engine.InputsFor(batches.header().padded);
    ABSL_RETURN_IF_ERROR(batches.Expand(inputs));
    return parts_.step_files ? parts_.step_files->Write(issued_steps(), inputs) : absl::OkStatus();
  }
  engine.ReadInPlace(*batches.resident());
  return absl::OkStatus();
}

absl::Status TrainingLoop::NextBatch(TrainingBatches& batches) const {
  absl::Status status = batches.Next();
  return stop_.stop_requested() ? absl::CancelledError("asked to stop") : status;
}

wire::StepRecord TrainingLoop::RecordOf(const wire::BatchHeader& header, const wire::BatchTiming& timing) {
  wire::StepRecord record;
  record.step = issued_steps();
  record.epoch = header.epoch;
  record.batch_index = header.index;
  record.real = header.real;
  record.padded = header.padded;
  record.server_build_ns = timing.build_ns;
  record.server_queue_ns = timing.queue_ns;
  record.flags = std::exchange(flags_of_next_, 0);
  if (record.step - first_step_ < wire::kWarmUpSteps) record.flags |= wire::kWarmUp;
  if (header.step == 0) record.flags |= wire::kFirstOfEpoch;
  if (IsShort(header, parts_.data.spec.graphs)) record.flags |= wire::kShortBatch;
  return record;
}

TrainingLoop::SkippedGraphs TrainingLoop::SkippedIn(const wire::BatchHeader& header) {
  return {.epoch = header.epoch, .batch_index = header.index, .graphs = header.corrupt_graphs};
}

Position TrainingLoop::PositionAfter(const wire::BatchHeader& header) const {
  const bool in_first_epoch = header.epoch == start_.epoch;
  return {.steps = issued_steps() + 1,
          .epoch = header.epoch,
          .epoch_step = header.step,
          .epoch_steps = header.epoch_steps,
          .world_size = options_.world.size,
          .segments = in_first_epoch ? start_.segments : std::vector<wire::Segment>()};
}

// Learns what became of the steps issued: of all where the ranks do something else next. Otherwise several
// ranks learn of each step after the same later one, whichever of them is faster, and so take part in the same
// ones: a rank that withdraws goes on doing so until it learns of it as the others do.
void TrainingLoop::Settle() {
  if (IsEvaluationDue() || IsCheckpointDue()) {
    timeline_.HandOver(0);
  } else if (options_.world.size > 1) {
    timeline_.HandOver(kMaxStepsAhead - 1);
  } else {
    timeline_.HandOverEnded();
  }
}

// Steps after the one that halted were not made either. A reading means something only if all ranks were there
// after it.
void TrainingLoop::Learn(const wire::StepRecord& step, const StepReading& reading) {
  if (halt_) return;
  if (const absl::Status ranks = parts_.sync.CheckRanks(); !ranks.ok()) {
    halt_ = ranks;
    issued_.clear();
    return;
  }
  if (reading.sums[kHalted] > 0) {
    halt_ = reading.sums[kWithdrawals] > 0 ? AnotherRankCannotGoOn() : NotFinite(step.step);
    issued_.clear();
    return;
  }
  state_.position = std::move(issued_.front().after);
  ReportCorrupt(step.step, parts_.data.spec.split, issued_.front().skipped);
  issued_.pop_front();
  Report(step);
}

void TrainingLoop::Report(const wire::StepRecord& step) {
  parts_.reporter.AddStep(step);
  statistics_.Add(step);
  if (step.step + 1 != options_.steps && Clock::now() < next_progress_) return;
  next_progress_ = Clock::now() + kProgressPeriod;
  Progress(absl::StrFormat("step %d/%d  epoch %d  loss %.4g  %.1f ms", step.step + 1, options_.steps,
                           step.epoch, statistics_.totals().last_loss,
                           static_cast<double>(step.total_ns) * 1e-6));
}

void TrainingLoop::ReportCorrupt(std::uint64_t step, const std::string& split, const SkippedGraphs& skipped) {
  if (skipped.graphs.empty()) return;
  parts_.reporter.AddCorruptGraphs({.step = step,
                                    .epoch = skipped.epoch,
                                    .batch_index = skipped.batch_index,
                                    .split = split,
                                    .graphs = skipped.graphs});
  if (std::exchange(told_of_corrupt_, true) || !options_.progress) return;
  const std::string rank = options_.world.size > 1 ? absl::StrCat("rank ", options_.world.rank, ": ") : "";
  options_.progress(absl::StrCat(rank, "graph ", skipped.graphs.front(), " of ", parts_.data.dataset.reference,
                                 " is damaged and left out, as is each that is found so; `packtrain run show ",
                                 parts_.reporter.run(), "` lists them"));
}

// Where the others cannot even be told, they are what `reason` is about, or they are gone as well.
absl::Status TrainingLoop::Withdraw(const absl::Status& reason) {
  while (!halt_) {
    timeline_.Begin({});
    if (!parts_.trained.engine().Withdraw().ok()) return reason;
    issued_.emplace_back();
    timeline_.End();
    Settle();
  }
  return EndTogether(reason);
}

// Of all ranks, once each knows that one of them cannot go on. `reason` is CANCELLED where that is another one,
// or where this one is asked to stop; ABORTED where the ranks have lost each other, and there is no such end.
absl::Status TrainingLoop::EndTogether(const absl::Status& reason) {
  if (absl::IsAborted(reason)) return reason;
  if (absl::Status status = Save(); !status.ok()) {
    return absl::IsCancelled(reason) ? status : WithReason(reason, status);
  }
  if (parts_.folder && saved_steps_ > first_step_) {
    Progress(absl::StrCat("checkpoint of ", saved_steps_, " steps in ", parts_.folder->file(),
                          "; --resume goes on from there"));
  }
  if (!absl::IsCancelled(reason) || stop_.stop_requested()) return reason;
  // Fails with the reason of the rank that leaves.
  const absl::Status cause = parts_.sync.Barrier();
  return cause.ok() ? reason : cause;
}

absl::Status TrainingLoop::Save() {
  timeline_.HandOver(0);
  if (options_.checkpoint.folder.empty() || saved_steps_ == steps()) return absl::OkStatus();
  const Clock::time_point start = Clock::now();
  Checkpoint checkpoint = state_;
  checkpoint.totals = statistics_.totals();
  checkpoint.unsent = parts_.reporter.unsent();
  absl::Status status = SaveCheckpoint(std::move(checkpoint), parts_.trained.parameters(),
                                       parts_.trained.adam(), parts_.folder, parts_.sync);
  ABSL_RETURN_IF_ERROR(status);
  saved_steps_ = steps();
  flags_of_next_ |= wire::kCheckpoint;
  ReportEvent("checkpoint", start);
  return absl::OkStatus();
}

absl::Status TrainingLoop::EvaluateSplits() {
  const Clock::time_point start = Clock::now();
  for (const char* split : {"val", "test"}) {
    const client::SplitInfo* info = parts_.data.dataset.FindSplit(split);
    if (info == nullptr || !HasLabels(parts_.data, *info)) continue;
    ABSL_RETURN_IF_ERROR(EvaluateSplit(split));
  }
  if (steps() > 0) flags_of_next_ |= wire::kEvaluation;
  ReportEvent("evaluation", start);
  return absl::OkStatus();
}

absl::Status TrainingLoop::EvaluateSplit(const std::string& split) {
  const Clock::time_point start = Clock::now();
  const absl::Status status = ReadSplit(split);
  if (absl::IsAborted(status)) return status;
  if (!status.ok()) return EndTogether(status);
  ReportEvaluation(split, NanosecondsSince(start));
  return absl::OkStatus();
}

absl::Status TrainingLoop::ReadSplit(const std::string& split) {
  const wire::BatchSpec spec = EvaluationSpec(parts_.data.spec, parts_.data.plan, split);
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<client::BatchReader> batches,
                        OpenBatches(parts_.data, spec, /*fingerprint=*/"", /*epochs=*/1, /*start=*/{}));
  const std::stop_callback cancel(stop_, [&batches] { batches->Cancel(); });
  const auto report_corrupt = [&](const wire::BatchHeader& header) {
    ReportCorrupt(steps(), split, SkippedIn(header));
  };
  ABSL_ASSIGN_OR_RETURN(splits_[split], parts_.evaluator.Evaluate(*batches, parts_.sync, report_corrupt));
  return absl::OkStatus();
}

void TrainingLoop::ReportEvaluation(const std::string& split, std::uint64_t duration_ns) {
  if (options_.world.rank != 0) return;
  const SplitMetrics& split_metrics = splits_.at(split);
  const Metric mae = MetricOf(split_metrics, "mae"), rmse = MetricOf(split_metrics, "rmse");
  const Metric accuracy = MetricOf(split_metrics, "accuracy");
  parts_.reporter.AddEvaluation({.step = steps(),
                                 .split = split,
                                 .graphs = split_metrics.graphs,
                                 .mae = mae.value,
                                 .rmse = rmse.value,
                                 .constant_mae = mae.constant,
                                 .constant_rmse = rmse.constant,
                                 .duration_ns = duration_ns,
                                 .accuracy = IfKnown(accuracy.value),
                                 .constant_accuracy = IfKnown(accuracy.constant),
                                 .filter_error = parts_.trained.model().FilterError()});
  Progress(absl::StrCat("step ", steps(), "  ", split, "  ", Describe(split_metrics)));
}

// Of what all ranks have done together from `start` on.
void TrainingLoop::ReportEvent(const std::string& name, Clock::time_point start) const {
  if (options_.world.rank != 0) return;
  const std::uint64_t duration_ns = NanosecondsSince(start);
  const auto now = std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch());
  parts_.reporter.AddEvent({.name = name,
                            .start_ns = now.count() - static_cast<std::int64_t>(duration_ns),
                            .duration_ns = duration_ns,
                            .step = static_cast<std::int64_t>(steps()) - 1});
}

bool TrainingLoop::IsEvaluationDue() const {
  const std::uint64_t every = options_.evaluate_every;
  return every > 0 && issued_steps() > 0 && issued_steps() % every == 0;
}

bool TrainingLoop::IsCheckpointDue() const {
  const std::uint64_t every = options_.checkpoint.every;
  return issued_steps() == options_.steps || (every > 0 && issued_steps() % every == 0);
}

void TrainingLoop::Progress(const std::string& line) const {
  if (options_.world.rank == 0 && options_.progress) options_.progress(line);
}

}  // namespace packtrain::trainer
