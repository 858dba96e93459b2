// The plan of one epoch: which graphs make which batch, and how far each is padded.
#ifndef PACKTRAIN_SERVER_BATCHING_PLAN_H_
#define PACKTRAIN_SERVER_BATCHING_PLAN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/batching/batch_spec.h"

namespace packtrain::batching {

struct Shape {
  std::uint32_t graphs = 0;
  std::uint32_t nodes = 0;
  std::uint32_t edges = 0;
  friend bool operator==(const Shape&, const Shape&) = default;
  friend auto operator<=>(const Shape&, const Shape&) = default;
};

// Sizes of all graphs of a data set, by graph index. Borrowed; outlives the plan.
struct GraphSizes {
  std::span<const std::uint32_t> n_node;
  std::span<const std::uint32_t> n_edge;
};

// What to plan: the graphs of one split, in data-set order.
struct PlanRequest {
  BatchSpec spec;
  GraphSizes sizes;
  std::span<const std::uint32_t> split;  // graph indices, ascending; borrowed, outlives the plan
  std::uint64_t epoch = 0;
  std::uint32_t world_size = 1;
};

// One batch of an epoch.
struct PlannedBatch {
  std::uint64_t index = 0;
  std::uint64_t step = 0;
  std::uint32_t rank = 0;
  std::span<const std::uint32_t> graphs;  // graph indices; borrowed from the plan
  Shape real;
  Shape padded;
  bool empty = false;     // fills up the last step
  bool oversize = false;  // one graph above the budget, alone
};

struct ShapeCount {
  Shape shape;
  std::uint64_t batches = 0;
};

// Totals of an epoch. Empty batches count in `steps` alone.
struct PlanSummary {
  std::uint64_t batches = 0;
  std::uint64_t steps = 0;
  std::uint64_t graphs = 0;
  std::optional<Shape> budget;  // (M, N, E); none for static
  double fill_graphs = 0;
  double fill_nodes = 0;
  double fill_edges = 0;
  std::vector<ShapeCount> shapes;  // most frequent first, then by shape
  double mean_graphs = 0;
  std::uint32_t min_graphs = 0;
  std::uint32_t max_graphs = 0;
  std::uint64_t oversize = 0;                  // graphs above the budget, alone or skipped
  std::vector<std::uint32_t> oversize_graphs;  // the first 1,000
  double rank_load_mean_over_max = 0;
  std::uint64_t bound_batches = 0;
};

// Immutable once created; any number of threads may read it.
class Plan {
 public:
  // INVALID_ARGUMENT: the spec contradicts itself, or the split is empty, or world size is 0.
  // FAILED_PRECONDITION: graphs above the budget under Oversize::kError.
  // Time and memory are linear in the split.
  static absl::StatusOr<std::unique_ptr<const Plan>> Create(const PlanRequest& request);

  virtual ~Plan() = default;

  // Steps of every rank.
  virtual std::uint64_t steps() const = 0;
  // Batch `index` of the epoch, 0 .. steps * world_size - 1. OUT_OF_RANGE beyond.
  virtual absl::StatusOr<PlannedBatch> BatchAt(std::uint64_t index) const = 0;
  virtual PlanSummary Summarize() const = 0;
  // Bytes this plan holds in memory.
  virtual std::uint64_t memory_bytes() const = 0;
};

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_PLAN_H_
