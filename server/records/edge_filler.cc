#include "server/records/edge_filler.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/records/schema.h"

namespace packtrain::records {
namespace {

constexpr std::string_view kPositions = "pos";
constexpr std::string_view kShift = "shift";
constexpr std::uint64_t kShiftBytes = 3 * sizeof(std::int32_t);
// What shifts and two lists of endpoints take beside their elements, at most.
constexpr std::uint64_t kPaddingBytes = 24;

bool IsPositions(const v1::Field& field) {
  return field.name() == kPositions && field.scope() == v1::FIELD_SCOPE_NODE && RowElements(field) == 3 &&
         (field.data_type() == v1::DATA_TYPE_F32 || field.data_type() == v1::DATA_TYPE_F64);
}

absl::Status CheckFields(const v1::Schema& schema, const std::string& edges) {
  for (const v1::Field& field : schema.fields()) {
    if (field.scope() != v1::FIELD_SCOPE_EDGE) continue;
    return absl::InvalidArgumentError(absl::StrCat("--edges ", edges, ": edge field '", field.name(),
                                                   "' belongs to edges that are there already"));
  }
  if (edges == "full") return absl::OkStatus();
  ABSL_RETURN_IF_ERROR(CheckCellFields(schema));
  if (std::any_of(schema.fields().begin(), schema.fields().end(), IsPositions)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--edges ", edges,
      " needs positions: a node field 'pos' of F32 or F64 with dims [3], which the data set lacks"));
}

void AddShift(v1::Schema& schema) {
  v1::Field& field = *schema.add_fields();
  field.set_name(std::string(kShift));
  field.set_scope(v1::FIELD_SCOPE_EDGE);
  field.set_data_type(v1::DATA_TYPE_I32);
  field.add_dims(3);
}

Refusal TooManyEdges(const absl::Status& status) {
  return {refusal_reason::kTooManyEdges, std::string(status.message())};
}

template <typename T>
edges::Point PointAt(const char* row) {
  T at[3];
  std::memcpy(at, row, sizeof(at));
  return {at[0], at[1], at[2]};
}

}  // namespace

absl::StatusOr<v1::Schema> SchemaOfBuiltEdges(const v1::Schema& schema) {
  ABSL_ASSIGN_OR_RETURN(const wire::EdgeSpec spec, wire::ParseEdgeSpec(schema.edges()));
  const bool full = spec.builder == wire::EdgeBuilder::kFull;
  if (schema.edge_rule() != (full ? v1::EDGE_RULE_FULL : v1::EDGE_RULE_STORED)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--edges ", schema.edges(), " needs the edge rule EDGE_RULE_", full ? "FULL" : "STORED"));
  }
  v1::Schema built = schema;
  built.set_edges(wire::ToText(spec));
  ABSL_RETURN_IF_ERROR(CheckSchema(built));
  ABSL_RETURN_IF_ERROR(CheckFields(built, built.edges()));
  if (full || !HasCellFields(built)) return built;
  AddShift(built);
  ABSL_RETURN_IF_ERROR(CheckSchema(built));  // the name may be taken
  return built;
}

EdgeFiller::EdgeFiller(const v1::Schema& schema, const RecordLayout& layout, edges::WorkingMemory& memory)
    : layout_(layout),
      pos_(layout.FindField(kPositions).value()),
      cell_fields_(layout),
      shift_(layout.FindField(kShift)),
      memory_(memory),
      open_(wire::ParseEdgeSpec(schema.edges()).value(), memory),
      periodic_(wire::ParseEdgeSpec(schema.edges()).value(), memory) {}

absl::StatusOr<std::optional<Refusal>> EdgeFiller::Fill(GraphView& graph) {
  ABSL_RETURN_IF_ERROR(TakePositions(graph));
  graph.n_edge = 0;
  const edges::PeriodicCell cell = cell_fields_.CellOf(graph);
  if (cell.IsPeriodic()) return FillPeriodic(cell, graph);
  const absl::Status built = open_.Build(nodes_, MaxEdges(graph));
  if (absl::IsInvalidArgument(built)) return TooManyEdges(built);
  ABSL_RETURN_IF_ERROR(built);
  ABSL_RETURN_IF_ERROR(Take(open_.edges(), {}, graph));
  return std::nullopt;
}

absl::StatusOr<std::optional<Refusal>> EdgeFiller::FillPeriodic(const edges::PeriodicCell& cell,
                                                                GraphView& graph) {
  const absl::StatusOr<edges::Lattice> lattice = edges::Lattice::Create(cell);
  if (!lattice.ok()) return Refusal{refusal_reason::kBadCell, std::string(lattice.status().message())};
  const absl::Status built = periodic_.Build(nodes_, *lattice, MaxEdges(graph));
  if (absl::IsOutOfRange(built)) return Refusal{refusal_reason::kBadCell, std::string(built.message())};
  if (absl::IsInvalidArgument(built)) return TooManyEdges(built);
  ABSL_RETURN_IF_ERROR(built);
  ABSL_RETURN_IF_ERROR(Take(periodic_.edges(), periodic_.shifts(), graph));
  return std::nullopt;
}

std::uint64_t EdgeFiller::MaxEdges(const GraphView& graph) const {
  const std::uint64_t taken = RecordBytes(layout_, graph) + kPaddingBytes;
  const std::uint64_t room = taken < kMaxRecordBytes ? kMaxRecordBytes - taken : 0;
  const std::uint64_t of_edge = std::uint64_t{2} * EndpointBytes(graph.n_node) + (shift_ ? kShiftBytes : 0);
  return std::min(edges::kMaxEdges, room / of_edge);
}

absl::Status EdgeFiller::Take(const edges::EdgeList& edges, std::span<const std::array<std::int32_t, 3>> shifts,
                              GraphView& graph) {
  graph.n_edge = static_cast<std::uint32_t>(edges.senders.size());
  graph.senders = edges.senders;
  graph.receivers = edges.receivers;
  if (!shift_) return absl::OkStatus();
  fields_.assign(graph.fields.begin(), graph.fields.end());
  if (shifts.empty()) {
    const std::size_t bytes = edges.senders.size() * kShiftBytes;
    ABSL_RETURN_IF_ERROR(memory_.Raise(shift_bytes_, bytes));
    edges::MakeRoom(no_shifts_, bytes);
    no_shifts_.assign(bytes, '\0');
    fields_[*shift_] = no_shifts_;
  } else {
    fields_[*shift_] = {reinterpret_cast<const char*>(shifts.data()), shifts.size_bytes()};
  }
  graph.fields = fields_;
  return absl::OkStatus();
}

absl::Status EdgeFiller::TakePositions(const GraphView& graph) {
  const RecordLayout::Field& field = layout_.fields()[pos_];
  ABSL_RETURN_IF_ERROR(memory_.Raise(node_bytes_, graph.n_node * sizeof(nodes_[0])));
  edges::MakeRoom(nodes_, graph.n_node);
  nodes_.resize(graph.n_node);
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    const char* const row = graph.fields[pos_].data() + k * field.row_bytes;
    nodes_[k] = field.data_type == v1::DATA_TYPE_F32 ? PointAt<float>(row) : PointAt<double>(row);
  }
  return absl::OkStatus();
}

}  // namespace packtrain::records
