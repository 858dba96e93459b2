#include "client/cli/run/run_summary.h"

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

#include "client/cli/run/run_json.h"
#include "client/cli/service_call.h"
#include "proto/base/escape_controls.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {
namespace {

// The phases of a trainer, and the server's time to build a batch.
Table PhasesTable(const v1::StepFigures& figures) {
  const Json json = MessageToJson(figures, RunRules());
  Table table{{"phase (us)", "mean", "median", "p5", "p95", "p99", "stddev"}, {}};
  const auto add = [&table](const std::string& name, const Json& quantiles) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row.push_back(name);
    for (const char* key : {"mean", "median", "p5", "p95", "p99", "stddev"}) {
      row.push_back(FormatNumber(quantiles[key].get<double>()));
    }
  };
  for (const auto& [name, quantiles] : json["phases_us"].items()) add(name, quantiles);
  add("server build", json["server_build_us"]);
  return table;
}

std::string RatesToText(const v1::StepFigures& steady) {
  std::ostringstream text;
  text << FormatText(PhasesTable(steady)) << "rate      " << FormatNumber(steady.graphs_per_second())
       << " graphs/s, " << FormatNumber(steady.nodes_per_second()) << " nodes/s, "
       << FormatNumber(steady.edges_per_second()) << " edges/s (real, not padded)\n";
  if (steady.seconds_per_graph() > 0) {
    text << "a graph   " << FormatNumber(steady.seconds_per_graph() * 1e6) << " us\n";
  }
  text << "waiting   " << FormatNumber(100 * steady.wait_share()) << " % of the time\n";
  return text.str();
}

// The records that are in no figure; nothing where there are none.
std::string LeftOutToText(const v1::SummarizeRunResponse& summary) {
  std::ostringstream text;
  if (const std::uint64_t steps = summary.whole().left_out(); steps > 0) {
    text << "left out  " << steps << " steps, " << summary.steady().left_out()
         << " of them steady: not reported by every rank, or without a measured time\n";
  }
  if (summary.losses_left_out() > 0 || summary.evaluations_left_out() > 0) {
    text << "left out  " << summary.losses_left_out() << " losses and " << summary.evaluations_left_out()
         << " evaluations: NaN or infinite\n";
  }
  if (summary.lost_records() > 0) {
    text << "lost      " << summary.lost_records()
         << " records, for which the trainers had no room while the server could not be reached\n";
  }
  return text.str();
}

// 0: not known, since no step says how many slots it had.
std::string FillToText(double share) { return share > 0 ? FormatNumber(share) : "unknown"; }

// The first ones, a line each; nothing where there are none.
std::string CorruptGraphsToText(const v1::CorruptGraphSummary& summary) {
  constexpr int kMaxShown = 20;
  if (summary.count() == 0) return "";
  std::ostringstream text;
  text << "corrupt   " << summary.graphs() << " damaged graphs were left out, " << summary.count()
       << " times in all (--on-corrupt skip)\n";
  for (int k = 0; k < std::min(summary.list_size(), kMaxShown); ++k) {
    const v1::CorruptGraph& graph = summary.list(k);
    text << "          graph " << graph.graph() << ": step " << graph.step() << ", epoch " << graph.epoch()
         << ", batch " << graph.batch_index() << " of " << base::EscapeControls(graph.split()) << '\n';
  }
  if (summary.count() > kMaxShown) text << "          ... (--json lists the first 1,000)\n";
  return text.str();
}

}  // namespace

absl::StatusOr<RunSummary> ReadSummary(const std::string& name, const GlobalOptions& global) {
  return CallService(global, [&name](client::ServiceClient& services) -> absl::StatusOr<RunSummary> {
    v1::GetRunRequest get;
    get.set_run(name);
    ABSL_ASSIGN_OR_RETURN(const v1::GetRunResponse run,
                          services.Read<v1::GetRunResponse>(get, client::kLookUp));
    v1::SummarizeRunRequest summarize;
    summarize.set_run(run.run().run());
    ABSL_ASSIGN_OR_RETURN(v1::SummarizeRunResponse summary, services.Read<v1::SummarizeRunResponse>(summarize));
    return RunSummary{run.run(), std::move(summary)};
  });
}

Json SummaryToJson(const RunSummary& read) {
  Json json = {{"run", read.run.run()}, {"steps", read.run.steps()}};
  json.update(MessageToJson(read.figures, RunRules()));
  return json;
}

std::string SummaryToText(const RunSummary& read) {
  const v1::SummarizeRunResponse& summary = read.figures;
  const v1::StepFigures& steady = summary.steady();
  std::ostringstream text;
  text << "run " << read.run.run() << ", steady state: " << steady.steps() << " of " << read.run.steps()
       << " steps\n"
       << (steady.steps() > 0 ? RatesToText(steady) : "no valid step\n") << LeftOutToText(summary)
       << "fill      nodes " << FillToText(summary.fill().nodes()) << ", edges "
       << FillToText(summary.fill().edges()) << "; " << summary.shapes() << " distinct shapes\n";
  if (summary.has_seconds_per_epoch()) {
    text << "an epoch  " << FormatNumber(summary.seconds_per_epoch()) << " s\n";
  }
  if (summary.has_joules_per_graph()) {
    text << "energy    " << FormatNumber(summary.joules_per_graph()) << " J a graph\n";
  }
  for (const v1::EventTotal& event : summary.events()) {
    text << "event     " << base::EscapeControls(event.name()) << ": " << event.count() << " times, "
         << FormatNumber(event.seconds()) << " s in all\n";
  }
  text << CorruptGraphsToText(summary.corrupt_graphs());
  return text.str();
}

}  // namespace packtrain::cli
