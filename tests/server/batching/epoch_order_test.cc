#include "server/batching/epoch_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "server/batching/split.h"
#include "server/batching/window_order.h"

namespace packtrain::batching {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Indices = std::vector<std::uint32_t>;

Indices Sorted(Indices values) {
  std::sort(values.begin(), values.end());
  return values;
}

Indices Iota(std::uint32_t n) {
  Indices values(n);
  std::iota(values.begin(), values.end(), 0u);
  return values;
}

std::uint64_t Fnv1a(const Indices& values) {
  std::uint64_t digest = 0xcbf29ce484222325;
  for (const std::uint32_t value : values) {
    for (int shift = 0; shift < 32; shift += 8) digest = (digest ^ (value >> shift & 0xff)) * 0x100000001b3;
  }
  return digest;
}

std::string Join(const Indices& values) {
  std::string text;
  for (const std::uint32_t value : values) text += std::to_string(value) + " ";
  return text;
}

// What the product gives for the part of a golden line before its colon.
std::string Answer(const std::string& question) {
  std::istringstream in(question);
  std::string kind;
  std::uint32_t seed = 0;
  in >> kind >> seed;
  if (kind == "split") {
    std::uint32_t n = 0;
    SplitPermille permille;
    in >> n >> permille.train >> permille.val >> permille.test;
    const SplitIndices split = SplitByFractions(seed, n, permille).value();
    return Join(split.train) + " / " + Join(split.val) + " / " + Join(split.test);
  }
  std::uint64_t epoch = 0;
  std::uint32_t n = 0;
  std::uint32_t window = 0;
  in >> epoch >> n >> window;
  const Indices order =
      kind.ends_with("window") ? InWindowOrder(seed, epoch, Iota(n), window) : EpochOrder(seed, epoch, n);
  return kind.starts_with("hash") ? std::to_string(Fnv1a(order)) : Join(order);
}

std::string WithoutRepeatedBlanks(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  for (std::string word; in >> word;) out += word + " ";
  return out;
}

TEST(EpochOrderTest, EqualsTheGoldenFile) {
  std::ifstream golden(PACKTRAIN_GOLDEN "/epoch_order.txt");
  int lines = 0;
  for (std::string line; std::getline(golden, line);) {
    if (line.starts_with("#")) continue;
    const std::size_t colon = line.find(':');
    ASSERT_NE(colon, std::string::npos) << line;
    const std::string question = line.substr(0, colon);
    EXPECT_EQ(WithoutRepeatedBlanks(Answer(question)), WithoutRepeatedBlanks(line.substr(colon + 1)))
        << question;
    ++lines;
  }
  EXPECT_EQ(lines, 28);
}

TEST(EpochOrderTest, IsAPermutation) {
  for (const std::uint32_t n : {0u, 1u, 2u, 3u, 64u, 1000u, 65535u, 65536u, 65537u}) {
    EXPECT_EQ(Sorted(EpochOrder(9, 4, n)), Iota(n));
  }
}

TEST(EpochOrderTest, DiffersBySeedAndEpoch) {
  const Indices order = EpochOrder(1, 2, 100);
  EXPECT_NE(order, EpochOrder(2, 2, 100));
  EXPECT_NE(order, EpochOrder(1, 3, 100));
  EXPECT_NE(order, EpochOrder(2, 1, 100));
}

TEST(EpochOrderTest, EpochsBeyond32BitsRepeatNoEarlierOne) {
  EXPECT_NE(EpochOrder(1, 2, 100), EpochOrder(1, (std::uint64_t{1} << 32) + 2, 100));
}

TEST(EpochOrderTest, ShufflesAnyIndicesAlike) {
  Indices graphs = {10, 20, 30, 40, 50};
  const Indices before = graphs;
  ShuffleForEpoch(6, 7, graphs);
  const Indices order = EpochOrder(6, 7, 5);
  for (std::size_t k = 0; k < order.size(); ++k) EXPECT_EQ(graphs[k], before[order[k]]);
}

TEST(SplitByFractionsTest, GivesEachGraphOnceAndAscending) {
  const SplitIndices split = SplitByFractions(5, 997, {800, 150, 50}).value();
  EXPECT_THAT(split.train, SizeIs(797));
  EXPECT_THAT(split.val, SizeIs(150));
  EXPECT_THAT(split.test, SizeIs(50));
  Indices all;
  for (const Indices* part : {&split.train, &split.val, &split.test}) {
    EXPECT_TRUE(std::is_sorted(part->begin(), part->end()));
    all.insert(all.end(), part->begin(), part->end());
  }
  EXPECT_EQ(Sorted(all), Iota(997));
}

TEST(SplitByFractionsTest, AFractionOfZeroGetsNoGraph) {
  const SplitIndices split = SplitByFractions(5, 3, {1000, 0, 0}).value();
  EXPECT_THAT(split.train, ElementsAre(0, 1, 2));
  EXPECT_THAT(split.val, IsEmpty());
  EXPECT_THAT(split.test, IsEmpty());
}

TEST(SplitByFractionsTest, DiffersBySeed) {
  EXPECT_NE(SplitByFractions(1, 100, {500, 250, 250})->train, SplitByFractions(2, 100, {500, 250, 250})->train);
}

TEST(SplitByFractionsTest, RefusesFractionsThatDoNotAddUp) {
  const absl::Status status = SplitByFractions(0, 10, {800, 100, 99}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("adds up to 999, not 1000"));
  // A sum that wraps around 32 bits to 1000.
  EXPECT_FALSE(SplitByFractions(0, 10, {0x80000000, 0x80000000, 1000}).ok());
}

}  // namespace
}  // namespace packtrain::batching
