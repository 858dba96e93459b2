#include "tests/server/batching/exact_packing.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace packtrain::batching {
namespace {

class Search {
 public:
  Search(std::vector<wire::Shape> graphs, const wire::Shape& budget)
      : graphs_(std::move(graphs)), budget_(budget) {
    std::ranges::sort(graphs_, std::greater<>(),
                      [](const wire::Shape& graph) { return graph.nodes + graph.edges; });
    bound_ = Bound();
    fewest_ = graphs_.size() + 1;
  }

  std::uint64_t Run() {
    Place(0);
    return fewest_;
  }

 private:
  // Puts graphs from `next` on into the open batches, or a new one, in every way that could need fewer.
  void Place(std::size_t next) {
    if (std::max<std::uint64_t>(batches_.size(), bound_) >= fewest_) return;
    if (next == graphs_.size()) {
      fewest_ = batches_.size();
      return;
    }
    for (std::size_t batch = 0; batch < batches_.size(); ++batch) {
      if (!IsRepeated(batch)) PlaceInto(batch, next);
    }
    batches_.emplace_back();
    PlaceInto(batches_.size() - 1, next);
    batches_.pop_back();
  }

  void PlaceInto(std::size_t batch, std::size_t next) {
    const wire::Shape before = batches_[batch];
    const wire::Shape after = Sum(before, graphs_[next]);
    if (after.graphs > budget_.graphs || after.nodes >= budget_.nodes || after.edges > budget_.edges) return;
    batches_[batch] = after;
    Place(next + 1);
    batches_[batch] = before;
  }

  // A batch that holds the same as an earlier one leads to nothing new.
  bool IsRepeated(std::size_t batch) const {
    const auto end = batches_.begin() + static_cast<std::ptrdiff_t>(batch);
    return std::find(batches_.begin(), end, batches_[batch]) != end;
  }

  // What the sums of all graphs need.
  std::uint64_t Bound() const {
    const wire::Shape sum = std::accumulate(graphs_.begin(), graphs_.end(), wire::Shape(), Sum);
    const auto up = [](std::uint32_t value, std::uint32_t by) { return (value + by - 1) / by; };
    return std::max(
        {up(sum.graphs, budget_.graphs), up(sum.nodes, budget_.nodes - 1), up(sum.edges, budget_.edges)});
  }

  static wire::Shape Sum(const wire::Shape& a, const wire::Shape& b) {
    return {a.graphs + b.graphs, a.nodes + b.nodes, a.edges + b.edges};
  }

  std::vector<wire::Shape> graphs_;  // longest first
  const wire::Shape budget_;
  std::vector<wire::Shape> batches_;
  std::uint64_t bound_ = 0;
  std::uint64_t fewest_ = 0;
};

}  // namespace

std::uint64_t FewestBatches(const std::vector<std::uint32_t>& n_node, const std::vector<std::uint32_t>& n_edge,
                            const wire::Shape& budget) {
  std::vector<wire::Shape> graphs;
  for (std::size_t graph = 0; graph < n_node.size(); ++graph) {
    graphs.push_back({1, n_node[graph], n_edge[graph]});
  }
  return Search(std::move(graphs), budget).Run();
}

}  // namespace packtrain::batching
