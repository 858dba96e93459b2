// The batches of an epoch in flat arrays.
#ifndef PACKTRAIN_SERVER_BATCHING_BATCH_LIST_H_
#define PACKTRAIN_SERVER_BATCHING_BATCH_LIST_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "proto/wire/shape.h"

namespace packtrain::batching {

// One batch. Borrowed from its list.
struct CutBatch {
  std::span<const std::uint32_t> graphs;
  wire::Shape real;  // counts of graphs, nodes and edges
};

// Batches in the order of their indices. No batch is without graphs.
class BatchList {
 public:
  BatchList() = default;
  // Takes `graphs` as consecutive batches with these counts, none of them without a graph.
  BatchList(std::vector<std::uint32_t> graphs, std::span<const std::vector<wire::Shape>> batches);

  std::size_t size() const { return entries_.size(); }
  std::span<const std::uint32_t> Graphs(std::size_t batch) const;
  // The graphs of the batches first .. last-1, end to end.
  std::span<const std::uint32_t> Graphs(std::size_t first, std::size_t last) const;
  // The graphs of all batches, end to end.
  std::span<const std::uint32_t> graphs() const { return graphs_; }
  // Counts of graphs, nodes and edges.
  wire::Shape Real(std::size_t batch) const;
  CutBatch At(std::size_t batch) const { return {Graphs(batch), Real(batch)}; }
  std::uint64_t memory_bytes() const;

  // Reserves memory for `graphs` graphs.
  void Reserve(std::size_t graphs) { graphs_.reserve(graphs); }

  // The same batches in another order; `batches` holds the index of each once. No batch may be open.
  BatchList InOrder(std::span<const std::uint32_t> batches) const;

  // Adds a graph to the open batch, whose sums must stay below 2^32.
  void Add(std::uint32_t graph, std::uint32_t n_node, std::uint32_t n_edge) {
    graphs_.push_back(graph);
    ++open_.graphs;
    open_.nodes += n_node;
    open_.edges += n_edge;
  }
  // Counts of the open batch.
  const wire::Shape& open() const { return open_; }
  // Ends the open batch; does nothing if it holds no graph.
  void Close();
  // Adds a whole batch while none is open; `real` has its counts.
  void Append(std::span<const std::uint32_t> graphs, const wire::Shape& real);

 private:
  struct Entry {
    std::uint32_t end = 0;  // in graphs_
    std::uint32_t nodes = 0;
    std::uint32_t edges = 0;
  };
  std::uint32_t Begin(std::size_t batch) const { return batch == 0 ? 0 : entries_[batch - 1].end; }

  std::vector<std::uint32_t> graphs_;  // of all batches, end to end
  std::vector<Entry> entries_;
  wire::Shape open_;
};

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_BATCH_LIST_H_
