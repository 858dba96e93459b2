// Builds the edges of graphs that come without, where an import asks for it.
#ifndef PACKTRAIN_SERVER_RECORDS_EDGE_FILLER_H_
#define PACKTRAIN_SERVER_RECORDS_EDGE_FILLER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.pb.h"
#include "proto/wire/edge_spec.h"
#include "server/edges/neighbour_edges.h"
#include "server/records/graph_record.h"
#include "server/records/graph_validator.h"

namespace packtrain::records {

// The schema under which graphs with edges by its `edges` are stored: the same, with the one spelling of the
// spec, "full" with EDGE_RULE_FULL and any other with EDGE_RULE_STORED. INVALID_ARGUMENT: the spec is none
// (edge_spec.h), the rule is another one, the schema has edge fields, which nothing would fill, or the spec
// needs a node field `pos` of F32 or F64 [3] and there is none.
absl::StatusOr<v1::Schema> SchemaOfBuiltEdges(const v1::Schema& schema);

// Fills one graph after the other; its memory is used again. Borrows the layout. Used by one thread.
class EdgeFiller {
 public:
  // `schema` is one that SchemaOfBuiltEdges gave, and stores edges; `layout` is its layout.
  EdgeFiller(const v1::Schema& schema, const RecordLayout& layout);

  // Gives a valid graph without edges its edges, which are valid until the next call. A refusal: the graph
  // would be above kMaxRecordBytes, or has a cell that repeats.
  std::optional<Refusal> Fill(GraphView& graph);

  // Bytes of memory held.
  std::uint64_t memory_bytes() const;

 private:
  bool IsPeriodic(const GraphView& graph) const;
  void TakePositions(const GraphView& graph);

  const RecordLayout& layout_;
  const std::size_t pos_;
  const std::optional<std::size_t> cell_;
  const std::optional<std::size_t> pbc_;
  edges::NeighbourEdges builder_;
  std::vector<edges::Point> nodes_;
};

}  // namespace packtrain::records

#endif  // PACKTRAIN_SERVER_RECORDS_EDGE_FILLER_H_
