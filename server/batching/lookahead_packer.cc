#include "server/batching/lookahead_packer.h"

#include <algorithm>
#include <utility>

#include "server/batching/batch_list.h"
#include "server/batching/size_prefetch.h"
#include "server/batching/size_totals.h"
#include "server/batching/slot_rounding.h"

namespace packtrain::batching {
namespace {

using Room = LookaheadWindow::Room;

std::int32_t TwoAndAHalfMeans(std::uint64_t total, std::uint64_t count) {
  return static_cast<std::int32_t>(std::min(MulDiv(total, 5, 2 * count), wire::kMaxSlots));
}

Room NearlyFull(const PaddingBudget& limits, const GraphSizes& sizes, std::span<const std::uint32_t> graphs) {
  SizeTotals totals;
  for (const std::uint32_t graph : graphs) {
    const std::uint32_t n_node = sizes.n_node[graph];
    const std::uint32_t n_edge = sizes.n_edge[graph];
    if (!limits.Holds(n_node, n_edge)) continue;
    ++totals.graphs;
    totals.nodes += n_node;
    totals.edges += n_edge;
  }
  if (totals.graphs == 0) return {};
  return {TwoAndAHalfMeans(totals.nodes, totals.graphs), TwoAndAHalfMeans(totals.edges, totals.graphs)};
}

// One pass over one order.
class Packer {
 public:
  Packer(const PackingRules& rules, std::span<const std::uint32_t> order, const GraphSizes& sizes,
         wire::Oversize action)
      : rules_(rules),
        order_(order),
        sizes_(sizes),
        window_(rules.limits, rules.lookahead),
        batches_(sizes, action, order.size()) {}

  BatchList Pack() && {
    Refill();
    while (!window_.empty()) {
      FillBatch();
      batches_.Close();
    }
    batches_.Close();
    return std::move(batches_).Take();
  }

 private:
  const PaddingBudget& limits() const { return rules_.limits; }

  void Refill() {
    for (; !window_.full() && next_ < order_.size(); ++next_) Reach(order_[next_]);
  }

  void Reach(std::uint32_t graph) {
    PrefetchSizes(order_, next_, sizes_);
    const auto [n_node, n_edge] = SizeOf(graph, sizes_);
    if (limits().Holds(n_node, n_edge)) {
      window_.Add(graph, n_node, n_edge);
    } else {
      batches_.SetAside(graph);
    }
  }

  std::uint32_t GraphSlots() const { return limits().graphs - batches_.open().graphs; }

  Room RoomLeft() const {
    return {static_cast<std::int32_t>(limits().nodes - 1 - batches_.open().nodes),
            static_cast<std::int32_t>(limits().edges - batches_.open().edges)};
  }

  bool IsNearlyFull(const Room& room) const {
    return room.nodes <= rules_.nearly_full.nodes || room.edges <= rules_.nearly_full.edges ||
           GraphSlots() <= 2;
  }

  void FillBatch() {
    Take(0);
    for (Room room = RoomLeft(); GraphSlots() > 0; room = RoomLeft()) {
      const LookaheadWindow::Fit fit = Choose(room);
      if (fit.first == LookaheadWindow::kNone) return;
      Take(fit.first);
      if (fit.second != LookaheadWindow::kNone) Take(fit.second - 1);
    }
  }

  LookaheadWindow::Fit Choose(const Room& room) const {
    if (!IsNearlyFull(room)) return {window_.OldestFit(room)};
    return GraphSlots() == 1 ? window_.BestGraph(room) : window_.BestGraphOrPair(room, kPairDepth);
  }

  void Take(std::size_t position) {
    const LookaheadWindow::Waiting taken = window_.Take(position);
    batches_.Add(taken.graph, static_cast<std::uint32_t>(taken.n_node),
                 static_cast<std::uint32_t>(taken.n_edge));
    Refill();
  }

  const PackingRules rules_;
  const std::span<const std::uint32_t> order_;
  const GraphSizes sizes_;
  LookaheadWindow window_;
  BudgetedBatches batches_;
  std::size_t next_ = 0;
};

}  // namespace

PackingRules RulesFor(const PaddingBudget& limits, std::size_t lookahead, const GraphSizes& sizes,
                      std::span<const std::uint32_t> graphs) {
  return {limits, lookahead, NearlyFull(limits, sizes, graphs)};
}

BatchList PackInOnePass(const PackingRules& rules, std::span<const std::uint32_t> order,
                        const GraphSizes& sizes, wire::Oversize action) {
  return Packer(rules, order, sizes, action).Pack();
}

}  // namespace packtrain::batching
