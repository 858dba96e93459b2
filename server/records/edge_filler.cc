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
constexpr std::string_view kCell = "cell";
constexpr std::string_view kPeriodicAxes = "pbc";
// What two lists of endpoints take beside their elements, at most.
constexpr std::uint64_t kPaddingBytes = 16;

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
  if (std::any_of(schema.fields().begin(), schema.fields().end(), IsPositions)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--edges ", edges,
      " needs positions: a node field 'pos' of F32 or F64 with dims [3], which the data set lacks"));
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
  return built;
}

EdgeFiller::EdgeFiller(const v1::Schema& schema, const RecordLayout& layout)
    : layout_(layout),
      pos_(layout.FindField(kPositions).value()),
      cell_(layout.FindField(kCell)),
      pbc_(layout.FindField(kPeriodicAxes)),
      builder_(wire::ParseEdgeSpec(schema.edges()).value()) {}

std::optional<Refusal> EdgeFiller::Fill(GraphView& graph) {
  if (IsPeriodic(graph)) {
    return Refusal{refusal_reason::kPeriodicCell,
                   "its cell repeats, and --edges builds edges without periodic images only"};
  }
  TakePositions(graph);
  const std::uint64_t taken = RecordBytes(layout_, graph) + kPaddingBytes;
  const std::uint64_t room = taken < kMaxRecordBytes ? kMaxRecordBytes - taken : 0;
  const std::uint64_t most =
      std::min(edges::kMaxEdges, room / (std::uint64_t{2} * EndpointBytes(graph.n_node)));
  if (const absl::Status status = builder_.Build(nodes_, most); !status.ok()) {
    return Refusal{refusal_reason::kTooManyEdges, std::string(status.message())};
  }
  graph.n_edge = static_cast<std::uint32_t>(builder_.edges().senders.size());
  graph.senders = builder_.edges().senders;
  graph.receivers = builder_.edges().receivers;
  return std::nullopt;
}

// A cell repeats along all axes where nothing says along which.
bool EdgeFiller::IsPeriodic(const GraphView& graph) const {
  if (!pbc_) return cell_.has_value();
  return graph.fields[*pbc_].find_first_not_of('\0') != std::string_view::npos;
}

void EdgeFiller::TakePositions(const GraphView& graph) {
  const RecordLayout::Field& field = layout_.fields()[pos_];
  nodes_.resize(graph.n_node);
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    const char* const row = graph.fields[pos_].data() + k * field.row_bytes;
    nodes_[k] = field.data_type == v1::DATA_TYPE_F32 ? PointAt<float>(row) : PointAt<double>(row);
  }
}

std::uint64_t EdgeFiller::memory_bytes() const {
  return nodes_.capacity() * sizeof(edges::Point) +
         (builder_.edges().senders.capacity() + builder_.edges().receivers.capacity()) * sizeof(std::uint32_t);
}

}  // namespace packtrain::records
