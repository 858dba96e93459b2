// packtrain bench stream
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>

#include "CLI/CLI.hpp"
#include "client/cli/bench/stream_bench.h"
#include "client/cli/commands.h"
#include "client/flags/spec_flags.h"
#include "proto/base/flag_checks.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {
namespace {

constexpr double kMinSeconds = 0.05;
constexpr double kMaxSeconds = 86'400;
constexpr std::uint32_t kMaxClients = 1024;

struct StreamFlags {
  std::string dataset;
  std::uint32_t clients = 1;
  bool shared_epoch = false;
  double seconds = 5;
  bool no_expand = false;
  bool no_raw = false;
  client::SpecFlags spec;
};

double RatioToRaw(const StreamBenchResult& result) {
  return result.bytes_per_second / result.raw->bytes_per_second;
}

Json ToJson(const StreamBenchResult& result) {
  const bool raw = result.raw.has_value();
  return {{"dataset", result.dataset},
          {"graphs_per_second", result.graphs_per_second},
          {"bytes_per_second", result.bytes_per_second},
          {"batches", result.batches},
          {"graphs", result.graphs},
          {"crc_checked", result.crc_checked},
          {"passes", result.passes},
          {"batch_bytes", {{"mean", result.mean_batch_bytes}, {"max", result.max_batch_bytes}}},
          {"raw_bytes_per_second", raw ? Json(result.raw->bytes_per_second) : Json()},
          {"raw_setting", raw ? Json(result.raw->setting) : Json()},
          {"ratio_to_raw", raw ? Json(RatioToRaw(result)) : Json()},
          {"plan_seconds", result.plan_seconds},
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
       << FormatBytes(static_cast<double>(result.max_batch_bytes)) << " at most\n";
  if (result.raw.has_value()) {
    text << "raw       " << FormatBytes(result.raw->bytes_per_second) << "/s of bare bytes ("
         << result.raw->setting << "); batches reach " << FormatNumber(RatioToRaw(result)) << " of it\n";
  }
  text << "first     " << FormatNumber(result.first_batch_seconds * 1000)
       << " ms from asking for a stream to its first batch, behind a plan that took "
       << FormatNumber(result.plan_seconds * 1000) << " ms\n"
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
                                       .seconds = flags.seconds,
                                       .raw = !flags.no_raw}));
  output.Print(ToJson(result), ToText(flags, result));
  return ExitCode::kDone;
}

}  // namespace

void AddBenchStream(CLI::App& bench, Invocation& invocation) {
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
      ->check(base::CountBetween(1, kMaxClients))
      ->capture_default_str();
  stream->add_flag("--shared-epoch", flags->shared_epoch,
                   "The clients are the ranks of one epoch, not each a reader of all of it");
  stream
      ->add_option("--seconds", flags->seconds, "Time that batches are measured; the bare bytes take it again")
      ->check(base::NumberBetween(kMinSeconds, kMaxSeconds))
      ->capture_default_str();
  stream->add_flag("--no-expand", flags->no_expand, "Count a batch once it has been received and checked");
  stream->add_flag("--no-raw", flags->no_raw, "Measure batches alone; the server needs no --enable-bench");
  client::AddSpecFlags(*stream, flags->spec, {.required = true, .epoch = true});
  OnChosen(*stream, invocation, WithFlags(flags, BenchStream));
}

}  // namespace packtrain::cli
