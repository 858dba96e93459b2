#include "server/batching/philox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace packtrain::batching {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::Le;
using ::testing::Pair;
using ::testing::SizeIs;

// The known answers that Random123 publishes (kat_vectors, philox 4x32 10).
TEST(PhiloxTest, GivesThePublishedKnownAnswers) {
  EXPECT_EQ(Philox4x32({0, 0, 0, 0}, {0, 0}), (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(Philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(PhiloxStreamTest, CountsBlocksInTheFirstCounterWord) {
  PhiloxStream stream({3, 4}, {5, 6});
  for (std::uint32_t block = 0; block < 70; ++block) {
    for (const std::uint32_t word : Philox4x32({block, 0, 5, 6}, {3, 4})) EXPECT_EQ(stream.Next(), word);
  }
}

TEST(PhiloxStreamTest, PutsTheSubstreamIntoTheSecondCounterWord) {
  PhiloxStream stream({3, 4}, {5, 6}, 7);
  for (const std::uint32_t word : Philox4x32({0, 7, 5, 6}, {3, 4})) EXPECT_EQ(stream.Next(), word);
}

// 300,000 draws over three values: a fair generator strays from 100,000 by more than 1,500 about once in
// ten billion seeds, and this seed is fixed.
TEST(PhiloxStreamTest, BelowIsUniform) {
  PhiloxStream stream({1, 2}, {0, 0});
  std::map<std::uint32_t, int> counts;
  for (int draw = 0; draw < 300000; ++draw) ++counts[stream.Below(3)];
  EXPECT_THAT(counts, SizeIs(3));
  EXPECT_THAT(counts, Each(Pair(Le(2u), AllOf(Ge(98500), Le(101500)))));
}

TEST(PhiloxStreamTest, BelowRejectsWordsThatWouldBias) {
  // Four words map to three values here: unless a quarter of all words is rejected, multiples of 3 come
  // twice as often as others.
  PhiloxStream stream({1, 2}, {0, 0});
  int multiples_of_3 = 0;
  for (int draw = 0; draw < 30000; ++draw) multiples_of_3 += stream.Below(3u << 30) % 3 == 0;
  EXPECT_NEAR(multiples_of_3, 10000, 500);
}

TEST(PhiloxStreamTest, BelowOneIsZero) {
  PhiloxStream stream({1, 2}, {0, 0});
  for (int draw = 0; draw < 10; ++draw) EXPECT_EQ(stream.Below(1), 0u);
}

TEST(ShuffleTest, ReachesEveryOrderEquallyOften) {
  std::map<std::vector<std::uint32_t>, int> counts;
  for (std::uint32_t seed = 0; seed < 24000; ++seed) {
    std::vector<std::uint32_t> values = {0, 1, 2, 3};
    Shuffle(PhiloxStream({seed, 0}, {0, 0}), values);
    ++counts[values];
  }
  EXPECT_THAT(counts, SizeIs(24));
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1000, 160);
}

// However far ahead places are drawn.
TEST(ShuffleTest, IsFisherYatesOverTheStream) {
  for (const std::uint32_t n : {0u, 1u, 2u, 63u, 64u, 65u, 66u, 127u, 128u, 129u, 130u, 1000u}) {
    std::vector<std::uint32_t> expected(n);
    std::iota(expected.begin(), expected.end(), 0u);
    std::vector<std::uint32_t> values = expected;
    PhiloxStream stream({7, n}, {8, 9});
    for (std::uint32_t left = n; left > 1; --left) std::swap(expected[left - 1], expected[stream.Below(left)]);
    Shuffle(PhiloxStream({7, n}, {8, 9}), values);
    EXPECT_EQ(values, expected) << n;
  }
}

}  // namespace
}  // namespace packtrain::batching
