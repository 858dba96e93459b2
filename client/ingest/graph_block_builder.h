// From graphs as they were read to the blocks of graphs that a server takes.
#ifndef PACKTRAIN_CLIENT_INGEST_GRAPH_BLOCK_BUILDER_H_
#define PACKTRAIN_CLIENT_INGEST_GRAPH_BLOCK_BUILDER_H_

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client/ingest/graph_reader.h"
#include "client/ingest/origin.h"
#include "packtrain/v1/dataset.pb.h"

namespace packtrain::ingest {

// What the graphs of one import have in common.
struct BlockLayout {
  GraphLayout graphs;                // what their readers hold
  std::vector<bool> stored;          // by field of `graphs`: whether it goes into the blocks
  bool own_edges = false;            // whether the records' edges do
  std::vector<std::string> targets;  // columns of `y`
};

// The stored fields in the reader's order, then graph field `y` (f64 [targets]) where there are targets. Edges
// and numbering: those that the records bring; where their edges do not go into the blocks, neither of them is
// set.
v1::Schema SchemaOf(const BlockLayout& layout);

// Gathers graphs into blocks of about `block_bytes`. Used by one thread.
class GraphBlockBuilder {
 public:
  explicit GraphBlockBuilder(BlockLayout layout, std::size_t block_bytes = 1 << 20);
  GraphBlockBuilder(const GraphBlockBuilder&) = delete;
  GraphBlockBuilder& operator=(const GraphBlockBuilder&) = delete;

  // `graph` has each stored field; `targets` a value for each target.
  void Add(const SourceGraph& graph, std::span<const double> targets, const Origin& origin);

  bool empty() const { return block_.source_ids().empty(); }
  // It is time to take the block.
  bool full() const { return bytes_ >= block_bytes_; }
  // Gives the block away and begins a new one.
  v1::GraphBlock Take();

 private:
  void BeginBlock();
  std::string* AddColumn(const std::string& field);

  const BlockLayout layout_;
  const std::size_t block_bytes_;
  std::size_t bytes_ = 0;
  v1::GraphBlock block_;
  // Into `block_`.
  std::vector<std::pair<std::size_t, std::string*>> columns_;  // by stored field of the layout
  std::string* y_ = nullptr;                                   // null: there are no targets
};

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_GRAPH_BLOCK_BUILDER_H_
