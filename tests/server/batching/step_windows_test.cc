#include "server/batching/step_windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/server/batching/dice.h"

namespace packtrain::batching {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Costs = std::vector<std::uint64_t>;
using Order = std::vector<std::uint32_t>;
using Stretches = std::vector<RankAssignment::Stretch>;

Order OrderOf(const Costs& costs, const Stretches& stretches, EpochSeed seed = {}) {
  return OrderByWindows(costs, stretches, seed);
}

Stretches Ranks(std::uint32_t world_size) { return {{0, 0, world_size}}; }

Order Iota(std::size_t count) {
  Order order(count);
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

// Pinned: another order is another plan_version.
TEST(StepWindowsTest, StepsHoldNeighboursByCostAndAreShuffledAndRotated) {
  const Costs costs = {5, 1, 9, 1, 7, 5, 8, 2, 3};  // by cost: 2 6 | 4 0 | 5 7 | 1 3, and 8 for no step
  EXPECT_THAT(OrderOf(costs, Ranks(2)), ElementsAre(2, 6, 7, 5, 4, 0, 3, 1, 8));
  EXPECT_THAT(OrderOf(costs, Ranks(2), {.seed = 1}), ElementsAre(5, 7, 0, 4, 2, 6, 3, 1, 8));
  EXPECT_THAT(OrderOf(costs, Ranks(2), {.epoch = std::uint64_t{1} << 32}),
              ElementsAre(5, 7, 0, 4, 1, 3, 6, 2, 8));
}

TEST(StepWindowsTest, OneRankKeepsTheOrder) {
  EXPECT_EQ(OrderOf({3, 1, 2}, Ranks(1)), Iota(3));
  EXPECT_THAT(OrderOf({}, Ranks(2)), IsEmpty());
}

TEST(StepWindowsTest, BatchesThatFillNoStepKeepTheOrder) { EXPECT_EQ(OrderOf({1, 2, 3}, Ranks(4)), Iota(3)); }

Costs DrawCosts(Dice& dice, std::size_t count) {
  Costs costs(count);
  for (std::uint64_t& cost : costs) cost = dice.Between(0, dice.One({3u, 1000u}));
  return costs;
}

// Checks that a window of `ranks` ranks holds neighbours by cost in each step.
void CheckWindow(const Costs& costs, const Order& order, std::size_t begin, std::size_t steps,
                 std::size_t ranks) {
  Order window(order.begin() + begin, order.begin() + begin + steps * ranks);
  std::set<Order> groups;
  for (std::size_t step = 0; step < steps; ++step) {
    Order group(window.begin() + step * ranks, window.begin() + (step + 1) * ranks);
    std::rotate(group.begin(), group.end() - step % ranks, group.end());
    groups.insert(group);
  }
  std::ranges::sort(window);
  ASSERT_EQ(window.front(), begin);
  ASSERT_EQ(window.back(), begin + steps * ranks - 1);
  std::ranges::stable_sort(window, [&](std::uint32_t a, std::uint32_t b) { return costs[a] > costs[b]; });
  for (std::size_t step = 0; step < steps; ++step) {
    ASSERT_TRUE(groups.contains(Order(window.begin() + step * ranks, window.begin() + (step + 1) * ranks)))
        << "window at " << begin << ", step " << step;
  }
}

TEST(StepWindowsTest, EveryWindowHoldsNeighboursInItsSteps) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Dice dice(seed);
    const std::size_t ranks = dice.Between(2, 9);
    const Costs costs = DrawCosts(dice, dice.Between(1, 2000));
    const Order order = OrderOf(costs, Ranks(ranks), {dice.Between(0, 9), dice.Between(0, 9)});
    const std::size_t full = costs.size() / ranks * ranks;
    for (std::size_t begin = 0; begin < full; begin += kWindowSteps * ranks) {
      CheckWindow(costs, order, begin, std::min<std::size_t>(kWindowSteps, (full - begin) / ranks), ranks);
      if (HasFatalFailure()) return;
    }
    for (std::size_t place = full; place < costs.size(); ++place) ASSERT_EQ(order[place], place);
  }
}

TEST(StepWindowsTest, WindowsAndEpochsAreShuffledApart) {
  const Costs costs(3 * kWindowSteps * 2);  // all alike: what is left is the shuffle
  const Order order = OrderOf(costs, Ranks(2));
  const auto window = [&](std::size_t k) {
    Order part(order.begin() + 2 * k * kWindowSteps, order.begin() + 2 * (k + 1) * kWindowSteps);
    for (std::uint32_t& batch : part) batch -= 2 * k * kWindowSteps;
    return part;
  };
  EXPECT_NE(window(0), window(1));
  EXPECT_NE(window(1), window(2));
  EXPECT_NE(order, OrderOf(costs, Ranks(2), {.epoch = 1}));
  EXPECT_NE(order, OrderOf(costs, Ranks(2), {.seed = 1}));
}

// Steps of drawn numbers of ranks, up to past the end.
Stretches DrawStretches(Dice& dice, std::size_t batches) {
  Stretches stretches = {{0, 0, dice.Between(1, 6)}};
  while (stretches.size() < 6) {
    const RankAssignment::Stretch& last = stretches.back();
    const std::uint64_t steps = dice.Between(1, dice.One({3u, 70u, 200u}));
    const RankAssignment::Stretch next = {last.first_step + steps, last.first_index + steps * last.world_size,
                                          dice.Between(1, 6)};
    if (next.first_index >= batches + last.world_size) break;  // the last step may be short
    stretches.push_back(next);
  }
  return stretches;
}

// Where the windows lie that a naive reading of the contract gives: begin, steps, ranks.
struct Window {
  std::size_t begin = 0;
  std::size_t steps = 0;
  std::size_t ranks = 0;
};
std::vector<Window> WindowsOf(const Stretches& stretches, std::size_t batches) {
  std::vector<Window> windows;
  std::size_t made = 0;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const std::size_t end = i + 1 < stretches.size() ? stretches[i + 1].first_index : batches;
    const std::size_t ranks = stretches[i].world_size;
    for (std::size_t at = stretches[i].first_index; at < end && at + ranks <= batches; at += ranks) {
      if (at < made || ranks == 1) continue;
      windows.push_back({at, std::min<std::size_t>(kWindowSteps, (batches - at) / ranks), ranks});
      made = at + windows.back().steps * ranks;
    }
  }
  return windows;
}

TEST(StepWindowsTest, ANewWorldFinishesTheWindowAndBeginsItsOwn) {
  std::size_t changes_inside = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Dice dice(seed);
    const Costs costs = DrawCosts(dice, dice.Between(1, 1500));
    const Stretches stretches = DrawStretches(dice, costs.size());
    const Order order = OrderOf(costs, stretches);
    Order outside = Iota(costs.size());
    for (const Window& window : WindowsOf(stretches, costs.size())) {
      CheckWindow(costs, order, window.begin, window.steps, window.ranks);
      if (HasFatalFailure()) return;
      const std::size_t end = window.begin + window.steps * window.ranks;
      std::erase_if(outside, [&](std::uint32_t place) { return place >= window.begin && place < end; });
      changes_inside += std::ranges::count_if(stretches, [&](const RankAssignment::Stretch& stretch) {
        return stretch.first_index > window.begin && stretch.first_index < end;
      });
    }
    for (const std::uint32_t place : outside) ASSERT_EQ(order[place], place);
  }
  EXPECT_GT(changes_inside, 100u);
}

// What was delivered is no matter of what comes after; the rest of its window neither.
TEST(StepWindowsTest, StretchesToComeChangeNothingBeforeThem) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Dice dice(seed);
    const Costs costs = DrawCosts(dice, dice.Between(1, 1500));
    const Stretches stretches = DrawStretches(dice, costs.size());
    const Order order = OrderOf(costs, stretches);
    for (std::size_t kept = 1; kept < stretches.size(); ++kept) {
      const Stretches then(stretches.begin(), stretches.begin() + kept);
      std::size_t same = stretches[kept].first_index;
      for (const Window& window : WindowsOf(then, costs.size())) {
        const std::size_t end = window.begin + window.steps * window.ranks;
        if (window.begin < stretches[kept].first_index) same = std::max(same, end);
      }
      same = std::min(same, costs.size());
      const Order before = OrderOf(costs, then);
      ASSERT_TRUE(std::equal(order.begin(), order.begin() + same, before.begin())) << kept << " stretches kept";
    }
  }
}

}  // namespace
}  // namespace packtrain::batching
