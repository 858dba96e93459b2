// packtrain dataset list | show
#include <sstream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "client/cli/commands.h"
#include "client/cli/service_call.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {
namespace {

std::string DTypeName(v1::DataType type) {
  std::string name = v1::DataType_Name(type).substr(sizeof("DATA_TYPE_") - 1);
  for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return name;
}

std::string ScopeName(v1::FieldScope scope) {
  switch (scope) {
    case v1::FIELD_SCOPE_NODE:
      return "node";
    case v1::FIELD_SCOPE_EDGE:
      return "edge";
    case v1::FIELD_SCOPE_GRAPH:
      return "graph";
    default:
      return "unknown";
  }
}

Json ToJson(const v1::Field& field) {
  return {{"name", field.name()},
          {"scope", ScopeName(field.scope())},
          {"dtype", DTypeName(field.data_type())},
          {"dims", Json(field.dims())},
          {"unit", field.unit()}};
}

Json ToJson(const v1::CountSummary& counts) {
  return {{"total", counts.total()},
          {"mean", counts.mean()},
          {"p50", counts.p50()},
          {"p99", counts.p99()},
          {"max", counts.max()}};
}

Json HistogramToJson(const v1::CountSummary& counts) {
  Json bins = Json::array();
  for (const v1::CountBin& bin : counts.histogram()) {
    bins.push_back({{"count", bin.count()}, {"graphs", bin.graphs()}});
  }
  return bins;
}

Json ToJson(const v1::Split& split) {
  Json targets = Json::array();
  for (const v1::TargetStatistics& target : split.targets()) {
    targets.push_back({{"name", target.target()},
                       {"count", target.count()},
                       {"mean", target.mean()},
                       {"stddev", target.stddev()}});
  }
  return {{"graphs", split.graphs()}, {"targets", targets}};
}

Json ToJson(const v1::Lineage& lineage) {
  Json sources = Json::array();
  for (const v1::SourceFile& source : lineage.sources()) {
    sources.push_back({{"name", source.name()}, {"bytes", source.bytes()}, {"sha256", source.sha256()}});
  }
  return {{"sources", sources},
          {"edges", lineage.edges()},
          {"derived_from", lineage.derived_from()},
          {"command", lineage.command()},
          {"program_version", lineage.program_version()},
          {"imported_at_ms", lineage.imported_at_ms()}};
}

Json ToJson(const v1::Dataset& dataset) {
  Json fields = Json::array();
  for (const v1::Field& field : dataset.schema().fields()) fields.push_back(ToJson(field));
  Json targets = Json::array();
  for (const v1::Target& target : dataset.schema().targets()) {
    targets.push_back({{"name", target.name()}, {"unit", target.unit()}});
  }
  Json splits = Json::object();
  for (const v1::Split& split : dataset.splits()) splits[split.name()] = ToJson(split);
  return {
      {"name", dataset.name()},
      {"version", dataset.version()},
      {"graphs", dataset.graphs()},
      {"nodes", ToJson(dataset.nodes())},
      {"edges", ToJson(dataset.edges())},
      {"histogram", {{"nodes", HistogramToJson(dataset.nodes())}, {"edges", HistogramToJson(dataset.edges())}}},
      {"edge_builder", dataset.schema().edges()},
      {"bytes", dataset.bytes()},
      {"fields", fields},
      {"targets", targets},
      {"splits", splits},
      {"classes", Json(dataset.classes())},
      {"lineage", ToJson(dataset.lineage())}};
}

Table CountsTable(const v1::Dataset& dataset) {
  Table table{{"", "total", "mean", "median", "p99", "max"}, {}};
  const auto add = [&table](const std::string& name, const v1::CountSummary& counts) {
    table.rows.push_back({name, FormatCount(static_cast<double>(counts.total())), FormatNumber(counts.mean()),
                          FormatCount(counts.p50()), FormatCount(counts.p99()), FormatCount(counts.max())});
  };
  add("nodes", dataset.nodes());
  add("edges", dataset.edges());
  return table;
}

Table SplitsTable(const v1::Dataset& dataset) {
  Table table{{"split", "graphs", "target", "known", "mean", "deviation"}, {}};
  for (const v1::Split& split : dataset.splits()) {
    const std::string graphs = FormatCount(static_cast<double>(split.graphs()));
    if (split.targets().empty()) table.rows.push_back({split.name(), graphs, "-", "-", "-", "-"});
    for (const v1::TargetStatistics& target : split.targets()) {
      table.rows.push_back({split.name(), graphs, target.target(),
                            FormatCount(static_cast<double>(target.count())), FormatNumber(target.mean(), 6),
                            FormatNumber(target.stddev(), 6)});
    }
  }
  return table;
}

std::string ToText(const v1::Dataset& dataset) {
  std::ostringstream text;
  text << dataset.name() << '@' << dataset.version() << ": "
       << FormatCount(static_cast<double>(dataset.graphs())) << " graphs, edges " << dataset.schema().edges()
       << ", " << FormatBytes(static_cast<double>(dataset.bytes())) << "\nfields  ";
  for (const v1::Field& field : dataset.schema().fields()) {
    text << field.name() << " (" << ScopeName(field.scope()) << ", " << DTypeName(field.data_type()) << ") ";
  }
  text << "\n\n" << FormatText(CountsTable(dataset)) << '\n' << FormatText(SplitsTable(dataset));
  return text.str();
}

absl::StatusOr<ExitCode> ShowDataset(const std::string& reference, const GlobalOptions& global,
                                     Output& output) {
  v1::GetDatasetRequest request;
  request.set_dataset(reference);
  ABSL_ASSIGN_OR_RETURN(
      const v1::GetDatasetResponse response,
      CallService(global, [&](client::ServiceClient& services) { return services.GetDataset(request); }));
  output.Print(ToJson(response.dataset()), ToText(response.dataset()));
  return ExitCode::kDone;
}

absl::StatusOr<ExitCode> ListDatasets(const GlobalOptions& global, Output& output) {
  ABSL_ASSIGN_OR_RETURN(
      const std::vector<v1::Dataset> datasets,
      CallService(global, [](client::ServiceClient& services) { return services.ListDatasets(); }));
  Json list = Json::array();
  Table table{{"name", "version", "graphs", "nodes", "edges", "bytes"}, {}};
  for (const v1::Dataset& dataset : datasets) {
    list.push_back(ToJson(dataset));
    table.rows.push_back({dataset.name(), dataset.version(), std::to_string(dataset.graphs()),
                          std::to_string(dataset.nodes().total()), std::to_string(dataset.edges().total()),
                          std::to_string(dataset.bytes())});
  }
  output.Print(list, table);
  return ExitCode::kDone;
}

}  // namespace

void AddDatasetCommand(CLI::App& program, Invocation& invocation) {
  CLI::App* dataset = AddNoun(program, "dataset", "Looks at stored data sets, and changes which there are",
                              {"packtrain dataset list", "packtrain dataset show qm9",
                               "packtrain dataset derive qm9 --edges radius:5 --name qm9-r5",
                               "packtrain dataset export qm9 --format native -o qm9.packtrain"});
  CLI::App* list = AddCommand(*dataset, "list", "Lists the data sets of a server",
                              {"packtrain dataset list", "packtrain dataset list --csv"});
  OnChosenPrintTable(*list, invocation, ListDatasets);

  CLI::App* show =
      AddCommand(*dataset, "show", "Shows sizes, fields, targets and splits of a data set",
                 {"packtrain dataset show qm9", "packtrain dataset show qm9@0123456789abcdef --json"});
  const auto reference = std::make_shared<std::string>();
  show->add_option("DATASET", *reference, "NAME or NAME@VERSION")->required();
  OnChosen(*show, invocation, [reference](const GlobalOptions& global, Output& output) {
    return ShowDataset(*reference, global, output);
  });
  AddDatasetChangeCommands(*dataset, invocation);
  AddDatasetExportCommand(*dataset, invocation);
}

}  // namespace packtrain::cli
