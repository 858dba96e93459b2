#include "server/batching/shape_ladder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "tests/server/batching/dice.h"

namespace packtrain::batching {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

using Ladder = std::vector<SlotPair>;

constexpr std::uint64_t kNotALadder = std::numeric_limits<std::uint64_t>::max();

// What the batches cost where each takes the first rung that holds it.
std::uint64_t CostOf(const Ladder& ladder, const std::vector<Need>& needs, const SlotCosts& costs) {
  std::uint64_t sum = 0;
  for (const Need& need : needs) {
    const auto rung = std::ranges::find_if(ladder, [&](const SlotPair& r) { return r.Holds(need.slots); });
    if (rung == ladder.end()) return kNotALadder;
    sum += need.batches * (std::uint64_t{costs.node} * rung->nodes + std::uint64_t{costs.edge} * rung->edges);
  }
  return sum;
}

bool IsAChain(const Ladder& ladder) {
  for (std::size_t i = 1; i < ladder.size(); ++i) {
    if (!ladder[i].Holds(ladder[i - 1]) || ladder[i] == ladder[i - 1]) return false;
  }
  return true;
}

// Tries every choice of up to three candidates, the last among them.
std::uint64_t LeastCost(const std::vector<Need>& needs, const Ladder& candidates, std::size_t rungs,
                        const SlotCosts& costs) {
  const SlotPair top = candidates.back();
  std::uint64_t least = CostOf({top}, needs, costs);
  const auto consider = [&](const Ladder& ladder) {
    if (IsAChain(ladder)) least = std::min(least, CostOf(ladder, needs, costs));
  };
  for (const SlotPair& a : candidates) {
    if (rungs >= 2) consider({a, top});
    if (rungs < 3) continue;
    for (const SlotPair& b : candidates) consider({a, b, top});
  }
  return least;
}

struct Problem {
  std::vector<Need> needs;
  Ladder candidates;
  SlotCosts costs;
};

// Needs along a diagonal, anywhere, or all alike; candidates among them and beside them.
Problem Draw(Dice& dice) {
  Problem problem;
  const std::uint32_t most = dice.One({6u, 60u, 100'000u});
  const std::uint32_t stray = dice.One({0u, most / 10, most});
  const auto pair = [&]() -> SlotPair {
    const std::uint32_t nodes = dice.Between(0, most);
    return {nodes, nodes + dice.Between(0, stray)};
  };
  for (std::uint32_t n = dice.Between(1, 60); n > 0; --n) problem.needs.push_back({pair(), dice.Between(1, 9)});
  problem.candidates = {{most, 2 * most}};
  for (std::uint32_t n = dice.Between(0, 49); n > 0; --n) {
    problem.candidates.push_back(dice.OneIn(2) ? problem.needs[n % problem.needs.size()].slots : pair());
  }
  std::sort(problem.candidates.begin(), problem.candidates.end());
  problem.candidates.erase(std::unique(problem.candidates.begin(), problem.candidates.end()),
                           problem.candidates.end());
  problem.costs = {dice.Between(0, 5), dice.Between(0, 1'000'000)};
  if (dice.OneIn(2)) problem.costs = {};
  return problem;
}

TEST(CheapestLadderTest, EqualsEveryLadderTried) {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    Dice dice(seed);
    const Problem problem = Draw(dice);
    for (std::size_t rungs = 1; rungs <= 3; ++rungs) {
      const Ladder ladder = CheapestLadder(problem.needs, problem.candidates, rungs, problem.costs);
      ASSERT_TRUE(IsAChain(ladder)) << seed;
      ASSERT_LE(ladder.size(), rungs) << seed;
      ASSERT_EQ(ladder.back(), problem.candidates.back()) << seed;
      ASSERT_EQ(CostOf(ladder, problem.needs, problem.costs),
                LeastCost(problem.needs, problem.candidates, rungs, problem.costs))
          << "seed " << seed << ", rungs " << rungs;
    }
  }
}

TEST(CheapestLadderTest, MoreRungsNeverCostMore) {
  Dice dice(7);
  const Problem problem = Draw(dice);
  std::uint64_t before = kNotALadder;
  for (std::size_t rungs = 1; rungs <= 64; ++rungs) {
    const Ladder ladder = CheapestLadder(problem.needs, problem.candidates, rungs, problem.costs);
    const std::uint64_t cost = CostOf(ladder, problem.needs, problem.costs);
    EXPECT_LE(cost, before);
    before = cost;
  }
}

TEST(CheapestLadderTest, WeighsByWhatSlotsCost) {
  const std::vector<Need> needs = {{{1, 10}, 1}, {{10, 1}, 1}, {{10, 10}, 1}};
  const Ladder candidates = {{1, 10}, {10, 1}, {10, 10}};
  EXPECT_THAT(CheapestLadder(needs, candidates, 2, {3, 1}), ElementsAre(SlotPair{1, 10}, SlotPair{10, 10}));
  EXPECT_THAT(CheapestLadder(needs, candidates, 2, {1, 3}), ElementsAre(SlotPair{10, 1}, SlotPair{10, 10}));
}

TEST(CheapestLadderTest, CountsCostsBeyond64Bits) {
  constexpr std::uint32_t kMax = 0x7fffffff;
  const std::vector<Need> needs = {{{8, 8}, std::uint64_t{1} << 32}, {{kMax, kMax}, 1}};
  const Ladder candidates = {{8, 8}, {kMax, kMax}};
  EXPECT_THAT(CheapestLadder(needs, candidates, 2, {1u << 20, 1u << 20}), SizeIs(2));
}

TEST(BuildLadderTest, HasARungForEachOfFewNeeds) {
  const std::vector<SlotPair> batches = {{8, 16}, {16, 32}, {8, 16}, {24, 40}};
  EXPECT_THAT(BuildLadder(batches, {80, 80}, 64, {}),
              ElementsAre(SlotPair{8, 16}, SlotPair{16, 32}, SlotPair{24, 40}, SlotPair{80, 80}));
  EXPECT_THAT(BuildLadder(batches, {80, 80}, 1, {}), ElementsAre(SlotPair{80, 80}));
}

TEST(BuildLadderTest, NamesATopThatIsNeededOnce) {
  EXPECT_THAT(BuildLadder({{{8, 16}, {16, 32}}}, {16, 32}, 5, {}),
              ElementsAre(SlotPair{8, 16}, SlotPair{16, 32}));
  EXPECT_THAT(BuildLadder({{{16, 0}}}, {16, 0}, 5, {}), ElementsAre(SlotPair{16, 0}));
}

TEST(BuildLadderTest, ThinsOutManyNeedsButKeepsTheGreatest) {
  std::vector<SlotPair> batches;
  for (std::uint32_t i = 1; i <= 1000; ++i) batches.push_back({8 * i, 16 * i});
  const Ladder ladder = BuildLadder(batches, {100'000, 200'000}, 64, {});
  // 23 shares of 1000, then 20, 10, 5, 2 and 1 before the last, the last and the top.
  ASSERT_THAT(ladder, SizeIs(23 + 5 + 1 + 1));
  EXPECT_EQ(ladder[0], (SlotPair{8 * 42, 16 * 42}));
  EXPECT_EQ(ladder[23], (SlotPair{8 * 980, 16 * 980}));
  EXPECT_EQ(ladder[27], (SlotPair{8 * 999, 16 * 999}));
  EXPECT_EQ(ladder[28], (SlotPair{8000, 16000}));
}

}  // namespace
}  // namespace packtrain::batching
