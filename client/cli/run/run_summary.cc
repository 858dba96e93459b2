#include "client/cli/run/run_summary.h"

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

#include "client/cli/service_call.h"
#include "proto/base/escape_controls.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {
namespace {

Json ToJson(const v1::Quantiles& quantiles) {
  return {{"mean", quantiles.mean()},    {"median", quantiles.median()}, {"p5", quantiles.p5()},
          {"p90", quantiles.p90()},      {"p95", quantiles.p95()},       {"p99", quantiles.p99()},
          {"stddev", quantiles.stddev()}};
}

std::vector<std::pair<std::string, const v1::Quantiles*>> TrainerPhases(const v1::PhaseTimes& phases) {
  return {{"wait", &phases.wait()},         {"copy", &phases.copy()},           {"forward", &phases.forward()},
          {"backward", &phases.backward()}, {"optimizer", &phases.optimizer()}, {"comm", &phases.comm()},
          {"total", &phases.total()}};
}

Json FiguresToJson(const v1::StepFigures& figures) {
  Json phases = Json::object();
  for (const auto& [name, quantiles] : TrainerPhases(figures.phases_us())) phases[name] = ToJson(*quantiles);
  return {{"phases_us", phases},
          {"server_build_us", ToJson(figures.phases_us().server_build())},
          {"server_queue_us", ToJson(figures.phases_us().server_queue())},
          {"graphs_per_second", figures.graphs_per_second()},
          {"nodes_per_second", figures.nodes_per_second()},
          {"edges_per_second", figures.edges_per_second()},
          {"seconds_per_graph", figures.seconds_per_graph()},
          {"wait_share", figures.wait_share()},
          {"left_out", figures.left_out()}};
}

Json ToJson(const v1::CorruptGraphSummary& summary) {
  Json list = Json::array();
  for (const v1::CorruptGraph& graph : summary.list()) {
    list.push_back({{"epoch", graph.epoch()},
                    {"step", graph.step()},
                    {"batch", graph.batch_index()},
                    {"split", graph.split()},
                    {"graph", graph.graph()}});
  }
  return {{"count", summary.count()},
          {"graphs", summary.graphs()},
          {"list", list},
          {"truncated", summary.truncated()}};
}

Table PhasesTable(const v1::StepFigures& figures) {
  Table table{{"phase (us)", "mean", "median", "p5", "p95", "p99", "stddev"}, {}};
  const auto add = [&table](const std::string& name, const v1::Quantiles& q) {
    table.rows.push_back({name, FormatNumber(q.mean()), FormatNumber(q.median()), FormatNumber(q.p5()),
                          FormatNumber(q.p95()), FormatNumber(q.p99()), FormatNumber(q.stddev())});
  };
  for (const auto& [name, quantiles] : TrainerPhases(figures.phases_us())) add(name, *quantiles);
  add("server build", figures.phases_us().server_build());
  return table;
}

// The first ones, a line each; nothing where there are none.
std::string CorruptGraphsToText(const v1::CorruptGraphSummary& summary) {
  constexpr int kMostShown = 20;
  if (summary.count() == 0) return "";
  std::ostringstream text;
  text << "corrupt   " << summary.graphs() << " damaged graphs were left out, " << summary.count()
       << " times in all (--on-corrupt skip)\n";
  for (int k = 0; k < std::min(summary.list_size(), kMostShown); ++k) {
    const v1::CorruptGraph& graph = summary.list(k);
    text << "          graph " << graph.graph() << ": step " << graph.step() << ", epoch " << graph.epoch()
         << ", batch " << graph.batch_index() << " of " << base::EscapeControls(graph.split()) << '\n';
  }
  if (summary.count() > kMostShown) text << "          ... (--json lists the first 1,000)\n";
  return text.str();
}

}  // namespace

absl::StatusOr<RunSummary> ReadSummary(const std::string& name, const GlobalOptions& global) {
  return CallService(global, [&name](client::ServiceClient& services) -> absl::StatusOr<RunSummary> {
    v1::GetRunRequest get;
    get.set_run(name);
    ABSL_ASSIGN_OR_RETURN(const v1::GetRunResponse run, services.GetRun(get));
    v1::SummarizeRunRequest summarize;
    summarize.set_run(run.run().run());
    ABSL_ASSIGN_OR_RETURN(v1::SummarizeRunResponse summary, services.SummarizeRun(summarize));
    return RunSummary{run.run(), std::move(summary)};
  });
}

Json SummaryToJson(const RunSummary& read) {
  const v1::SummarizeRunResponse& summary = read.figures;
  Json json = {
      {"run", read.run.run()}, {"steps", read.run.steps()}, {"steady_steps", summary.steady().steps()}};
  json.update(FiguresToJson(summary.steady()));
  json["seconds_per_epoch"] =
      summary.has_seconds_per_epoch() ? Json(summary.seconds_per_epoch()) : Json(nullptr);
  json["fill"] = {{"graphs", summary.fill().graphs()},
                  {"nodes", summary.fill().nodes()},
                  {"edges", summary.fill().edges()}};
  json["shapes"] = summary.shapes();
  json["captures"] = summary.captures();
  json["capture_seconds"] = summary.capture_seconds();
  json["joules_per_graph"] = summary.has_joules_per_graph() ? Json(summary.joules_per_graph()) : Json(nullptr);
  json["peak_device_bytes"] =
      summary.has_peak_device_bytes() ? Json(summary.peak_device_bytes()) : Json(nullptr);
  Json& events = json["events"] = Json::array();
  for (const v1::EventTotal& event : summary.events()) {
    events.push_back({{"name", event.name()}, {"count", event.count()}, {"seconds", event.seconds()}});
  }
  json["corrupt_graphs"] = ToJson(summary.corrupt_graphs());
  Json& whole = json["whole"] = Json::object();
  whole["steps"] = summary.whole().steps();
  whole.update(FiguresToJson(summary.whole()));
  return json;
}

std::string SummaryToText(const RunSummary& read) {
  const v1::SummarizeRunResponse& summary = read.figures;
  const v1::StepFigures& steady = summary.steady();
  std::ostringstream text;
  text << "run " << read.run.run() << ", steady state: " << steady.steps() << " of " << read.run.steps()
       << " steps\n"
       << FormatText(PhasesTable(steady)) << "rate      " << FormatNumber(steady.graphs_per_second())
       << " graphs/s, " << FormatNumber(steady.nodes_per_second()) << " nodes/s, "
       << FormatNumber(steady.edges_per_second()) << " edges/s (real, not padded)\n"
       << "a graph   " << FormatNumber(steady.seconds_per_graph() * 1e6) << " us\n"
       << "waiting   " << FormatNumber(100 * steady.wait_share()) << " % of the time\n"
       << "fill      nodes " << FormatNumber(summary.fill().nodes()) << ", edges "
       << FormatNumber(summary.fill().edges()) << "; " << summary.shapes() << " distinct shapes\n";
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
