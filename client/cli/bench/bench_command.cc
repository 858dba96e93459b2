// packtrain bench stream|plan
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>

#include "CLI/CLI.hpp"
#include "client/cli/bench/plan_bench.h"
#include "client/cli/bench/stream_bench.h"
#include "client/cli/bench/thread_loop.h"
#include "client/cli/commands.h"
#include "client/cli/plan/local_plan.h"
#include "client/flags/spec_flags.h"
#include "proto/base/flag_checks.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {
namespace {

constexpr double kShortestSeconds = 0.05;
constexpr double kLongestSeconds = 86'400;
constexpr std::uint32_t kMostClients = 1024;
constexpr std::size_t kMostThreads = 1024;

struct StreamFlags {
  std::string dataset;
  std::uint32_t clients = 1;
  bool shared_epoch = false;
  double seconds = 5;
  bool no_expand = false;
  client::SpecFlags spec;
};

struct PlanFlags {
  std::string sizes;
  std::uint64_t repeat = 1;
  std::size_t threads = HardwareThreads();
  client::SpecFlags spec;
};

Json ToJson(const StreamBenchResult& result) {
  return {{"dataset", result.dataset},
          {"graphs_per_second", result.graphs_per_second},
          {"bytes_per_second", result.bytes_per_second},
          {"batches", result.batches},
          {"graphs", result.graphs},
          {"crc_checked", result.crc_checked},
          {"passes", result.passes},
          {"batch_bytes", {{"mean", result.mean_batch_bytes}, {"max", result.max_batch_bytes}}},
          {"raw_bytes_per_second", result.raw_bytes_per_second},
          {"raw_setting", result.raw_setting},
          {"ratio_to_raw", result.ratio_to_raw},
          {"first_batch_seconds", result.first_batch_seconds},
          {"server_rss_bytes", result.server_rss_bytes},
          {"resident", result.resident},
          {"seconds", result.seconds}};
}

std::string ToText(const StreamFlags& flags, const StreamBenchResult& result) {
  std::ostringstream text;
  text << result.dataset << (result.resident ? ", in the server's memory" : ", read from the server's store")
       << '\n'
       << "rate      " << FormatCount(result.graphs_per_second) << " graphs/s, "
       << FormatBytes(result.bytes_per_second) << "/s" << (flags.no_expand ? ", not expanded" : ", expanded")
       << '\n'
       << "read      " << FormatCount(static_cast<double>(result.graphs)) << " graphs in "
       << FormatCount(static_cast<double>(result.batches)) << " batches, "
       << FormatCount(static_cast<double>(result.crc_checked)) << " checksums, "
       << FormatCount(static_cast<double>(result.passes)) << " whole passes of distinct graphs\n"
       << "batch     " << FormatBytes(result.mean_batch_bytes) << " on average, "
       << FormatBytes(static_cast<double>(result.max_batch_bytes)) << " at most\n"
       << "raw       " << FormatBytes(result.raw_bytes_per_second) << "/s of bare bytes (" << result.raw_setting
       << "); batches reach " << FormatNumber(result.ratio_to_raw) << " of it\n"
       << "first     " << FormatNumber(result.first_batch_seconds * 1000) << " ms to the first batch\n"
       << "server    " << FormatBytes(static_cast<double>(result.server_rss_bytes)) << " resident\n";
  return text.str();
}

absl::StatusOr<ExitCode> BenchStream(const StreamFlags& flags, const GlobalOptions& global, Output& output) {
  ABSL_ASSIGN_OR_RETURN(const StreamBenchResult result,
                        MeasureStream({.connection = ConnectionOptionsOf(global),
                                       .dataset = flags.dataset,
                                       .spec = flags.spec.spec,
                                       .first_epoch = flags.spec.epoch,
                                       .clients = flags.clients,
                                       .shared_epoch = flags.shared_epoch,
                                       .expand = !flags.no_expand,
                                       .seconds = flags.seconds}));
  output.Print(ToJson(result), ToText(flags, result));
  return ExitCode::kDone;
}

void AddStreamCommand(CLI::App& bench, Invocation& invocation) {
  CLI::App* stream = AddCommand(
      bench, "stream",
      "Reads batches as a trainer would and shows how fast they come.\n\n"
      "A batch counts once its padded tensors, edge indices offset and int32, lie in a buffer. Every pass is a "
      "new "
      "epoch, every checksum is checked, and no graph may come twice in a pass. What is shown beside it is a "
      "bare "
      "gRPC stream of messages of the same sizes between the same two programs, which the server must be "
      "started "
      "for (packtraind --enable-bench). Batches and bytes take turns, five times. The bytes are read in three "
      "settings, of which the fastest is shown: `plain`, blocking reads on a channel as batches have it; "
      "`window`, "
      "the same with HTTP/2 frames up to 1 MiB and a window of 8 MiB; `queue`, a completion queue",
      {"packtrain bench stream --dataset qm9 --policy static --graphs 127",
       "packtrain bench stream --dataset qm9 --policy dynamic --graphs 31 --clients 8 --shared-epoch"});
  const auto flags = std::make_shared<StreamFlags>();
  stream->add_option("--dataset", flags->dataset, "NAME or NAME@VERSION")->required();
  stream->add_option("--clients", flags->clients, "Clients at one time, each with a connection of its own")
      ->check(base::CountBetween(1, kMostClients))
      ->capture_default_str();
  stream->add_flag("--shared-epoch", flags->shared_epoch,
                   "The clients are the ranks of one epoch, not each a reader of all of it");
  stream
      ->add_option("--seconds", flags->seconds, "Time that batches are measured; the bare bytes take it again")
      ->check(base::NumberBetween(kShortestSeconds, kLongestSeconds))
      ->capture_default_str();
  stream->add_flag("--no-expand", flags->no_expand, "Count a batch once it has been received and checked");
  client::AddSpecFlags(*stream, flags->spec, {.required = true, .epoch = true});
  OnChosen(*stream, invocation, [flags](const GlobalOptions& global, Output& output) {
    return BenchStream(*flags, global, output);
  });
}

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

absl::StatusOr<ExitCode> BenchPlan(const PlanFlags& flags, Output& output) {
  const absl::StatusOr<SizeList> sizes = ReadSizes(flags.sizes);
  if (!sizes.ok()) return DataError(output, sizes.status());
  ABSL_ASSIGN_OR_RETURN(const PlanBenchResult result,
                        MeasurePlan(*sizes, flags.repeat, flags.threads, flags.spec));
  output.Print(ToJson(result), ToText(result));
  return ExitCode::kDone;
}

void AddPlanBenchCommand(CLI::App& bench, Invocation& invocation) {
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
  plan->add_option("--sizes", flags->sizes, "File of lines `n_node n_edge`, gzip too")->required();
  plan->add_option("--repeat", flags->repeat, "Take the list this many times, end to end")
      ->check(base::CountFrom(1))
      ->capture_default_str();
  plan->add_option("--threads", flags->threads, "Threads that plan; by default as many as the machine has")
      ->check(base::CountBetween(1, kMostThreads));
  client::AddSpecFlags(*plan, flags->spec, {.required = true, .epoch = true, .world_size = true});
  OnChosen(*plan, invocation,
           [flags](const GlobalOptions&, Output& output) { return BenchPlan(*flags, output); });
}

}  // namespace

void AddBenchCommand(CLI::App& program, Invocation& invocation) {
  CLI::App* bench = AddNoun(program, "bench", "Measures a server, or the planner",
                            {"packtrain bench stream --dataset qm9 --policy static --graphs 127",
                             "packtrain bench plan --sizes sizes.txt.gz --policy dynamic --graphs 127"});
  AddStreamCommand(*bench, invocation);
  AddPlanBenchCommand(*bench, invocation);
}

}  // namespace packtrain::cli
