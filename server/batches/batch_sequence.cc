#include "server/batches/batch_sequence.h"

#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/batches/corrupt_graphs.h"
#include "server/batching/policy_kind.h"

namespace packtrain::batches {
namespace {

// For segments that fit an epoch.
std::uint64_t StepsOf(const std::vector<wire::Segment>& segments) {
  std::uint64_t steps = 0;
  for (const wire::Segment& segment : segments) steps += segment.steps;
  return steps;
}

// Equal for sequences of equal batches at equal epochs and indices.
std::string PlanKey(const ResolvedSpec& resolved, const SequenceRange& range) {
  std::string key = absl::StrCat(resolved.reference(), " ", resolved.fingerprint, " ", range.world.size,
                                 range.skip_corrupt ? " skip" : "");
  if (range.world.segments.empty()) return key;
  absl::StrAppend(&key, " ", range.start_epoch);
  for (const wire::Segment& segment : range.world.segments) {
    absl::StrAppend(&key, " ", segment.world_size, ":", segment.steps);
  }
  return key;
}

}  // namespace

absl::Status CheckRank(const SequenceRange& range) {
  if (range.rank < range.world.size) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("rank ", range.rank, " is not below world_size ", range.world.size, "; ranks count from 0"));
}

absl::StatusOr<std::unique_ptr<BatchSequence>> BatchSequence::Open(ResolvedSpec resolved, SequenceRange range,
                                                                   BatchBuilder builder, PlanCache& plans,
                                                                   SharedBatches& shared,
                                                                   WorkerPool& background) {
  ABSL_RETURN_IF_ERROR(CheckRank(range));
  std::unique_ptr<BatchSequence> sequence(
      new BatchSequence(std::move(resolved), std::move(range), std::move(builder), plans, shared, background));
  ABSL_RETURN_IF_ERROR(sequence->EnterStart());
  return sequence;
}

BatchSequence::BatchSequence(ResolvedSpec resolved, SequenceRange range, BatchBuilder builder, PlanCache& plans,
                             SharedBatches& shared, WorkerPool& background)
    : resolved_(std::move(resolved)),
      range_(std::move(range)),
      builder_(std::move(builder)),
      plans_(plans),
      background_(background),
      shared_(shared, PlanKey(resolved_, range_)) {}

absl::StatusOr<std::optional<BatchSequence::Planned>> BatchSequence::Next() {
  if (step_ == plan_->plan->steps()) {
    if (IsLastEpoch()) return std::nullopt;
    ABSL_RETURN_IF_ERROR(EnterNextEpoch());
  }
  ABSL_RETURN_IF_ERROR(planned_.status());
  Planned next{plan_, *planned_, epoch_};
  GoTo(step_ + 1);
  return next;
}

absl::StatusOr<BuiltBatch> BatchSequence::Build(const Planned& planned,
                                                limits::MemoryBudget::Reservation memory) const {
  return shared_.Get(planned.epoch, planned.batch.index, builder_.IsQuick(planned.batch),
                     [&] { return BuildAnew(planned, std::move(memory)); });
}

absl::StatusOr<BuiltBatch> BatchSequence::BuildAnew(const Planned& planned,
                                                    limits::MemoryBudget::Reservation memory) const {
  const EpochPosition position{.epoch = planned.epoch,
                               .epoch_steps = planned.plan->plan->steps(),
                               .world_size = range_.world.size,
                               .fingerprint = resolved_.fingerprint};
  absl::StatusOr<BuiltBatch> built = builder_.TryBuild(planned.batch, position, memory);
  if (built.ok() || !absl::IsDataLoss(built.status())) return built;
  if (range_.skip_corrupt) {
    return BuildWithoutCorrupt(builder_, *resolved_.dataset, planned.batch, position, std::move(memory));
  }
  return absl::DataLossError(absl::StrCat(
      built.status().message(), "; packtrain-trainer --on-corrupt skip goes on without what is damaged"));
}

metrics::Series BatchSequence::series() const {
  return {wire::WordOf(*resolved_.spec.policy, wire::kPolicyWords), resolved_.dataset->description().name()};
}

bool BatchSequence::NextNeedsPlan() const {
  return step_ == plan_->plan->steps() && !IsLastEpoch() && !next_plan_->IsThere();
}

absl::Status BatchSequence::EnterNextEpoch() { return EnterEpoch(epoch_ + 1, {.size = range_.world.size}); }

bool BatchSequence::NextIsQuick() const {
  if (step_ == plan_->plan->steps()) return IsLastEpoch();
  return planned_.ok() && builder_.IsQuick(*planned_);
}

absl::Status BatchSequence::EnterEpoch(std::uint64_t epoch, const wire::World& world) {
  ABSL_ASSIGN_OR_RETURN(std::shared_ptr<const EpochPlan> plan, plans_.Get(resolved_, epoch, world));
  plan_ = std::move(plan);
  epoch_ = epoch;
  GoTo(0);
  if (!IsLastEpoch()) PlanAhead();
  return absl::OkStatus();
}

void BatchSequence::GoTo(std::uint64_t step) {
  step_ = step;
  planned_ = plan_->plan->BatchAt(plan_->plan->FirstOfStep(step) + range_.rank);
}

absl::Status BatchSequence::EnterStart() {
  ABSL_RETURN_IF_ERROR(EnterEpoch(range_.start_epoch, range_.world));
  const std::uint64_t step = range_.start_step;
  const std::uint64_t steps = plan_->plan->steps();
  if (step > steps) {
    return absl::OutOfRangeError(absl::StrCat("start_step ", step, " is past the end of epoch ", epoch_,
                                              ", which has ", steps, " steps"));
  }
  if (const std::uint64_t before = StepsOf(range_.world.segments); step < before) {
    return absl::InvalidArgumentError(
        absl::StrCat("start_step ", step, " is inside the segments, which have ", before, " steps together"));
  }
  GoTo(step);
  return absl::OkStatus();
}

void BatchSequence::PlanAhead() {
  next_plan_ = std::make_shared<PlanCache::Prepared>();
  background_.Post([resolved = resolved_, epoch = epoch_ + 1, ranks = range_.world.size, &plans = plans_,
                    prepared = next_plan_] { plans.Prepare(resolved, epoch, {.size = ranks}, prepared); });
}

bool BatchSequence::IsLastEpoch() const {
  if (epoch_ == std::numeric_limits<std::uint64_t>::max()) return true;
  return range_.epochs != 0 && epoch_ - range_.start_epoch == range_.epochs - 1;
}

}  // namespace packtrain::batches
