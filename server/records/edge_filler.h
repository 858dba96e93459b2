// Builds the edges of graphs that come without, where an import asks for it.
#ifndef PACKTRAIN_SERVER_RECORDS_EDGE_FILLER_H_
#define PACKTRAIN_SERVER_RECORDS_EDGE_FILLER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.pb.h"
#include "proto/wire/edge_spec.h"
#include "server/edges/neighbour_edges.h"
#include "server/edges/periodic_edges.h"
#include "server/edges/working_memory.h"
#include "server/records/cell_fields.h"
#include "server/records/graph_record.h"
#include "server/records/graph_validator.h"

namespace packtrain::records {

// The schema under which graphs with edges by its `edges` are stored: the same, with the one spelling of the
// spec, "full" with EDGE_RULE_FULL and any other with EDGE_RULE_STORED, and then, where graphs may be periodic
// (cell_fields.h), with the edge field `shift` (I32 [3]) behind the others: whole cells by which the image that
// an edge begins in is away from its sender. INVALID_ARGUMENT: the spec is none (edge_spec.h), the rule is
// another one, the schema has edge fields, which nothing would fill, or the spec needs a node field `pos` of
// F32 or F64 [3] and there is none, or the schema fails CheckCellFields.
absl::StatusOr<v1::Schema> SchemaOfBuiltEdges(const v1::Schema& schema);

// Fills one graph after the other; its memory is used again, and comes out of `memory`. Borrows the layout and
// the memory. Used by one thread.
class EdgeFiller {
 public:
  // `schema` is one that SchemaOfBuiltEdges gave, and stores edges; `layout` is its layout.
  EdgeFiller(const v1::Schema& schema, const RecordLayout& layout, edges::WorkingMemory& memory);

  // Gives a valid graph its edges in place of those that it has, with those of images where its cell repeats;
  // they are valid until the next call. A refusal: the graph would be above kMaxRecordBytes, or lies too far
  // outside its cell. Codes as WorkingMemory::Take.
  absl::StatusOr<std::optional<Refusal>> Fill(GraphView& graph);

 private:
  absl::Status TakePositions(const GraphView& graph);
  // Edges that there is room for beside the fields.
  std::uint64_t MaxEdges(const GraphView& graph) const;
  absl::StatusOr<std::optional<Refusal>> FillPeriodic(const edges::PeriodicCell& cell, GraphView& graph);
  // Gives the graph the edges and, where they are stored, their shifts; empty: all are 0.
  absl::Status Take(const edges::EdgeList& edges, std::span<const std::array<std::int32_t, 3>> shifts,
                    GraphView& graph);

  const RecordLayout& layout_;
  const std::size_t pos_;
  const CellFields cell_fields_;
  const std::optional<std::size_t> shift_;
  edges::WorkingMemory& memory_;
  std::uint64_t node_bytes_ = 0;   // of memory_
  std::uint64_t shift_bytes_ = 0;  // likewise
  edges::NeighbourEdges open_;
  edges::PeriodicEdges periodic_;
  std::vector<edges::Point> nodes_;
  std::vector<std::string_view> fields_;
  std::string no_shifts_;  // zeros
};

}  // namespace packtrain::records

#endif  // PACKTRAIN_SERVER_RECORDS_EDGE_FILLER_H_
