#include "server/batching/step_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/server/batching/dice.h"

namespace packtrain::batching {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Le;

using Costs = std::vector<std::uint64_t>;
using Ranks = std::vector<std::uint32_t>;

Ranks Split(const Costs& costs, std::uint32_t ranks, std::uint32_t max_graphs) {
  StepSplit split(max_graphs);
  const std::span<const std::uint32_t> found = split.RanksOf(costs, ranks);
  return {found.begin(), found.end()};
}

TEST(LeastKeyTest, IsTheLowestOwnerOfTheLeastKey) {
  LeastKey least;
  const std::uint64_t keys[] = {5, 3, 9, 3, 7};
  least.Reset(keys);
  EXPECT_EQ(least.owner(), 1u);
  least.Set(1, 10);
  EXPECT_EQ(least.owner(), 3u);
  least.Set(4, 2);
  EXPECT_EQ(least.owner(), 4u);
  least.Reset(std::span(keys, 1));
  EXPECT_EQ(least.owner(), 0u);
}

TEST(StepSplitTest, LongestGraphsGoFirstToTheRankThatCostsLeast) {
  EXPECT_THAT(Split({4, 7, 5, 6, 1}, 2, 5), ElementsAre(0, 0, 1, 1, 0));  // 7 | 6, then 5, 4, 1
  EXPECT_THAT(Split({2, 2, 2, 2}, 2, 2), ElementsAre(0, 1, 0, 1));
}

TEST(StepSplitTest, AFullRankGetsNoMore) {
  EXPECT_THAT(Split({100, 1, 1, 1}, 2, 2), ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(Split({3, 2, 1}, 3, 1), ElementsAre(0, 1, 2));
}

// Longest first alone leaves 3 + 2 + 2 against 3 + 2.
TEST(StepSplitTest, PairsSwapWhileThatHelps) {
  EXPECT_THAT(Split({3, 3, 2, 2, 2}, 2, 3), ElementsAre(1, 1, 0, 0, 0));
}

TEST(StepSplitTest, FewerGraphsThanRanksLeaveTheLastRanksWithoutAny) {
  EXPECT_THAT(Split({1, 3, 2}, 4'000'000'000, 7), ElementsAre(2, 0, 1));
}

TEST(StepSplitTest, GraphsWithoutCostAreSpreadToo) {
  Ranks ranks = Split({0, 0, 0, 5, 0}, 3, 3);
  std::ranges::sort(ranks);
  EXPECT_THAT(ranks, AllOf(Contains(0u), Contains(1u), Contains(2u)));
}

Costs DrawCosts(Dice& dice, std::size_t count) {
  Costs costs(count);
  const std::uint32_t most = dice.One({0u, 1u, 30u, 1000u, 2'000'000'000u});
  for (std::uint64_t& cost : costs) cost = std::uint64_t{dice.Between(0, most)} * dice.One({1u, 1u, 1000u});
  return costs;
}

// Of the ranks' costs: no exchange of two graphs makes the greatest and the least differ by less.
bool IsSettled(const Costs& costs, const Ranks& rank_of, const Costs& loads) {
  const auto most = std::ranges::max_element(loads) - loads.begin();
  const auto least = std::ranges::min_element(loads) - loads.begin();
  for (std::size_t a = 0; a < costs.size(); ++a) {
    for (std::size_t b = 0; b < costs.size(); ++b) {
      if (rank_of[a] != most || rank_of[b] != least || costs[a] <= costs[b]) continue;
      if (costs[a] - costs[b] < loads[most] - loads[least]) return false;
    }
  }
  return true;
}

TEST(StepSplitTest, EveryRankHasItsShareAndNoExchangeHelps) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Dice dice(seed);
    const std::uint32_t ranks = dice.Between(1, 12);
    const std::uint32_t max_graphs = dice.Between(1, 12);
    const Costs costs =
        DrawCosts(dice, dice.OneIn(2) ? ranks * max_graphs : dice.Between(1, ranks * max_graphs));
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const Ranks rank_of = Split(costs, ranks, max_graphs);
    ASSERT_EQ(rank_of.size(), costs.size());
    const std::size_t used = std::min<std::size_t>(ranks, costs.size());
    Costs loads(used);
    std::vector<std::uint32_t> counts(used);
    for (std::size_t k = 0; k < costs.size(); ++k) {
      ASSERT_LT(rank_of[k], used);
      loads[rank_of[k]] += costs[k];
      ++counts[rank_of[k]];
    }
    ASSERT_THAT(counts, Each(AllOf(Ge(1u), Le(max_graphs))));
    ASSERT_TRUE(IsSettled(costs, rank_of, loads));
  }
}

TEST(StepSplitTest, StepsBeforeLeaveNoTrace) {
  StepSplit used(6);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Dice dice(seed);
    const std::uint32_t ranks = dice.Between(1, 9);
    const Costs costs = DrawCosts(dice, dice.Between(1, 6 * ranks));
    const std::span<const std::uint32_t> found = used.RanksOf(costs, ranks);
    ASSERT_EQ(Ranks(found.begin(), found.end()), Split(costs, ranks, 6));
  }
}

}  // namespace
}  // namespace packtrain::batching
