#include "server/records/edge_order.h"

#include <algorithm>
#include <numeric>

#include "proto/base/status_macros.h"
#include "server/records/row_order.h"

namespace packtrain::records {
namespace {

// Smaller where the edge comes first.
std::uint64_t Rank(const GraphView& graph, std::size_t edge) {
  return std::uint64_t{graph.receivers[edge]} << 32 | graph.senders[edge];
}

// Looks at all edges: a loop that ends early takes a branch for each.
bool IsInOrder(const GraphView& graph) {
  bool in_order = true;
  for (std::size_t edge = 1; edge < graph.senders.size(); ++edge) {
    in_order &= Rank(graph, edge - 1) <= Rank(graph, edge);
  }
  return in_order;
}

}  // namespace

absl::StatusOr<GraphView> EdgeOrder::Sorted(const GraphView& graph) {
  if (IsInOrder(graph)) return graph;
  // Places, the buffer of the sort, and both endpoints.
  const std::uint64_t of_edge = 4 * sizeof(std::uint32_t) + RowBytes(layout_, v1::FIELD_SCOPE_EDGE);
  ABSL_RETURN_IF_ERROR(memory_.Raise(edge_bytes_, graph.senders.size() * of_edge));
  Permute(graph);
  rows_.resize(graph.fields.size());
  fields_.assign(graph.fields.begin(), graph.fields.end());
  for (std::size_t k = 0; k < fields_.size(); ++k) {
    if (layout_.fields()[k].scope != v1::FIELD_SCOPE_EDGE) continue;
    OrderRows(graph.fields[k], layout_.fields()[k].row_bytes, order_, rows_[k]);
    fields_[k] = rows_[k];
  }
  GraphView sorted = graph;
  sorted.senders = senders_;
  sorted.receivers = receivers_;
  sorted.fields = fields_;
  return sorted;
}

void EdgeOrder::Permute(const GraphView& graph) {
  edges::MakeRoom(order_, graph.senders.size());
  order_.resize(graph.senders.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return Rank(graph, a) < Rank(graph, b); });
  edges::MakeRoom(senders_, order_.size());
  edges::MakeRoom(receivers_, order_.size());
  senders_.clear();
  receivers_.clear();
  for (const std::uint32_t edge : order_) {
    senders_.push_back(graph.senders[edge]);
    receivers_.push_back(graph.receivers[edge]);
  }
}

}  // namespace packtrain::records
