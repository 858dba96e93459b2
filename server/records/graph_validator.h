// Which graphs may be stored. A bad graph never reaches a trainer.
#ifndef PACKTRAIN_SERVER_RECORDS_GRAPH_VALIDATOR_H_
#define PACKTRAIN_SERVER_RECORDS_GRAPH_VALIDATOR_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.pb.h"
#include "server/records/cell_fields.h"
#include "server/records/graph_record.h"

namespace packtrain::records {

inline constexpr std::size_t kMaxSourceIdBytes = 1024;

// Why a graph is refused.
struct Refusal {
  std::string_view reason;  // a constant, one of refusal_reason; RefusedGraph.reason
  std::string message;      // a sentence for people
};

namespace refusal_reason {
inline constexpr std::string_view kNoNodes = "no_nodes";
inline constexpr std::string_view kTooManyNodes = "too_many_nodes";  // for edges that are not stored
inline constexpr std::string_view kTooLarge = "too_large";           // the record
inline constexpr std::string_view kTooManyEdges = "too_many_edges";  // that --edges builds
inline constexpr std::string_view kBadCell = "bad_cell";             // that repeats
inline constexpr std::string_view kBadSourceNode = "bad_source_node";
inline constexpr std::string_view kEdgeOutOfRange = "edge_out_of_range";
inline constexpr std::string_view kNotFinite = "not_finite";
inline constexpr std::string_view kMissingTarget = "missing_target";
inline constexpr std::string_view kNoId = "no_id";
inline constexpr std::string_view kIdTooLong = "id_too_long";
inline constexpr std::string_view kNotUtf8 = "not_utf8";  // the id
inline constexpr std::string_view kDuplicateId = "duplicate_id";
}  // namespace refusal_reason

// Whether rows of `source_node`, an I32 each, hold each node of a graph once.
bool HoldsEachNodeOnce(std::span<const std::byte> source_nodes, std::uint32_t n_node);

// Checks what a graph says of itself: counts, endpoints, floats, targets, cell (edges/lattice.h), nodes of its
// source, id.
// Immutable; borrows the layout.
class GraphValidator {
 public:
  GraphValidator(const RecordLayout& layout, v1::MissingTargetPolicy missing_target);

  // The first thing that is wrong, none where the graph may be stored. The view must be one that BlockReader
  // gave.
  std::optional<Refusal> Check(const GraphView& graph) const;

 private:
  std::optional<Refusal> CheckCounts(const GraphView& graph) const;
  std::optional<Refusal> CheckFields(const GraphView& graph) const;
  std::optional<Refusal> CheckCell(const GraphView& graph) const;
  std::optional<Refusal> CheckSourceNodes(const GraphView& graph) const;

  const RecordLayout& layout_;
  const CellFields cell_fields_;
  const bool allow_missing_target_;
};

// Gives out source ids. Used by one thread.
class SourceIds {
 public:
  explicit SourceIds(v1::DuplicatePolicy policy) : policy_(policy) {}

  // The id to store a graph under: its own where no graph has it yet, of which `is_taken` knows. Otherwise it
  // is refused (none) or, with DUPLICATE_POLICY_NUMBER, followed by "#2", "#3", ..., the first that is free.
  std::optional<std::string> Take(std::string_view id, absl::FunctionRef<bool(std::string_view)> is_taken);

  // Bytes of memory held, about.
  std::uint64_t memory_bytes() const {
    return id_bytes_ + last_number_.capacity() * sizeof(decltype(last_number_)::value_type);
  }

 private:
  const v1::DuplicatePolicy policy_;
  absl::flat_hash_map<std::string, std::uint64_t> last_number_;  // of ids that many graphs have
  std::uint64_t id_bytes_ = 0;                                   // of these
};

}  // namespace packtrain::records

#endif  // PACKTRAIN_SERVER_RECORDS_GRAPH_VALIDATOR_H_
