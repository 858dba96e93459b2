#include "client/cli/dataset/dataset_json.h"

namespace packtrain::cli {

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

namespace {

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

}  // namespace

Json DatasetToJson(const v1::Dataset& dataset) {
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

}  // namespace packtrain::cli
