#include "server/batching/step_split.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace packtrain::batching {
namespace {

// Of a rank without room.
constexpr std::uint64_t kFull = ~std::uint64_t{0};

// Puts `item` in the place of row[at], and all into descending order of cost again.
template <typename Item>
void Replace(std::span<Item> row, std::size_t at, const Item& item) {
  for (; at + 1 < row.size() && row[at + 1].cost > item.cost; ++at) row[at] = row[at + 1];
  for (; at > 0 && row[at - 1].cost < item.cost; --at) row[at] = row[at - 1];
  row[at] = item;
}

struct Pair {
  std::size_t in_heaviest = 0;
  std::size_t in_lightest = 0;
  std::int64_t difference = 0;  // of their costs; 0: no pair helps
};

// The pair whose difference is nearest to half of `gap`, which is that of the ranks' costs, and helps: more
// than 0 and less than `gap`. Both rows are in descending order, so a step along one of them leaves behind what
// differs from that half by more than what has been seen.
template <typename Item>
Pair BestPair(std::span<const Item> heaviest, std::span<const Item> lightest, std::int64_t gap) {
  Pair best;
  std::int64_t best_off = gap;
  for (std::size_t i = 0, j = 0; i < heaviest.size() && j < lightest.size();) {
    const std::int64_t difference =
        static_cast<std::int64_t>(heaviest[i].cost) - static_cast<std::int64_t>(lightest[j].cost);
    const std::int64_t off = std::abs(2 * difference - gap);
    if (off < best_off) {
      best = {i, j, difference};
      best_off = off;
    }
    2 * difference < gap ? ++j : ++i;
  }
  return best;
}

}  // namespace

void LeastKey::Reset(std::span<const std::uint64_t> keys) {
  leaves_ = std::bit_ceil(keys.size());
  nodes_.assign(2 * leaves_, Node());
  for (std::size_t owner = 0; owner < keys.size(); ++owner) {
    nodes_[leaves_ + owner] = {keys[owner], static_cast<std::uint32_t>(owner)};
  }
  for (std::size_t node = leaves_ - 1; node > 0; --node) Play(node);
}

void LeastKey::Set(std::uint32_t owner, std::uint64_t key) {
  std::size_t node = leaves_ + owner;
  nodes_[node].key = key;
  for (node /= 2; node > 0; node /= 2) Play(node);
}

void LeastKey::Play(std::size_t node) {
  const Node& left = nodes_[2 * node];
  const Node& right = nodes_[2 * node + 1];
  nodes_[node] = right.key < left.key ? right : left;
}

std::span<const std::uint32_t> StepSplit::RanksOf(std::span<const std::uint64_t> costs, std::uint32_t ranks) {
  SortByCost(costs);
  DealLongestFirst(std::min<std::size_t>(ranks, costs.size()));
  LayOutRows();
  SwapPairs();
  return rank_of_;
}

void StepSplit::SortByCost(std::span<const std::uint64_t> costs) {
  items_.resize(costs.size());
  for (std::size_t position = 0; position < costs.size(); ++position) {
    items_[position] = {costs[position], static_cast<std::uint32_t>(position)};
  }
  std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
    return a.cost != b.cost ? a.cost > b.cost : a.position < b.position;
  });
}

void StepSplit::DealLongestFirst(std::size_t ranks) {
  rank_of_.resize(items_.size());
  loads_.assign(ranks, 0);
  counts_.assign(ranks, 0);
  for (std::size_t rank = 0; rank < ranks; ++rank) Deal(items_[rank], static_cast<std::uint32_t>(rank));
  keys_.resize(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) keys_[rank] = max_graphs_ == 1 ? kFull : loads_[rank];
  lightest_.Reset(keys_);
  for (std::size_t next = ranks; next < items_.size(); ++next) {
    const std::uint32_t rank = lightest_.owner();
    Deal(items_[next], rank);
    lightest_.Set(rank, counts_[rank] == max_graphs_ ? kFull : loads_[rank]);
  }
}

void StepSplit::Deal(const Item& item, std::uint32_t rank) {
  rank_of_[item.position] = rank;
  loads_[rank] += item.cost;
  ++counts_[rank];
}

void StepSplit::LayOutRows() {
  begins_.resize(counts_.size());
  std::uint32_t begin = 0;
  for (std::size_t rank = 0; rank < counts_.size(); ++rank) {
    begins_[rank] = begin;
    begin += counts_[rank];
  }
  rows_.resize(items_.size());
  for (const Item& item : items_) rows_[begins_[rank_of_[item.position]]++] = item;
  for (std::size_t rank = 0; rank < counts_.size(); ++rank) begins_[rank] -= counts_[rank];
}

void StepSplit::SwapPairs() {
  lightest_.Reset(loads_);
  std::transform(loads_.begin(), loads_.end(), keys_.begin(), [](std::uint64_t load) { return ~load; });
  heaviest_.Reset(keys_);
  for (std::size_t left = kSwapsPerRank * loads_.size(); left > 0; --left) {
    if (!SwapBestPair(heaviest_.owner(), lightest_.owner())) return;
  }
}

bool StepSplit::SwapBestPair(std::uint32_t heaviest, std::uint32_t lightest) {
  const std::span<Item> from = Row(heaviest);
  const std::span<Item> to = Row(lightest);
  const auto gap = static_cast<std::int64_t>(loads_[heaviest] - loads_[lightest]);
  const Pair pair = BestPair<const Item>(from, to, gap);
  if (pair.difference == 0) return false;
  const Item longer = from[pair.in_heaviest];
  const Item shorter = to[pair.in_lightest];
  Replace(from, pair.in_heaviest, shorter);
  Replace(to, pair.in_lightest, longer);
  rank_of_[longer.position] = lightest;
  rank_of_[shorter.position] = heaviest;
  loads_[heaviest] -= static_cast<std::uint64_t>(pair.difference);
  loads_[lightest] += static_cast<std::uint64_t>(pair.difference);
  for (const std::uint32_t rank : {heaviest, lightest}) {
    lightest_.Set(rank, loads_[rank]);
    heaviest_.Set(rank, ~loads_[rank]);
  }
  return true;
}

}  // namespace packtrain::batching
