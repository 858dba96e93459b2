// packtrain bench plan
#include <cstddef>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>

#include "CLI/CLI.hpp"
#include "client/cli/bench/plan_bench.h"
#include "client/cli/commands.h"
#include "client/cli/plan/local_plan.h"
#include "client/cli/plan/thread_loop.h"
#include "client/flags/spec_flags.h"
#include "proto/base/flag_checks.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {
namespace {

constexpr std::size_t kMaxThreads = 1024;

struct PlanFlags {
  std::string sizes;
  std::uint64_t repeat = 1;
  std::size_t threads = HardwareThreads();
  client::SpecFlags spec;
};

Json ToJson(const PlanBenchResult& result) {
  return {
      {"count", result.count},
      {"batches", result.batches},
      {"passes", result.passes},
      {"threads", result.threads},
      {"seconds", result.seconds},
      {"seconds_min", result.seconds_min},
      {"seconds_max", result.seconds_max},
      {"cpu_seconds", result.cpu_seconds},
      {"first_batch_seconds", result.first_batch_seconds},
      {"ns_per_graph", result.ns_per_graph},
      {"peak_bytes", result.peak_bytes},
      {"plan_bytes", result.plan_bytes},
      {"fill", {{"graphs", result.fill_graphs}, {"nodes", result.fill_nodes}, {"edges", result.fill_edges}}}};
}

std::string ToText(const PlanBenchResult& result) {
  std::ostringstream text;
  text << "planned   " << FormatCount(static_cast<double>(result.count)) << " graphs in "
       << FormatCount(static_cast<double>(result.batches)) << " batches\n"
       << "time      " << FormatNumber(result.seconds * 1000) << " ms, " << FormatNumber(result.ns_per_graph)
       << " ns a graph (" << FormatNumber(result.seconds_min * 1000) << " to "
       << FormatNumber(result.seconds_max * 1000) << " ms in " << result.passes << " passes, threads "
       << result.threads << ")\n"
       << "cpu       " << FormatNumber(result.cpu_seconds * 1000) << " ms of all threads\n"
       << "first     " << FormatNumber(result.first_batch_seconds * 1000) << " ms to the first batch\n"
       << "memory    " << FormatBytes(static_cast<double>(result.peak_bytes)) << " at most, "
       << FormatBytes(static_cast<double>(result.plan_bytes)) << " in the plan\n"
       << "fill      nodes " << FormatNumber(result.fill_nodes) << ", edges " << FormatNumber(result.fill_edges)
       << ", graphs " << FormatNumber(result.fill_graphs) << '\n';
  return text.str();
}

absl::StatusOr<ExitCode> BenchPlan(const PlanFlags& flags, const GlobalOptions&, Output& output) {
  const absl::StatusOr<SizeList> sizes = ReadSizes(flags.sizes, NeedsBandwidths(flags.spec.spec));
  if (!sizes.ok()) return DataError(output, sizes.status());
  ABSL_ASSIGN_OR_RETURN(const PlanBenchResult result,
                        MeasurePlan(*sizes, flags.repeat, flags.threads, flags.spec));
  output.Print(ToJson(result), ToText(result));
  return ExitCode::kDone;
}

}  // namespace

void AddBenchPlan(CLI::App& bench, Invocation& invocation) {
  CLI::App* plan = AddCommand(
      bench, "plan",
      "Plans epochs of a list of sizes, without a server, and shows how long one takes.\n\n"
      "Every pass plans another epoch and asks for each of its batches; there are at least three, and as many "
      "as "
      "fill a second. Times are those of the pass in the middle; `cpu_seconds` is what all threads together "
      "computed, which other "
      "programs on the machine disturb less. `peak_bytes` is the most that planning has "
      "allocated at one time, as operator new counts it, beyond the sizes and the split that it is given",
      {"packtrain bench plan --sizes sizes.txt.gz --policy dynamic --graphs 127",
       "packtrain bench plan --sizes sizes.txt.gz --repeat 1000 --policy static --graphs 127"});
  const auto flags = std::make_shared<PlanFlags>();
  plan->add_option("--sizes", flags->sizes, "File of lines `n_node n_edge [bandwidth]`, gzip too")->required();
  plan->add_option("--repeat", flags->repeat, "Take the list this many times, end to end")
      ->check(base::CountFrom(1))
      ->capture_default_str();
  plan->add_option("--threads", flags->threads, "Threads that plan; by default as many as the machine has")
      ->check(base::CountBetween(1, kMaxThreads));
  client::AddSpecFlags(*plan, flags->spec, {.required = true, .epoch = true, .world_size = true});
  OnChosen(*plan, invocation, WithFlags(flags, BenchPlan));
}

}  // namespace packtrain::cli
