// The batches that one stream sends, in order. Knows nothing of gRPC.
//
// One thread steps through the sequence, and any thread builds the batches that it has stepped to:
//
//   const SequenceRange range = {.rank = 1, .world = {.size = 4}};
//   ABSL_ASSIGN_OR_RETURN(auto sequence, BatchSequence::Open(resolved, range, builder, plans, shared, pool));
//   for (auto next = sequence->Next(); next.ok() && next->has_value(); next = sequence->Next()) {
//     ABSL_ASSIGN_OR_RETURN(const BuiltBatch batch, sequence->Build(**next));
//   }
#ifndef PACKTRAIN_SERVER_BATCHES_BATCH_SEQUENCE_H_
#define PACKTRAIN_SERVER_BATCHES_BATCH_SEQUENCE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/batches/batch_builder.h"
#include "server/batches/plan_cache.h"
#include "server/batches/resolved_spec.h"
#include "server/batches/shared_batches.h"
#include "server/batches/worker_pool.h"
#include "server/batching/plan.h"
#include "server/metrics/batch_tally.h"

namespace packtrain::batches {

// One rank's way through the epochs; fields as in StreamBatchesRequest.
struct SequenceRange {
  std::uint32_t rank = 0;
  // The segments are those of `start_epoch`; later epochs belong to `world.size` ranks alone.
  wire::World world = {};
  std::uint64_t start_epoch = 0;
  std::uint64_t start_step = 0;
  std::uint64_t epochs = 0;  // 0: without end
  bool skip_corrupt = false;
};

// INVALID_ARGUMENT: the rank is outside the world.
absl::Status CheckRank(const SequenceRange& range);

// Used by one thread at a time, except for Build. While an epoch is being read, the plan of the next one is
// made in the background if there is memory for it, so that there is no gap between the two, and held until
// then.
class BatchSequence {
 public:
  // A batch that is to be built.
  struct Planned {
    std::shared_ptr<const EpochPlan> plan;  // which `batch` borrows from
    batching::PlannedBatch batch;
    std::uint64_t epoch = 0;
  };

  // `plans`, `shared` and `background` are borrowed and outlive the sequence and what it posted.
  // INVALID_ARGUMENT: rank outside the world, or `start_step` inside its segments. OUT_OF_RANGE: `start_step`
  // is past the epoch's end. Otherwise as batching::Plan::Create.
  static absl::StatusOr<std::unique_ptr<BatchSequence>> Open(ResolvedSpec resolved, SequenceRange range,
                                                             BatchBuilder builder, PlanCache& plans,
                                                             SharedBatches& shared, WorkerPool& background);

  // Steps to the next batch; nullopt after the last. Codes as batching::Plan::Create; FAILED_PRECONDITION: an
  // epoch has no step, which `drop_last` may bring about.
  absl::StatusOr<std::optional<Planned>> Next();

  // Any number of threads may build what Next has returned, in any order, and again where memory was short.
  // Codes, and `memory`, as BatchBuilder::Build, or BuildWithoutCorrupt where the range skips corrupt graphs.
  absl::StatusOr<BuiltBatch> Build(const Planned& planned, limits::MemoryBudget::Reservation memory = {}) const;
  // As BatchBuilder::ReservedBytes.
  std::uint64_t ReservedBytes(const Planned& planned) const { return builder_.ReservedBytes(planned.batch); }
  // About what the batch's body takes.
  std::uint64_t BodyBytes(const Planned& planned) const { return builder_.BodyBytes(planned.batch); }

  // NAME@VERSION.
  std::string dataset() const { return resolved_.reference(); }
  // What metrics count its batches under.
  metrics::Series series() const;

  // Whether the next batch is the first of another epoch, whose plan is not prepared: Next may have to wait for
  // it.
  bool NextNeedsPlan() const;
  // Does that of Next, where the next batch needs a plan. Codes as Next.
  absl::Status EnterNextEpoch();

  // Whether the next batch needs neither a new plan nor a read from disk and is built within a fraction of a
  // millisecond, so that a thread that must not block may step to it and build it. True at the end of the
  // sequence.
  bool NextIsQuick() const;

 private:
  BatchSequence(ResolvedSpec resolved, SequenceRange range, BatchBuilder builder, PlanCache& plans,
                SharedBatches& shared, WorkerPool& background);

  // Where no other stream has it.
  absl::StatusOr<BuiltBatch> BuildAnew(const Planned& planned, limits::MemoryBudget::Reservation memory) const;
  absl::Status EnterEpoch(std::uint64_t epoch, const wire::World& world);
  // `step` is of the epoch, or its end.
  void GoTo(std::uint64_t step);
  // Goes to the range's first position.
  absl::Status EnterStart();
  void PlanAhead();
  bool IsLastEpoch() const;

  const ResolvedSpec resolved_;
  const SequenceRange range_;
  const BatchBuilder builder_;
  PlanCache& plans_;
  WorkerPool& background_;
  SharedBatches::Reader shared_;

  std::shared_ptr<const EpochPlan> plan_;
  std::shared_ptr<PlanCache::Prepared> next_plan_;  // of the next epoch
  std::uint64_t epoch_ = 0;
  std::uint64_t step_ = 0;
  absl::StatusOr<batching::PlannedBatch> planned_;  // of the step; an error at the end
};

}  // namespace packtrain::batches

#endif  // PACKTRAIN_SERVER_BATCHES_BATCH_SEQUENCE_H_
