#include "server/edges/full.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/testing/status_matchers.h"

namespace packtrain::edges {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(FullEdgesTest, CountsOrderedPairsOfDistinctNodes) {
  EXPECT_EQ(*FullEdgeCount(0), 0u);
  EXPECT_EQ(*FullEdgeCount(1), 0u);
  EXPECT_EQ(*FullEdgeCount(2), 2u);
  EXPECT_EQ(*FullEdgeCount(29), 812u);
}

TEST(FullEdgesTest, CountsUpToTheLimitAndRefusesBeyond) {
  EXPECT_EQ(*FullEdgeCount(kMaxFullNodes), 4294901760u);
  for (const std::uint32_t n_node : {kMaxFullNodes + 1, 0xffffffffu}) {
    EXPECT_THAT(FullEdgeCount(n_node), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("65536")));
    EXPECT_THAT(FullEdges(n_node), StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST(FullEdgesTest, GoesByReceiverThenSender) {
  const absl::StatusOr<EdgeList> edges = FullEdges(3);
  ASSERT_THAT(edges, IsOk());
  EXPECT_THAT(edges->receivers, ElementsAre(0, 0, 1, 1, 2, 2));
  EXPECT_THAT(edges->senders, ElementsAre(1, 2, 0, 2, 0, 1));
}

TEST(FullEdgesTest, OneNodeHasNone) { EXPECT_THAT(FullEdges(1)->senders, IsEmpty()); }

}  // namespace
}  // namespace packtrain::edges
