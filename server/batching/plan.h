// The plan of one epoch: which graphs make which batch, and how far each is padded. The server makes one for
// the streams of an epoch, and the client for a list of sizes.
//
//   ABSL_ASSIGN_OR_RETURN(const auto plan, Plan::Create({.spec = spec, .sizes = sizes, .split = split}));
//   for (std::uint64_t index = 0; index < plan->FirstOfStep(plan->steps()); ++index) {
//     ABSL_ASSIGN_OR_RETURN(const PlannedBatch batch, plan->BatchAt(index));
//     Use(batch.graphs, batch.padded);
//   }
#ifndef PACKTRAIN_SERVER_BATCHING_PLAN_H_
#define PACKTRAIN_SERVER_BATCHING_PLAN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/wire/plan_summary.h"
#include "proto/wire/shape.h"
#include "server/batching/plan_request.h"

namespace packtrain::batching {

// One batch of an epoch. `padded` always leaves room for a padding graph, and for a padding node wherever it
// has more edges than `real`, except with Pad::kNone, where it equals `real`. An empty batch has no graphs and
// the padded shape of rank 0's batch in its step, so it adds no shape to the plan.
struct PlannedBatch {
  std::uint64_t index = 0;
  std::uint64_t step = 0;
  std::uint32_t rank = 0;
  std::span<const std::uint32_t> graphs;  // graph indices; borrowed from the plan
  wire::Shape real;
  wire::Shape padded;
  bool empty = false;     // fills up the last step
  bool oversize = false;  // one graph above the budget, alone
};

// Immutable once created; any number of threads may read it.
class Plan {
 public:
  // INVALID_ARGUMENT: the spec contradicts itself or has a value out of range; the split is empty, does not
  // ascend or names a graph without sizes; a world size or a segment's number of steps is 0; there are more
  // than kMaxSegments segments.
  // OUT_OF_RANGE: a segment has more steps than the epoch has left for it.
  // FAILED_PRECONDITION: graphs above the budget under Oversize::kError; a shape that could need more than
  // 2^31 - 1 slots; skip_above or Oversize::kSkip leaves no graph, or drop_last no step; Policy::kSupergraph or
  // SkipAbove::kBandwidth without bandwidths.
  // Time and memory are linear in the split.
  static absl::StatusOr<std::unique_ptr<const Plan>> Create(const PlanRequest& request);

  virtual ~Plan() = default;

  // The plan that Create would make of the same epoch for another world. It shares the batches as they were cut
  // with this plan, which may be destroyed first. Cheap, except with Balance::kCost, where the batches are
  // arranged anew. Codes: those of Create that concern the world or drop_last.
  virtual absl::StatusOr<std::unique_ptr<const Plan>> DealtTo(const wire::World& world) const = 0;

  // Steps of every rank, those of the segments included.
  virtual std::uint64_t steps() const = 0;
  // Index of rank 0's batch at a step, 0 .. steps; those of the other ranks follow.
  virtual std::uint64_t FirstOfStep(std::uint64_t step) const = 0;
  // Batch `index` of the epoch, 0 .. FirstOfStep(steps) - 1. OUT_OF_RANGE beyond.
  virtual absl::StatusOr<PlannedBatch> BatchAt(std::uint64_t index) const = 0;
  virtual wire::PlanSummary Summarize() const = 0;
  // Bytes of memory that this plan holds. Plans dealt from it share all of them or, with Balance::kCost, the
  // part that does not depend on the world.
  virtual std::uint64_t memory_bytes() const = 0;
};

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_PLAN_H_
