// The order in which edges are stored: by receiver, then sender.
#ifndef PACKTRAIN_SERVER_RECORDS_EDGE_ORDER_H_
#define PACKTRAIN_SERVER_RECORDS_EDGE_ORDER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/edges/working_memory.h"
#include "server/records/graph_record.h"

namespace packtrain::records {

// Sorts one graph after the other; its memory is used again, and comes out of `memory`. Used by one thread.
class EdgeOrder {
 public:
  // Both are borrowed.
  EdgeOrder(const RecordLayout& layout, edges::WorkingMemory& memory) : layout_(layout), memory_(memory) {}

  // The graph with its edges, and the rows of its edge fields, in stored order; edges between the same nodes
  // keep theirs. Valid until the next call, and as long as `graph`. Codes as WorkingMemory::Take.
  absl::StatusOr<GraphView> Sorted(const GraphView& graph);

 private:
  void Permute(const GraphView& graph);

  const RecordLayout& layout_;
  edges::WorkingMemory& memory_;
  std::uint64_t edge_bytes_ = 0;  // of memory_

  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> senders_;
  std::vector<std::uint32_t> receivers_;
  std::vector<std::string> rows_;  // of each field; empty for those that stay as they are
  std::vector<std::string_view> fields_;
};

}  // namespace packtrain::records

#endif  // PACKTRAIN_SERVER_RECORDS_EDGE_ORDER_H_
