// What a plan says of one epoch: counts, shapes and fills, without its graphs.
#ifndef PACKTRAIN_PROTO_WIRE_PLAN_SUMMARY_H_
#define PACKTRAIN_PROTO_WIRE_PLAN_SUMMARY_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "proto/wire/shape.h"

namespace packtrain::wire {

struct ShapeCount {
  Shape shape;
  std::uint64_t batches = 0;
};

// Totals of what an epoch delivers. Empty batches count in `steps` alone; batches that drop_last leaves out
// count nowhere. A fill is real over padded slots, 1 where there is no slot.
struct PlanSummary {
  std::uint64_t batches = 0;
  std::uint64_t steps = 0;
  std::uint64_t graphs = 0;
  std::uint64_t dropped_graphs = 0;  // of the batches that drop_last leaves out
  std::uint64_t skipped_graphs = 0;  // that skip_above leaves out; they count nowhere else
  std::optional<Shape> budget;       // (M, N, E); none for static
  double fill_graphs = 0;
  double fill_nodes = 0;
  double fill_edges = 0;
  std::vector<ShapeCount>
      shapes;  // most frequent first, then by shape; those that are settled for all epochs, too
  double mean_graphs = 0;
  std::uint32_t min_graphs = 0;
  std::uint32_t max_graphs = 0;
  std::uint64_t oversize = 0;                  // graphs above the budget, alone or skipped
  std::vector<std::uint32_t> oversize_graphs;  // indices of the first 1,000
  // Mean over the steps of mean / greatest load of the ranks; load = real nodes + edges.
  double rank_load_mean_over_max = 0;
  // No policy can need fewer batches for these graphs under these limits; oversize graphs count one each.
  std::uint64_t bound_batches = 0;
};

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_PLAN_SUMMARY_H_
