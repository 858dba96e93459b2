#include "server/runs/step_coverage.h"

#include <gmock/gmock.h>

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

TEST(StepCoverage, TakesTheGreatestNumber) {
  constexpr std::uint64_t kGreatest = std::numeric_limits<std::uint64_t>::max();
  StepCoverage coverage;
  EXPECT_TRUE(coverage.Insert(kGreatest));
  EXPECT_TRUE(coverage.Insert(0));
  EXPECT_TRUE(coverage.Insert(kGreatest - 1));
  EXPECT_EQ(coverage.count(), 3u);
  EXPECT_EQ(coverage.last(), kGreatest);
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
    }
    for (std::uint64_t step = 0; step < 310; ++step) {
      EXPECT_EQ(coverage.Contains(step), expected.contains(step)) << step;
    }
  }
}

}  // namespace
}  // namespace packtrain::runs
