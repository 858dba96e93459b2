// The input of Plan::Create: a spec, the sizes of the graphs, and the world that shares the epoch.
#ifndef PACKTRAIN_SERVER_BATCHING_PLAN_REQUEST_H_
#define PACKTRAIN_SERVER_BATCHING_PLAN_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "proto/wire/batch_spec.h"
#include "proto/wire/world.h"

namespace packtrain::batching {

// Sizes of all graphs of a data set, by graph index. Borrowed; outlives the plan.
struct GraphSizes {
  std::span<const std::uint32_t> n_node;
  std::span<const std::uint32_t> n_edge;
  // n_node | n_edge << 16 of each graph, or empty. Filled by the planner (MakeSizeWords), not by whoever makes
  // a request.
  std::span<const std::uint32_t> words = {};
  // The bandwidth of each graph, or empty where it is not known.
  std::span<const std::uint32_t> bandwidth = {};
};

inline constexpr std::size_t kMaxSegments = 1024;

// Calls `run` with each of 0 .. tasks-1 once, in any order, on any threads, and returns when all calls have
// returned.
using ParallelFor = std::function<void(std::size_t tasks, const std::function<void(std::size_t task)>& run)>;

// Makes one call after another, on the calling thread.
inline void RunInTurn(std::size_t tasks, const std::function<void(std::size_t task)>& run) {
  for (std::size_t task = 0; task < tasks; ++task) run(task);
}

// What to plan: the graphs of one split, in data-set order.
struct PlanRequest {
  wire::BatchSpec spec;
  GraphSizes sizes;
  std::span<const std::uint32_t> split;  // graph indices, ascending; borrowed, outlives the plan
  std::uint64_t epoch = 0;
  wire::World world = {};
  // Gives the name of a graph in error messages, such as its source id. Called by one thread, before Create
  // returns. If it is empty, messages say "graph 17".
  std::function<std::string(std::uint32_t graph)> graph_name = nullptr;
  // Called with the number of graphs above the budget, if there are any, before Create returns. May be empty.
  std::function<void(std::uint64_t graphs)> on_oversize = nullptr;
  // Runs the parts of planning that can run in parallel, before Create returns. It has no influence on the
  // plan.
  ParallelFor parallel_for = RunInTurn;
};

// INVALID_ARGUMENT: the split is empty, does not ascend or names a graph without sizes.
absl::Status CheckSplit(const PlanRequest& request);

// FAILED_PRECONDITION: a graph of the split, which passes CheckSplit, has no bandwidth; `option` needs it.
absl::Status CheckBandwidths(std::string_view option, const PlanRequest& request);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_PLAN_REQUEST_H_
