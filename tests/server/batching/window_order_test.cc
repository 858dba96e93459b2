#include "server/batching/window_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <vector>

namespace packtrain::batching {
namespace {

using ::testing::SizeIs;

using Indices = std::vector<std::uint32_t>;

Indices Iota(std::uint32_t n) {
  Indices values(n);
  std::iota(values.begin(), values.end(), 0u);
  return values;
}

Indices Order(std::uint32_t seed, std::uint64_t epoch, std::uint32_t n, std::uint32_t window) {
  return InWindowOrder(seed, epoch, Iota(n), window);
}

TEST(WindowOrderTest, IsAPermutationForEverySizeAndWindow) {
  for (std::uint32_t n = 0; n <= 40; ++n) {
    for (std::uint32_t window = 1; window <= 45; ++window) {
      Indices order = Order(9, 4, n, window);
      std::sort(order.begin(), order.end());
      ASSERT_EQ(order, Iota(n)) << n << " in windows of " << window;
    }
  }
  for (const std::uint32_t window : {1u, 2u, 255u, 256u, 257u, 65536u, 70000u, 0xffffffffu}) {
    Indices order = Order(9, 4, 65537, window);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, Iota(65537)) << window;
  }
}

TEST(WindowOrderTest, AWindowAloneEqualsItsPartOfTheWhole) {
  const Indices whole = Order(3, 5, 1000, 64);
  const WindowOrder windows(3, 5, 1000, 64);
  ASSERT_EQ(windows.windows(), 16u);
  for (std::uint32_t w = 16; w-- > 0;) {
    const auto begin = whole.begin() + 64 * w;
    EXPECT_EQ(windows.Window(w), Indices(begin, w == 15 ? whole.end() : begin + 64)) << w;
  }
}

TEST(WindowOrderTest, DiffersBySeedAndEpoch) {
  for (const std::uint32_t window : {1u, 10u, 100u, 1000u}) {
    const Indices order = Order(1, 2, 100, window);
    EXPECT_EQ(order, Order(1, 2, 100, window));
    EXPECT_NE(order, Order(2, 2, 100, window));
    EXPECT_NE(order, Order(1, 3, 100, window));
    EXPECT_NE(order, Order(2, 1, 100, window));
    EXPECT_NE(order, Order(1, (std::uint64_t{1} << 32) + 2, 100, window));
  }
}

TEST(WindowOrderTest, OrdersAnyGraphsAlike) {
  const Indices graphs = {10, 20, 30, 40, 50};
  const Indices ordered = InWindowOrder(6, 7, graphs, 4);
  const Indices order = Order(6, 7, 5, 4);
  for (std::size_t k = 0; k < order.size(); ++k) EXPECT_EQ(ordered[k], graphs[order[k]]);
}

// 80,000 epochs, 8,000 each time: a fair order strays by more than 500 about once in a hundred million.
TEST(WindowOrderTest, EveryGraphIsEquallyLikelyAtEveryPosition) {
  constexpr std::uint32_t kGraphs = 10;
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> counts;
  for (std::uint32_t epoch = 0; epoch < 80000; ++epoch) {
    const Indices order = Order(1, epoch, kGraphs, 4);
    for (std::uint32_t k = 0; k < kGraphs; ++k) ++counts[{k, order[k]}];
  }
  EXPECT_THAT(counts, SizeIs(kGraphs * kGraphs));
  for (const auto& [place, count] : counts) EXPECT_NEAR(count, 8000, 500);
}

TEST(WindowOrderTest, OneGraphAndTheWholeSplitAsWindowsReachEveryOrderEquallyOften) {
  for (const std::uint32_t window : {1u, 4u, 5u}) {
    std::map<Indices, int> counts;
    for (std::uint32_t seed = 0; seed < 24000; ++seed) ++counts[Order(seed, 0, 4, window)];
    EXPECT_THAT(counts, SizeIs(24));
    for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1000, 160);
  }
}

// Places that a window reads: runs that are neighbours by chance count as one.
TEST(WindowOrderTest, AWindowReadsFewPlacesThatLieFarApart) {
  const WindowOrder windows(1, 2, 100000, 1024);
  for (std::uint32_t w = 0; w + 1 < windows.windows(); ++w) {
    const Indices window = windows.Window(w);
    EXPECT_FALSE(std::is_sorted(window.begin(), window.end()));
    const std::set<std::uint32_t> graphs(window.begin(), window.end());
    ASSERT_THAT(graphs, SizeIs(1024));
    const auto places = std::count_if(graphs.begin(), graphs.end(),
                                      [&](std::uint32_t graph) { return !graphs.contains(graph + 1); });
    EXPECT_LE(places, 35) << w;  // 32 runs, one of them cut by either end of the window, one by the ring's
    EXPECT_GE(places, 20) << w;
    EXPECT_LT(*graphs.begin(), 30000u) << w;
    EXPECT_GT(*graphs.rbegin(), 70000u) << w;
  }
}

}  // namespace
}  // namespace packtrain::batching
