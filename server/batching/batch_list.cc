#include "server/batching/batch_list.h"

#include <utility>

namespace packtrain::batching {

BatchList::BatchList(std::vector<std::uint32_t> graphs, std::span<const std::vector<wire::Shape>> batches)
    : graphs_(std::move(graphs)) {
  std::size_t count = 0;
  for (const std::vector<wire::Shape>& some : batches) count += some.size();
  entries_.reserve(count);
  std::uint32_t end = 0;
  for (const std::vector<wire::Shape>& some : batches) {
    for (const wire::Shape& real : some) entries_.push_back({end += real.graphs, real.nodes, real.edges});
  }
}

std::span<const std::uint32_t> BatchList::Graphs(std::size_t batch) const { return Graphs(batch, batch + 1); }

std::span<const std::uint32_t> BatchList::Graphs(std::size_t first, std::size_t last) const {
  return std::span(graphs_).subspan(Begin(first), Begin(last) - Begin(first));
}

wire::Shape BatchList::Real(std::size_t batch) const {
  const Entry& entry = entries_[batch];
  return {entry.end - Begin(batch), entry.nodes, entry.edges};
}

std::uint64_t BatchList::memory_bytes() const {
  return graphs_.capacity() * sizeof(graphs_[0]) + entries_.capacity() * sizeof(entries_[0]);
}

BatchList BatchList::InOrder(std::span<const std::uint32_t> batches) const {
  BatchList list;
  list.graphs_.reserve(graphs_.size());
  list.entries_.reserve(entries_.size());
  for (const std::uint32_t batch : batches) {
    const std::span<const std::uint32_t> graphs = Graphs(batch);
    list.graphs_.insert(list.graphs_.end(), graphs.begin(), graphs.end());
    const wire::Shape real = Real(batch);
    list.entries_.push_back({static_cast<std::uint32_t>(list.graphs_.size()), real.nodes, real.edges});
  }
  return list;
}

void BatchList::Close() {
  if (open_.graphs == 0) return;
  entries_.push_back({static_cast<std::uint32_t>(graphs_.size()), open_.nodes, open_.edges});
  open_ = {};
}

void BatchList::Append(std::span<const std::uint32_t> graphs, const wire::Shape& real) {
  graphs_.insert(graphs_.end(), graphs.begin(), graphs.end());
  open_ = real;
  Close();
}

}  // namespace packtrain::batching
