#include "server/records/node_renumbering.h"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/wire/import_words.h"
#include "server/records/schema.h"

namespace packtrain::records {
namespace {

// I32 holds the index of each node: a record has room for fewer rows than that.
static_assert(kMaxRecordBytes / kSourceNodeBytes <= std::numeric_limits<std::int32_t>::max());

absl::Status CheckRenumbering(const v1::Schema& schema, const std::string& word) {
  const auto refuse = [&word](const auto&... why) {
    return absl::InvalidArgumentError(absl::StrCat("--renumber ", word, ": ", why...));
  };
  if (IsRenumbered(schema)) {
    return refuse("the nodes are renumbered already, by ",
                  wire::WordOf(schema.renumbered(), wire::kRenumberingWords));
  }
  if (schema.edge_rule() != v1::EDGE_RULE_STORED) {
    return refuse("edges '", schema.edges(),
                  "' are not stored, and join each node with each other whatever its number; "
                  "--edges with radius:R or knn:K stores edges");
  }
  const bool is_taken = std::any_of(schema.fields().begin(), schema.fields().end(),
                                    [](const v1::Field& field) { return field.name() == kSourceNodeField; });
  if (!is_taken) return absl::OkStatus();
  return refuse("the graphs have a field '", std::string(kSourceNodeField),
                "' already, the name of that for the index of each node in the source");
}

}  // namespace

absl::StatusOr<v1::Schema> SchemaOfRenumbered(const v1::Schema& schema, v1::Renumbering renumbering) {
  if (renumbering == v1::RENUMBERING_UNSPECIFIED) return schema;
  ABSL_RETURN_IF_ERROR(CheckRenumbering(schema, wire::WordOf(renumbering, wire::kRenumberingWords)));
  v1::Schema renumbered = schema;
  renumbered.set_renumbered(renumbering);
  v1::Field& field = *renumbered.add_fields();
  field.set_name(std::string(kSourceNodeField));
  field.set_scope(v1::FIELD_SCOPE_NODE);
  field.set_data_type(v1::DATA_TYPE_I32);
  ABSL_RETURN_IF_ERROR(CheckSchema(renumbered));
  return renumbered;
}

v1::Schema SchemaAsRead(const v1::Schema& schema) {
  v1::Schema as_read = schema;
  if (!IsRenumbered(schema)) return as_read;
  as_read.clear_renumbered();
  auto& fields = *as_read.mutable_fields();
  fields.erase(std::remove_if(fields.begin(), fields.end(),
                              [](const v1::Field& field) { return field.name() == kSourceNodeField; }),
               fields.end());
  return as_read;
}

absl::StatusOr<std::optional<Refusal>> NodeRenumbering::Renumber(GraphView& graph) {
  // First, since the work is proportional to the nodes, and there may be more of them than bytes of the graph.
  const std::uint64_t bytes = RecordBytes(to_, graph);
  if (bytes > kMaxRecordBytes) {
    return Refusal{refusal_reason::kTooLarge,
                   absl::StrCat("the graph takes ", bytes, " bytes with field '", std::string(kSourceNodeField),
                                "', the limit is ", kMaxRecordBytes)};
  }
  constexpr std::uint64_t kBytesOfAnEdge =
      edges::ReverseCuthillMckee::kBytesOfAnEdge + NodeOrder::kBytesOfAnEdge;
  const std::uint64_t of_node = edges::ReverseCuthillMckee::kBytesOfANode + NodeOrder::BytesOfANode(from_);
  ABSL_RETURN_IF_ERROR(memory_.Raise(node_bytes_, (std::uint64_t{graph.n_node} + 1) * of_node));
  ABSL_RETURN_IF_ERROR(memory_.Raise(edge_bytes_, graph.n_edge * kBytesOfAnEdge));
  rcm_.Number(graph.n_node, graph.senders, graph.receivers);
  graph = order_.Ordered(from_, graph, rcm_.nodes());
  fields_.assign(graph.fields.begin(), graph.fields.end());
  fields_.push_back({reinterpret_cast<const char*>(rcm_.nodes().data()), rcm_.nodes().size_bytes()});
  graph.fields = fields_;
  return std::nullopt;
}

absl::StatusOr<GraphView> SourceOrder::Of(const GraphView& graph, std::span<const std::byte> source_nodes) {
  if (!HoldsEachNodeOnce(source_nodes, graph.n_node)) {
    return absl::DataLossError(absl::StrCat("field '", std::string(kSourceNodeField), "' of graph '",
                                            std::string(graph.source_id), "' is not each node once"));
  }
  edges::MakeRoom(nodes_, graph.n_node);
  nodes_.resize(graph.n_node);
  for (std::uint32_t node = 0; node < graph.n_node; ++node) {
    nodes_[NumberAt(source_nodes, node, kSourceNodeBytes)] = node;
  }
  return order_.Ordered(layout_, graph, nodes_);
}

}  // namespace packtrain::records
