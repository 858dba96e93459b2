#include "server/records/node_order.h"

#include <cstddef>

#include "server/edges/working_memory.h"
#include "server/records/row_order.h"

namespace packtrain::records {
namespace {

void Rename(std::span<const std::uint32_t> nodes, std::span<const std::uint32_t> numbers,
            std::vector<std::uint32_t>& out) {
  edges::MakeRoom(out, nodes.size());
  out.clear();
  for (const std::uint32_t node : nodes) out.push_back(numbers[node]);
}

}  // namespace

GraphView NodeOrder::Ordered(const RecordLayout& layout, const GraphView& graph,
                             std::span<const std::uint32_t> nodes) {
  edges::MakeRoom(numbers_, nodes.size());
  numbers_.resize(nodes.size());
  for (std::uint32_t k = 0; k < nodes.size(); ++k) numbers_[nodes[k]] = k;
  Rename(graph.senders, numbers_, senders_);
  Rename(graph.receivers, numbers_, receivers_);
  rows_.resize(graph.fields.size());
  fields_.assign(graph.fields.begin(), graph.fields.end());
  for (std::size_t k = 0; k < fields_.size(); ++k) {
    if (layout.fields()[k].scope != v1::FIELD_SCOPE_NODE) continue;
    OrderRows(graph.fields[k], layout.fields()[k].row_bytes, nodes, rows_[k]);
    fields_[k] = rows_[k];
  }
  GraphView ordered = graph;
  ordered.senders = senders_;
  ordered.receivers = receivers_;
  ordered.fields = fields_;
  return ordered;
}

std::uint64_t NodeOrder::BytesOfANode(const RecordLayout& layout) {
  return sizeof(numbers_[0]) + RowBytes(layout, v1::FIELD_SCOPE_NODE);
}

}  // namespace packtrain::records
