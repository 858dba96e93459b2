#include "server/records/graph_validator.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/edges/full.h"
#include "server/records/schema.h"
#include "server/records/utf8.h"

namespace packtrain::records {
namespace {

// Below it the next number is found by trying, so that ids which repeat once or twice take no memory.
constexpr std::uint64_t kRememberedNumber = 16;

std::optional<Refusal> CheckId(std::string_view id) {
  if (id.empty()) return Refusal{refusal_reason::kNoId, "the source id is empty"};
  if (id.size() > kMaxSourceIdBytes) {
    return Refusal{refusal_reason::kIdTooLong,
                   absl::StrCat("the source id has ", id.size(), " bytes, the limit is ", kMaxSourceIdBytes)};
  }
  if (IsUtf8(id)) return std::nullopt;
  return Refusal{refusal_reason::kNotUtf8, "the source id is not UTF-8"};
}

// Looks at all nodes: a loop that ends early takes a branch for each.
bool AreBelow(std::span<const std::uint32_t> nodes, std::uint32_t n_node) {
  bool below = true;
  for (const std::uint32_t node : nodes) below &= node < n_node;
  return below;
}

std::optional<Refusal> CheckEndpoints(const GraphView& graph) {
  if (AreBelow(graph.senders, graph.n_node) && AreBelow(graph.receivers, graph.n_node)) return std::nullopt;
  for (std::size_t e = 0; e < graph.senders.size(); ++e) {
    if (graph.senders[e] < graph.n_node && graph.receivers[e] < graph.n_node) continue;
    return Refusal{refusal_reason::kEdgeOutOfRange,
                   absl::StrCat("edge ", e, " goes from node ", graph.senders[e], " to node ",
                                graph.receivers[e], ", the graph has ", graph.n_node, " nodes")};
  }
  return std::nullopt;
}

// The first element for which `bad` holds. There is hardly ever one, so all are looked at in a loop without an
// early end, which takes no branch for each.
template <typename T, typename Predicate>
std::optional<std::size_t> FindElement(std::string_view bytes, Predicate bad) {
  const auto is_bad = [&](std::size_t k) {
    T value;
    std::memcpy(&value, bytes.data() + k * sizeof(T), sizeof(T));
    return bad(value);
  };
  const std::size_t elements = bytes.size() / sizeof(T);
  bool any = false;
  for (std::size_t k = 0; k < elements; ++k) any |= is_bad(k);
  if (!any) return std::nullopt;
  std::size_t first = 0;
  while (!is_bad(first)) ++first;
  return first;
}

std::optional<std::size_t> FindNotFinite(v1::DataType type, std::string_view bytes) {
  const auto not_finite = [](auto value) { return !std::isfinite(value); };
  if (type == v1::DATA_TYPE_F32) return FindElement<float>(bytes, not_finite);
  if (type == v1::DATA_TYPE_F64) return FindElement<double>(bytes, not_finite);
  return std::nullopt;
}

std::optional<Refusal> CheckTargets(std::string_view row, bool allow_missing) {
  const auto infinite = FindElement<double>(row, [](double value) { return std::isinf(value); });
  if (infinite) return Refusal{refusal_reason::kNotFinite, absl::StrCat("target ", *infinite, " is infinite")};
  if (allow_missing) return std::nullopt;
  const auto missing = FindElement<double>(row, [](double value) { return std::isnan(value); });
  if (!missing) return std::nullopt;
  return Refusal{refusal_reason::kMissingTarget,
                 absl::StrCat("target ", *missing, " is missing; --missing-target nan would allow it")};
}

}  // namespace

bool HoldsEachNodeOnce(std::span<const std::byte> source_nodes, std::uint32_t n_node) {
  if (source_nodes.size() != n_node * kSourceNodeBytes) return false;
  std::vector<bool> found(n_node);
  for (std::size_t k = 0; k < n_node; ++k) {
    const std::uint32_t node = NumberAt(source_nodes, k, kSourceNodeBytes);  // a negative one is too large
    if (node >= n_node || found[node]) return false;
    found[node] = true;
  }
  return true;
}

GraphValidator::GraphValidator(const RecordLayout& layout, v1::MissingTargetPolicy missing_target)
    : layout_(layout),
      cell_fields_(layout),
      allow_missing_target_(missing_target == v1::MISSING_TARGET_POLICY_NAN) {}

std::optional<Refusal> GraphValidator::Check(const GraphView& graph) const {
  if (std::optional<Refusal> refusal = CheckCounts(graph)) return refusal;
  if (std::optional<Refusal> refusal = CheckId(graph.source_id)) return refusal;
  if (std::optional<Refusal> refusal = CheckEndpoints(graph)) return refusal;
  if (std::optional<Refusal> refusal = CheckFields(graph)) return refusal;
  if (std::optional<Refusal> refusal = CheckSourceNodes(graph)) return refusal;
  return CheckCell(graph);
}

std::optional<Refusal> GraphValidator::CheckCounts(const GraphView& graph) const {
  if (graph.n_node == 0) return Refusal{refusal_reason::kNoNodes, "the graph has no nodes"};
  if (!layout_.stores_edges()) {
    const absl::Status status = edges::FullEdgeCount(graph.n_node).status();
    if (!status.ok()) return Refusal{refusal_reason::kTooManyNodes, std::string(status.message())};
  }
  const std::uint64_t bytes = RecordBytes(layout_, graph);
  if (bytes <= kMaxRecordBytes) return std::nullopt;
  return Refusal{refusal_reason::kTooLarge,
                 absl::StrCat("the graph takes ", bytes, " bytes, the limit is ", kMaxRecordBytes)};
}

std::optional<Refusal> GraphValidator::CheckFields(const GraphView& graph) const {
  for (std::size_t k = 0; k < graph.fields.size(); ++k) {
    const RecordLayout::Field& field = layout_.fields()[k];
    if (field.name == kTargetField) {
      if (auto refusal = CheckTargets(graph.fields[k], allow_missing_target_)) return refusal;
    } else if (const auto element = FindNotFinite(field.data_type, graph.fields[k])) {
      return Refusal{refusal_reason::kNotFinite,
                     absl::StrCat("element ", *element, " of field '", field.name, "' is not finite")};
    }
  }
  return std::nullopt;
}

std::optional<Refusal> GraphValidator::CheckCell(const GraphView& graph) const {
  const edges::PeriodicCell cell = cell_fields_.CellOf(graph);
  if (!cell.IsPeriodic()) return std::nullopt;
  const absl::Status status = edges::Lattice::Create(cell).status();
  if (status.ok()) return std::nullopt;
  return Refusal{refusal_reason::kBadCell, std::string(status.message())};
}

std::optional<Refusal> GraphValidator::CheckSourceNodes(const GraphView& graph) const {
  const std::optional<std::size_t> field = layout_.source_node();
  if (!field || HoldsEachNodeOnce(std::as_bytes(std::span(graph.fields[*field])), graph.n_node)) {
    return std::nullopt;
  }
  return Refusal{
      refusal_reason::kBadSourceNode,
      absl::StrCat("the nodes are renumbered, and field 'source_node' does not hold each index from 0 to ",
                   graph.n_node - 1, " once")};
}

std::optional<std::string> SourceIds::Take(std::string_view id,
                                           absl::FunctionRef<bool(std::string_view)> is_taken) {
  std::string taken(id);
  if (!is_taken(taken)) return taken;
  if (policy_ != v1::DUPLICATE_POLICY_NUMBER) return std::nullopt;
  const auto last = last_number_.find(taken);
  std::uint64_t number = last == last_number_.end() ? 1 : last->second;
  do {
    taken = absl::StrCat(std::string(id), "#", ++number);
  } while (is_taken(taken));
  if (last != last_number_.end()) {
    last->second = number;
  } else if (number >= kRememberedNumber) {
    last_number_.emplace(id, number);
    id_bytes_ += id.size();
  }
  return taken;
}

}  // namespace packtrain::records
