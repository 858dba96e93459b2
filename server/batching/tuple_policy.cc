#include "server/batching/tuple_policy.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
#include "server/batching/budgeted_policy.h"
#include "server/batching/lookahead_packer.h"

namespace packtrain::batching {
namespace {

using Graphs = std::vector<std::uint32_t>;

constexpr int kDigitBits = 11;
constexpr std::uint32_t kDigitMask = (1u << kDigitBits) - 1;

// One pass of a radix sort: stable, by kDigitBits bits of each graph's size.
void SortByDigit(std::span<const std::uint32_t> size, int shift, Graphs& graphs) {
  std::array<std::uint32_t, kDigitMask + 2> begin{};
  for (const std::uint32_t graph : graphs) ++begin[(size[graph] >> shift & kDigitMask) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  Graphs sorted(graphs.size());
  for (const std::uint32_t graph : graphs) sorted[begin[size[graph] >> shift & kDigitMask]++] = graph;
  graphs.swap(sorted);
}

void SortBySize(std::span<const std::uint32_t> size, Graphs& graphs) {
  std::uint32_t max = 0;
  for (const std::uint32_t graph : graphs) max = std::max(max, size[graph]);
  for (int shift = 0; shift < 32 && max >> shift > 0; shift += kDigitBits) SortByDigit(size, shift, graphs);
}

// Every graph once, in steps of about the golden ratio of their number: however few follow one another, they
// come from all over `sorted`.
Graphs Deal(const Graphs& sorted) {
  const std::uint64_t count = sorted.size();
  std::uint64_t step = count * 618'034 / 1'000'000;
  while (std::gcd(step, count) != 1) ++step;
  Graphs dealt(sorted.size());
  std::uint64_t place = 0;
  for (std::uint32_t& graph : dealt) {
    graph = sorted[place];
    place = (place + step) % count;
  }
  return dealt;
}

class TuplePolicy final : public BudgetedPolicy {
 public:
  TuplePolicy(SettledBudget settled, const PackingRules& rules)
      : BudgetedPolicy(std::move(settled)), rules_(rules) {}

  // A pack takes graphs from all of the split.
  std::size_t chunk_graphs() const override { return std::numeric_limits<std::size_t>::max(); }
  bool shuffles_batches() const override { return true; }

  BatchList Cut(std::span<const std::uint32_t> order, const GraphSizes& sizes) const override {
    Graphs sorted(order.begin(), order.end());
    SortBySize(sizes.n_edge, sorted);
    SortBySize(sizes.n_node, sorted);
    return PackInOnePass(rules_, Deal(sorted), sizes, action());
  }

 private:
  const PackingRules rules_;
};

absl::StatusOr<std::unique_ptr<const BatchPolicy>> Create(const PlanRequest& request) {
  ABSL_ASSIGN_OR_RETURN(SettledBudget settled, SettleBudget(request));
  const PackingRules rules = RulesFor(settled.limits, kDefaultLookahead, request.sizes, request.split);
  return std::make_unique<TuplePolicy>(std::move(settled), rules);
}

}  // namespace

constexpr PolicyKind kTuplePolicy = {.policy = wire::Policy::kTuple,
                                     .has_budget = true,
                                     .default_max_graphs = RoomForMoreGraphs,
                                     .check = CheckBudget,
                                     .canonical_text = BudgetText,
                                     .create = Create};

}  // namespace packtrain::batching
