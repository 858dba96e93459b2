// What is asked of the planner.
#ifndef PACKTRAIN_SERVER_BATCHING_PLAN_REQUEST_H_
#define PACKTRAIN_SERVER_BATCHING_PLAN_REQUEST_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "server/batching/batch_spec.h"

namespace packtrain::batching {

// Sizes of all graphs of a data set, by graph index. Borrowed; outlives the plan.
struct GraphSizes {
  std::span<const std::uint32_t> n_node;
  std::span<const std::uint32_t> n_edge;
  // n_node | n_edge << 16 of each graph, or none: for who plans (MakeSizeWords), no part of a request.
  std::span<const std::uint32_t> words = {};
};

inline constexpr std::size_t kMaxSegments = 1024;

// A part of an epoch, from its beginning or the end of the segment before it.
struct Segment {
  std::uint32_t world_size = 1;
  std::uint64_t steps = 1;  // of each rank
  friend auto operator<=>(const Segment&, const Segment&) = default;
};

// The ranks that share an epoch: those of each segment in turn, then `size` ranks to its end.
struct World {
  std::uint32_t size = 1;
  std::vector<Segment> segments = {};
  friend auto operator<=>(const World&, const World&) = default;
};

// Calls `run` with each of 0 .. tasks-1 once, in any order, on any threads, and returns when all calls have
// returned.
using ParallelFor = std::function<void(std::size_t tasks, const std::function<void(std::size_t task)>& run)>;

// One call after the other, on the calling thread.
inline void RunInTurn(std::size_t tasks, const std::function<void(std::size_t task)>& run) {
  for (std::size_t task = 0; task < tasks; ++task) run(task);
}

// What to plan: the graphs of one split, in data-set order.
struct PlanRequest {
  BatchSpec spec;
  GraphSizes sizes;
  std::span<const std::uint32_t> split;  // graph indices, ascending; borrowed, outlives the plan
  std::uint64_t epoch = 0;
  World world = {};
  // What messages call a graph, such as its source id; called by one thread, before Create returns. Empty:
  // "graph 17".
  std::function<std::string(std::uint32_t graph)> graph_name = nullptr;
  // Called with the number of graphs above the budget, where there are any, before Create returns or refuses
  // them; empty: nobody asks.
  std::function<void(std::uint64_t graphs)> on_oversize = nullptr;
  // Runs what can be planned side by side, before Create returns. Has no part in what is planned.
  ParallelFor parallel_for = RunInTurn;
};

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_PLAN_REQUEST_H_
