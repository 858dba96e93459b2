#include "client/ingest/formats/jsonl_form.h"

#include "absl/strings/str_cat.h"
#include "client/ingest/refusal.h"

namespace packtrain::ingest {

absl::Status JsonlForm::CheckCounts(std::uint64_t nodes, std::uint64_t edges) const {
  if (nodes == 0) return Refusal("no_nodes", "the graph has no nodes");
  if (nodes > limits_.max_atoms) {
    return Refusal("too_many_atoms",
                   absl::StrCat(nodes, " nodes, the limit is ", limits_.max_atoms, " (--max-atoms)"));
  }
  if (edges <= limits_.max_edges) return absl::OkStatus();
  return Refusal("too_many_edges",
                 absl::StrCat(edges, " edges, the limit is ", limits_.max_edges, " (--max-edges)"));
}

absl::Status JsonlForm::CheckNode(std::uint32_t index, std::uint64_t nodes, std::string_view name) {
  if (index < nodes) return absl::OkStatus();
  return Refusal("edge_out_of_range", absl::StrCat("'", std::string(name), "' names node ", index,
                                                   ", but the graph has nodes 0 to ", nodes - 1));
}

}  // namespace packtrain::ingest
