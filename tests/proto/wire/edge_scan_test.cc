#include "proto/wire/edge_scan.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace packtrain::wire {
namespace {

template <typename T>
struct Edges {
  std::vector<T> receivers, senders;

  EdgeFacts<T> Facts() const { return FactsOf<T>(receivers, senders); }

  // In vectors of every width; fails where they do not agree.
  bool Hold(T last) const {
    const bool narrow = EdgeScan<T, 16>::Holds(receivers, senders, last);
    EXPECT_EQ((EdgeScan<T, 32>::Holds(receivers, senders, last)), narrow);
    return narrow;
  }
  bool Hold() const { return Hold(std::numeric_limits<T>::max()); }
};

// `count` edges: three into each of nodes 0, 1, ...
template <typename T>
Edges<T> Ascending(std::size_t count) {
  Edges<T> edges;
  for (std::size_t e = 0; e < count; ++e) {
    edges.receivers.push_back(static_cast<T>(e / 3));
    edges.senders.push_back(static_cast<T>(e % 3));
  }
  return edges;
}

template <typename T>
class EdgeScanTest : public ::testing::Test {};
using Endpoints = ::testing::Types<std::uint8_t, std::uint16_t, std::uint32_t>;
TYPED_TEST_SUITE(EdgeScanTest, Endpoints);

// More than two of the widest vectors of the smallest type, and every rest.
constexpr std::size_t kMaxEdges = 70;

TYPED_TEST(EdgeScanTest, NoEdgesHaveNoLargestEndpoint) {
  EXPECT_EQ(Ascending<TypeParam>(0).Facts().largest, 0);
  EXPECT_TRUE(Ascending<TypeParam>(0).Facts().ascend);
  EXPECT_TRUE(Ascending<TypeParam>(0).Hold(0));
}

TYPED_TEST(EdgeScanTest, SeesTheLargestEndpointWhereverItIs) {
  constexpr TypeParam kLargest = std::numeric_limits<TypeParam>::max();
  for (std::size_t count = 1; count <= kMaxEdges; ++count) {
    for (std::size_t at = 0; at < count; ++at) {
      for (auto end : {&Edges<TypeParam>::receivers, &Edges<TypeParam>::senders}) {
        Edges<TypeParam> edges = Ascending<TypeParam>(count);
        (edges.*end)[at] = kLargest;
        ASSERT_EQ(edges.Facts().largest, kLargest) << at << " of " << count;
        ASSERT_FALSE(edges.Hold(kLargest - 1)) << at << " of " << count;
      }
    }
  }
}

TYPED_TEST(EdgeScanTest, SeesADescentWhereverItIs) {
  for (std::size_t count = 2; count <= kMaxEdges; ++count) {
    ASSERT_TRUE(Ascending<TypeParam>(count).Facts().ascend) << count;
    ASSERT_TRUE(Ascending<TypeParam>(count).Hold()) << count;
    for (std::size_t at = 0; at + 1 < count; ++at) {
      Edges<TypeParam> receivers = Ascending<TypeParam>(count);
      receivers.receivers[at] = 100;
      ASSERT_FALSE(receivers.Facts().ascend) << at << " of " << count;
      ASSERT_FALSE(receivers.Hold()) << at << " of " << count;
      Edges<TypeParam> senders = Ascending<TypeParam>(count);
      senders.senders[at] = 100;
      ASSERT_EQ(senders.Facts().ascend, at % 3 == 2) << at << " of " << count;
      ASSERT_EQ(senders.Hold(), at % 3 == 2) << at << " of " << count;
    }
  }
}

TYPED_TEST(EdgeScanTest, EqualEdgesAscend) {
  const Edges<TypeParam> edges{std::vector<TypeParam>(kMaxEdges, 200), std::vector<TypeParam>(kMaxEdges, 201)};
  EXPECT_TRUE(edges.Facts().ascend);
  EXPECT_EQ(edges.Facts().largest, 201);
  EXPECT_TRUE(edges.Hold(201));
}

}  // namespace
}  // namespace packtrain::wire
