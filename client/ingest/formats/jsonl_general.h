// The general form of a graph as a line of JSON:
//
//   {"id": "a",
//    "nodes": {"z": [6, 1], "pos": [[0, 0, 0], [0, 0, 1.1]]},
//    "edges": {"senders": [0, 1], "receivers": [1, 0], "edge_type": ["single", "single"]},
//    "graph": {"cell": [[9, 0, 0], [0, 9, 0], [0, 0, 9]]},
//    "targets": {"energy": -1.5, "gap": null}}
//
// key                      value
// id                       text or whole number; may be absent
// nodes, edges, graph      fields by name: a row for each node or edge, one row for the graph. `nodes` may also
//                          be the number of nodes, `edges` a list of [sender, receiver]
// targets                  numbers by name; null: missing
// n_node, n_edge           numbers of nodes and edges, checked; `n_node` is needed where no node has a field
// senders, receivers       edges, where they do not stand in `edges`
// z, pos, x, token, cell, pbc, edge_attr, edge_type, shift, is_slot, is_candidate, is_target
//                          fields that are known by their names, where they do not stand in `nodes`, `edges`,
//                          `graph`
// y                        targets, as `schema` names them
// split                    "train", "val" or "test": the split that the graph is in
// schema                   in the first record of a file: what the fields of all of its records are, as
//                          `packtrain dataset show --json` prints it: {"fields": [{"name", "scope", "dtype",
//                          "dims", "unit"}], "targets": [{"name", "unit"}], "edge_builder": "radius:5",
//                          "renumbered": "rcm"}; `words` lists the fields whose values are texts, and `names`
//                          has by field the texts that its values 0, 1 and so on stand for, where these are
//                          fixed. `renumbered` says that the nodes are numbered by these edges already, and
//                          that field `source_node` has their numbers before
// other keys               labels, where they hold a number, a text, true, false or null
//
// Nodes are numbered from 0. A file without edges in its first record brings none, and --edges builds them.
// Without a schema the first record says which fields there are; a known name has its usual type, others are
// f32 with the dimensions that they have there. Fields of texts are stored as ids of words (vocabularies.h): u8
// as `edge_type`, else i32, where the schema does not say otherwise. Values of a field with `names` are such
// texts, or whole numbers. `cell` and `pbc` may be absent in some records.
#ifndef PACKTRAIN_CLIENT_INGEST_FORMATS_JSONL_GENERAL_H_
#define PACKTRAIN_CLIENT_INGEST_FORMATS_JSONL_GENERAL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/ingest/formats/json_line.h"
#include "client/ingest/formats/jsonl_form.h"
#include "client/ingest/graph_reader.h"
#include "client/ingest/line_reader.h"

namespace packtrain::ingest {

// A column of key `y`.
struct GeneralTarget {
  std::string name;
  std::string unit;
};

// What the records of a file in the general form hold.
struct GeneralLayout {
  GraphLayout graphs;
  std::vector<GeneralTarget> targets = {};
};

// The layout of the records that begin with this one. Refusals, such as "bad_schema".
absl::StatusOr<GeneralLayout> GeneralLayoutOf(JsonObject record);

std::unique_ptr<JsonlForm> NewGeneralForm(GeneralLayout layout, const ReadLimits& limits);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_FORMATS_JSONL_GENERAL_H_
