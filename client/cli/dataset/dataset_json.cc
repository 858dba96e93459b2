#include "client/cli/dataset/dataset_json.h"

#include <utility>

namespace packtrain::cli {
namespace {

// Histograms stand together, as they are long: `histogram.nodes`, `histogram.edges`.
void PutCounts(const JsonField& at, Json& dataset) {
  Json counts = at.Value();
  dataset["histogram"][at.field.name()] = std::move(counts["histogram"]);
  counts.erase("histogram");
  dataset[at.field.name()] = std::move(counts);
}

// Of renumbered data sets. The sum over the graphs says nothing.
void PutBandwidth(const JsonField& at, Json& dataset) {
  if (!at.message.GetReflection()->HasField(at.message, &at.field)) return;
  PutCounts(at, dataset);
  dataset[at.field.name()].erase("total");
}

// Where nodes are renumbered.
void PutRenumbered(const JsonField& at, Json& object) {
  if (Json word = at.Value(); word != Json("")) object[at.field.name()] = std::move(word);
}

// By field, with a number for each word: `vocabularies.edge_type` is {"words": [...], "graphs": [...]}.
void PutVocabularies(const JsonField& at, Json& schema) {
  if (at.message.GetReflection()->FieldSize(at.message, &at.field) > 0) KeyedBy("field")(at, schema);
}

}  // namespace

const JsonRules& DatasetRules() {
  static const JsonRules rules = {
      .fields = {{"Dataset.schema", Spread()},
                 {"Dataset.nodes", PutCounts},
                 {"Dataset.edges", PutCounts},
                 {"Dataset.bandwidth", PutBandwidth},
                 {"Dataset.bandwidth_as_read", PutBandwidth},
                 {"Dataset.splits", KeyedBy("name")},
                 {"Schema.edge_rule", Omit()},
                 {"Schema.edges", Rename("edge_builder")},
                 {"Schema.vocabularies", PutVocabularies},
                 {"Schema.renumbered", PutRenumbered},
                 {"Lineage.renumbered", PutRenumbered},
                 {"Field.data_type", Rename("dtype")},
                 {"TargetStatistics.target", Rename("name")}},
      // The order that scripts and people have met so far.
      .first_keys = {
          {"Dataset",
           {"name", "version", "graphs", "nodes", "edges", "bandwidth", "bandwidth_as_read", "histogram",
            "edge_builder", "renumbered", "bytes", "fields", "targets", "splits", "classes", "vocabularies"}},
          {"Lineage", {"sources", "edges", "renumbered", "derived_from"}}}};
  return rules;
}

}  // namespace packtrain::cli
