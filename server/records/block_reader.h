// Walks the graphs of one block of an import.
#ifndef PACKTRAIN_SERVER_RECORDS_BLOCK_READER_H_
#define PACKTRAIN_SERVER_RECORDS_BLOCK_READER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "packtrain/v1/dataset.pb.h"
#include "server/records/graph_record.h"

namespace packtrain::records {

// Borrows block and layout. Used by one thread.
class BlockReader {
 public:
  // `holds_edges`: whether graphs come with edges, where edges are stored; otherwise their number is 0.
  // INVALID_ARGUMENT: the block contradicts itself, so that no graph of it can be told from the next: lists of
  // different lengths, a field missing, twice or unknown, a column of another length than the counts say.
  static absl::StatusOr<BlockReader> Open(const RecordLayout& layout, const v1::GraphBlock& block,
                                          bool holds_edges);

  // Goes to the next graph, the first one at first; false past the last.
  bool Next();

  // The current graph, until Next(). Nothing in it is validated; where edges are not stored and there are too
  // many nodes to count them, n_edge is 0.
  const GraphView& graph() const { return graph_; }
  // Where it was read; may be empty.
  std::string_view origin() const;

 private:
  BlockReader(const RecordLayout& layout, const v1::GraphBlock& block, bool holds_edges);
  absl::Status CheckCounts() const;
  absl::Status MapColumns();
  absl::Status CheckColumns() const;
  std::uint64_t Rows(v1::FieldScope scope) const;

  const RecordLayout* layout_;
  const v1::GraphBlock* block_;
  bool holds_edges_;                      // where edges are stored
  std::vector<std::string_view> rest_;    // of each field's column, from the next graph on
  std::vector<std::string_view> fields_;  // of the current graph
  std::uint64_t nodes_ = 0;               // of the block
  std::uint64_t edges_ = 0;               // likewise, where it holds edges
  std::size_t edge_begin_ = 0;            // of the next graph
  int next_ = 0;
  GraphView graph_;
};

}  // namespace packtrain::records

#endif  // PACKTRAIN_SERVER_RECORDS_BLOCK_READER_H_
