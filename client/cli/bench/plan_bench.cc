#include "client/cli/bench/plan_bench.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/cli/bench/allocation_meter.h"
#include "client/cli/plan/thread_loop.h"
#include "proto/base/status_macros.h"
#include "server/batching/plan.h"

namespace packtrain::cli {
namespace {

using Clock = std::chrono::steady_clock;
using batching::Plan;

constexpr double kMinSeconds = 1;
constexpr std::size_t kMinPasses = 3;
constexpr std::uint64_t kMaxGraphs = std::numeric_limits<std::uint32_t>::max();

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Of all threads of the process.
double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::vector<std::uint32_t> Repeat(const std::vector<std::uint32_t>& values, std::uint64_t times) {
  std::vector<std::uint32_t> repeated;
  repeated.reserve(values.size() * times);
  for (std::uint64_t k = 0; k < times; ++k) repeated.insert(repeated.end(), values.begin(), values.end());
  return repeated;
}

// What a PlanRequest borrows.
struct Graphs {
  std::vector<std::uint32_t> n_node;
  std::vector<std::uint32_t> n_edge;
  std::vector<std::uint32_t> bandwidth;
  std::vector<std::uint32_t> split;
};

absl::StatusOr<Graphs> RepeatSizes(const SizeList& sizes, std::uint64_t times) {
  if (times > kMaxGraphs / sizes.n_node.size()) {
    return absl::InvalidArgumentError(absl::StrCat("--repeat ", times, " of ", sizes.n_node.size(),
                                                   " graphs is more than ", kMaxGraphs, " graphs"));
  }
  Graphs graphs{Repeat(sizes.n_node, times), Repeat(sizes.n_edge, times), Repeat(sizes.bandwidth, times), {}};
  graphs.split.resize(graphs.n_node.size());
  std::iota(graphs.split.begin(), graphs.split.end(), 0u);
  return graphs;
}

struct Pass {
  std::unique_ptr<const Plan> plan;
  double first_batch_seconds = 0;
  double seconds = 0;
  double cpu_seconds = 0;
  std::uint64_t peak_bytes = 0;
};

// Asks for every batch, as the streams of an epoch do together.
absl::Status AskForAll(const Plan& plan) {
  const std::uint64_t end = plan.FirstOfStep(plan.steps());
  for (std::uint64_t index = 0; index < end; ++index) {
    if (const auto batch = plan.BatchAt(index); !batch.ok()) return batch.status();
  }
  return absl::OkStatus();
}

absl::StatusOr<Pass> RunPass(const batching::PlanRequest& request) {
  const AllocationMeter meter;
  const Clock::time_point start = Clock::now();
  const double cpu_start = CpuSeconds();
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<const Plan> plan, Plan::Create(request));
  if (const auto first = plan->BatchAt(0); !first.ok()) return first.status();
  const double first_batch_seconds = SecondsSince(start);
  ABSL_RETURN_IF_ERROR(AskForAll(*plan));
  return Pass{std::move(plan), first_batch_seconds, SecondsSince(start), CpuSeconds() - cpu_start,
              meter.peak_bytes()};
}

// Orders `passes`.
void Summarize(std::vector<Pass>& passes, PlanBenchResult& result) {
  std::sort(passes.begin(), passes.end(), [](const Pass& a, const Pass& b) { return a.seconds < b.seconds; });
  const Pass& middle = passes[passes.size() / 2];
  result.passes = passes.size();
  result.seconds = middle.seconds;
  result.seconds_min = passes.front().seconds;
  result.seconds_max = passes.back().seconds;
  result.cpu_seconds = middle.cpu_seconds;
  result.first_batch_seconds = middle.first_batch_seconds;
  result.ns_per_graph = middle.seconds * 1e9 / static_cast<double>(result.count);
  for (const Pass& pass : passes) result.peak_bytes = std::max(result.peak_bytes, pass.peak_bytes);
}

void Describe(const Plan& plan, PlanBenchResult& result) {
  const wire::PlanSummary summary = plan.Summarize();
  result.batches = summary.batches;
  result.fill_graphs = summary.fill_graphs;
  result.fill_nodes = summary.fill_nodes;
  result.fill_edges = summary.fill_edges;
  result.plan_bytes = plan.memory_bytes();
}

}  // namespace

absl::StatusOr<PlanBenchResult> MeasurePlan(const SizeList& sizes, std::uint64_t repeat, std::size_t threads,
                                            const client::SpecFlags& flags) {
  ABSL_RETURN_IF_ERROR(CheckListSplit(flags.spec));
  ABSL_ASSIGN_OR_RETURN(const Graphs graphs, RepeatSizes(sizes, repeat));
  batching::PlanRequest request;
  request.spec = flags.spec;
  request.sizes = {.n_node = graphs.n_node, .n_edge = graphs.n_edge, .bandwidth = graphs.bandwidth};
  request.split = graphs.split;
  request.epoch = flags.epoch;
  request.world = {.size = flags.world_size};
  request.parallel_for = std::bind_front(RunOnThreads, threads);

  PlanBenchResult result;
  result.threads = threads;
  result.count = graphs.n_node.size();
  std::vector<Pass> passes;
  for (double total = 0; passes.size() < kMinPasses || total < kMinSeconds; ++request.epoch) {
    if (!passes.empty()) passes.back().plan = nullptr;
    ABSL_ASSIGN_OR_RETURN(Pass pass, RunPass(request));
    total += pass.seconds;
    passes.push_back(std::move(pass));
  }
  Describe(*passes.back().plan, result);
  Summarize(passes, result);
  return result;
}

}  // namespace packtrain::cli
