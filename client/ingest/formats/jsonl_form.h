// The forms of graphs that a line of JSON may have. A file is of the form of its first record.
//
//   form       known by             fields                                        edges
//   general    all others           those of the record (jsonl_general.h)         given, or built
//   bonds      "node_features"      z, x, edge_type                               bonds, both ways
//   tokens     "source_tokens"      token, is_slot, is_candidate, is_target,      program
//                                   edge_type
//   program    "ContextGraph"       the same                                      program
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_JSONL_FORM_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_JSONL_FORM_H_

#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "client/ingest/formats/json_line.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/line_reader.h"

namespace packtrain::ingest {

// The words of one graph by field of the layout, one for each row; of fields that hold numbers none.
using RecordWords = std::vector<std::vector<std::string_view>>;

// Immutable; any number of threads may use it.
class JsonlForm {
 public:
  virtual ~JsonlForm() = default;

  const GraphLayout& layout() const { return layout_; }

  // Reads a record into `graph`, which is empty, and the fields that hold words into `words`. Refusals, without
  // the place; the id is there as soon as it was read.
  virtual absl::Status Read(JsonObject record, SourceGraph* graph, RecordWords* words) const = 0;

 protected:
  JsonlForm(GraphLayout layout, const ReadLimits& limits) : layout_(std::move(layout)), limits_(limits) {}

  // "no_nodes", "too_many_atoms", "too_many_edges".
  absl::Status CheckCounts(std::uint64_t nodes, std::uint64_t edges) const;
  // "edge_out_of_range" for an endpoint or another index of a node that the graph does not have.
  static absl::Status CheckNode(std::uint32_t index, std::uint64_t nodes, std::string_view name);

 private:
  const GraphLayout layout_;
  const ReadLimits limits_;
};

// Typed bond graphs: "graph" is a list of [from, type, to], each bond once, "node_features" has a list of
// numbers for each node, "targets" is a list of numbers or of lists of one. Where the features begin with
// one-hot H, C, N, O, F and the atomic number, as those of QM9 do, there is a node field `z`. `record` is the
// first one.
std::unique_ptr<JsonlForm> NewBondForm(JsonObject record, const ReadLimits& limits);

// Programs as tokens: "source_tokens", "edges" as [from, to, type, name], and where "has_bug" is true
// "error_location" is the slot. "repair_candidates" that are numbers are candidates, except the slot;
// "repair_targets" are right.
std::unique_ptr<JsonlForm> NewTokenForm(const ReadLimits& limits);

// Programs as syntax trees: "ContextGraph" has "NodeLabels", which are the nodes, and "Edges" by type. The slot
// is "HoleNode" or "SlotDummyNode"; candidates are the nodes of "LastUseOfVariablesInScope", right the one
// whose name is "OriginalExpression", or those of "SymbolCandidates", right where "IsCorrect".
std::unique_ptr<JsonlForm> NewTreeForm(const ReadLimits& limits);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_JSONL_FORM_H_
