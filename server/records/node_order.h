// The order of a graph's nodes.
#ifndef PACKTRAIN_SERVER_RECORDS_NODE_ORDER_H_
#define PACKTRAIN_SERVER_RECORDS_NODE_ORDER_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/records/graph_record.h"

namespace packtrain::records {

// Orders the nodes of one graph after another; its memory is used again. Used by one thread.
class NodeOrder {
 public:
  // The graph whose node k is node nodes[k] of `graph`; `nodes` has each node once. Edges stay in their places,
  // which need not be those of storage any more (EdgeOrder). Valid until the next call, and as long as `graph`.
  GraphView Ordered(const RecordLayout& layout, const GraphView& graph, std::span<const std::uint32_t> nodes);

  // Bytes of memory that it holds for each node and each edge of the largest graphs of `layout`.
  static std::uint64_t BytesOfANode(const RecordLayout& layout);
  static constexpr std::uint64_t kBytesOfAnEdge = 2 * sizeof(std::uint32_t);

 private:
  std::vector<std::uint32_t> numbers_;  // by node of the graph given
  std::vector<std::uint32_t> senders_;
  std::vector<std::uint32_t> receivers_;
  std::vector<std::string> rows_;  // of each field; empty for those that stay as they are
  std::vector<std::string_view> fields_;
};

}  // namespace packtrain::records

#endif  // PACKTRAIN_SERVER_RECORDS_NODE_ORDER_H_
