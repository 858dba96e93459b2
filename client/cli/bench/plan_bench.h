// Measures how fast epochs are planned.
#ifndef PACKTRAIN_CLIENT_CLI_BENCH_PLAN_BENCH_H_
#define PACKTRAIN_CLIENT_CLI_BENCH_PLAN_BENCH_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "client/cli/plan/local_plan.h"
#include "client/flags/spec_flags.h"

namespace packtrain::cli {

// Times of the pass in the middle, when ordered by time; a pass plans one epoch and asks for each of its
// batches.
struct PlanBenchResult {
  std::uint64_t count = 0;  // graphs of the list, repeats and all
  std::uint64_t batches = 0;
  std::uint64_t passes = 0;
  std::size_t threads = 0;
  double seconds = 0;
  double seconds_min = 0;  // of the fastest pass
  double seconds_max = 0;
  double cpu_seconds = 0;          // of all threads together
  double first_batch_seconds = 0;  // until the epoch's first batch is known
  double ns_per_graph = 0;         // of `seconds`
  // As AllocationMeter counts, beyond what the request holds (sizes and split), in the pass that took most.
  std::uint64_t peak_bytes = 0;
  std::uint64_t plan_bytes = 0;  // of these, what the finished plan holds
  double fill_graphs = 0;
  double fill_nodes = 0;
  double fill_edges = 0;
};

// Plans the list `repeat` times end to end on `threads` threads, for at least three passes and one second, each
// pass the epoch after the one before, the first that of `flags`. The fill is the last one's. Codes as
// PlanSizes; INVALID_ARGUMENT: the repeats are more than 2^32 - 1 graphs.
absl::StatusOr<PlanBenchResult> MeasurePlan(const SizeList& sizes, std::uint64_t repeat, std::size_t threads,
                                            const client::SpecFlags& flags);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_BENCH_PLAN_BENCH_H_
