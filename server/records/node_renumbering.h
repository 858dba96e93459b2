// Renumbers the nodes of graphs that are to be stored so, and puts them back into the order of their source.
#ifndef PACKTRAIN_SERVER_RECORDS_NODE_RENUMBERING_H_
#define PACKTRAIN_SERVER_RECORDS_NODE_RENUMBERING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.pb.h"
#include "server/edges/reverse_cuthill_mckee.h"
#include "server/edges/working_memory.h"
#include "server/records/graph_record.h"
#include "server/records/graph_validator.h"
#include "server/records/node_order.h"

namespace packtrain::records {

// The schema under which graphs of `schema` are stored renumbered: the same with `renumbered` and, behind the
// other fields, `source_node` (schema.h). The same schema where `renumbering` is unspecified. INVALID_ARGUMENT,
// naming --renumber: the edges are not stored, the graphs are renumbered already or have a field `source_node`,
// or the schema fails CheckSchema.
absl::StatusOr<v1::Schema> SchemaOfRenumbered(const v1::Schema& schema, v1::Renumbering renumbering);

// The schema of the same graphs in the order of their source: without both.
v1::Schema SchemaAsRead(const v1::Schema& schema);

// Renumbers one graph after another by reverse Cuthill-McKee (edges/reverse_cuthill_mckee.h); its memory is
// used again, and comes out of `memory`. Borrows the layouts and the memory. Used by one thread.
class NodeRenumbering {
 public:
  // `to` is the layout of the schema that SchemaOfRenumbered gives for that of `from`.
  NodeRenumbering(const RecordLayout& from, const RecordLayout& to, edges::WorkingMemory& memory)
      : from_(from), to_(to), memory_(memory) {}

  // Makes a valid graph of `from`, with its edges, one of `to`, valid until the next call. A refusal: it would
  // be above kMaxRecordBytes. Codes as WorkingMemory::Take. Nothing is done to a graph that fails.
  absl::StatusOr<std::optional<Refusal>> Renumber(GraphView& graph);

 private:
  const RecordLayout& from_;
  const RecordLayout& to_;
  edges::WorkingMemory& memory_;
  std::uint64_t node_bytes_ = 0;  // of memory_
  std::uint64_t edge_bytes_ = 0;  // likewise
  edges::ReverseCuthillMckee rcm_;
  NodeOrder order_;
  std::vector<std::string_view> fields_;
};

// Undoes it for one graph after another. Borrows the layout. Used by one thread.
class SourceOrder {
 public:
  // Of the graphs, which lack `source_node`.
  explicit SourceOrder(const RecordLayout& layout) : layout_(layout) {}

  // Bytes of memory that it holds for each node and each edge of the largest graphs of `layout`, at most.
  static std::uint64_t BytesOfANode(const RecordLayout& layout) {
    return NodeOrder::BytesOfANode(layout) + sizeof(std::uint32_t) + 1;
  }
  static constexpr std::uint64_t kBytesOfAnEdge = NodeOrder::kBytesOfAnEdge;

  // The graph with its nodes in the order of their source, of which `source_nodes` holds the rows; valid until
  // the next call, and as long as `graph`. DATA_LOSS: they are not each node once.
  absl::StatusOr<GraphView> Of(const GraphView& graph, std::span<const std::byte> source_nodes);

 private:
  const RecordLayout& layout_;
  NodeOrder order_;
  std::vector<std::uint32_t> nodes_;  // stored, by index in the source
};

}  // namespace packtrain::records

#endif  // PACKTRAIN_SERVER_RECORDS_NODE_RENUMBERING_H_
