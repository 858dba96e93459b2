#include "server/runs/step_coverage.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <set>

namespace packtrain::runs {
namespace {

TEST(StepCoverage, IsEmptyAtFirst) {
  const StepCoverage coverage;
  EXPECT_FALSE(coverage.Contains(0));
  EXPECT_EQ(coverage.count(), 0u);
  EXPECT_EQ(coverage.last(), std::nullopt);
}

TEST(StepCoverage, TakesEachStepOnce) {
  StepCoverage coverage;
  EXPECT_TRUE(coverage.Insert(5));
  EXPECT_FALSE(coverage.Insert(5));
  EXPECT_EQ(coverage.count(), 1u);
}

TEST(StepCoverage, TakesTheLargestNumber) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
  StepCoverage coverage;
  EXPECT_TRUE(coverage.Insert(kLargest));
  EXPECT_TRUE(coverage.Insert(0));
  EXPECT_TRUE(coverage.Insert(kLargest - 1));
  EXPECT_EQ(coverage.count(), 3u);
  EXPECT_EQ(coverage.last(), kLargest);
}

TEST(StepCoverage, TakesThoseOfAnotherBelowAnEnd) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    StepCoverage one, other;
    std::set<std::uint64_t> expected;
    const std::uint64_t end = random() % 60;
    for (int i = 0; i < 30; ++i) {
      const std::uint64_t in_one = random() % 60, in_other = random() % 60;
      one.Insert(in_one);
      other.Insert(in_other);
      expected.insert(in_one);
      if (in_other < end) expected.insert(in_other);
    }
    one.InsertBelow(end, other);
    EXPECT_EQ(one.count(), expected.size());
    for (std::uint64_t step = 0; step < 62; ++step)
      EXPECT_EQ(one.Contains(step), expected.contains(step)) << step;
    for (std::uint64_t step = 0; step < 62; ++step) one.Insert(step);
    EXPECT_EQ(one.count(), 62u);
  }
}

std::size_t CountIntervals(const std::set<std::uint64_t>& steps) {
  std::size_t intervals = 0;
  for (const std::uint64_t step : steps) intervals += steps.contains(step + 1) ? 0 : 1;
  return intervals;
}

TEST(StepCoverage, AgreesWithASetInAnyOrder) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    StepCoverage coverage;
    std::set<std::uint64_t> expected;
    for (int i = 0; i < 500; ++i) {
      const std::uint64_t step = random() % 300;
      EXPECT_EQ(coverage.Insert(step), expected.insert(step).second);
      EXPECT_EQ(coverage.count(), expected.size());
      EXPECT_EQ(coverage.last(), *expected.rbegin());
      EXPECT_EQ(coverage.intervals(), CountIntervals(expected));
    }
    for (std::uint64_t step = 0; step < 310; ++step) {
      EXPECT_EQ(coverage.Contains(step), expected.contains(step)) << step;
    }
  }
}

}  // namespace
}  // namespace packtrain::runs
