#include "server/analysis/step_sampling.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

namespace packtrain::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(StepSampling, KeepsAllWhereTheyAreFew) {
  EXPECT_THAT(SamplePoints(std::vector<std::uint64_t>{3, 1, 2}, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(SamplePoints({}, 3), IsEmpty());
}

TEST(StepSampling, KeepsLeastAndGreatestOfEachInterval) {
  EXPECT_THAT(SamplePoints(std::vector<std::uint64_t>{5, 1, 9, 5, 7, 7, 2, 8}, 4), ElementsAre(1, 2, 6, 7));
}

TEST(StepSampling, KeepsOnePointOfAFlatInterval) {
  EXPECT_THAT(SamplePoints(std::vector<std::uint64_t>{5, 5, 5, 5, 5, 5}, 4), ElementsAre(0, 3));
}

TEST(StepSampling, KeepsThePeakWhereOnlyOnePointIsWanted) {
  EXPECT_THAT(SamplePoints(std::vector<std::uint64_t>{5, 1, 9, 5}, 1), ElementsAre(2));
}

TEST(StepSampling, NeverExceedsTheLimitNorLosesTheExtremes) {
  std::mt19937 random(1);
  for (std::size_t count = 1; count < 60; ++count) {
    std::vector<std::uint64_t> totals(count);
    std::generate(totals.begin(), totals.end(), [&random] { return random() % 1000; });
    for (std::size_t limit = 2; limit < 70; ++limit) {
      const std::vector<std::size_t> chosen = SamplePoints(totals, limit);
      EXPECT_LE(chosen.size(), limit);
      EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
      std::vector<std::uint64_t> kept;
      for (const std::size_t index : chosen) kept.push_back(totals[index]);
      EXPECT_EQ(*std::max_element(kept.begin(), kept.end()), *std::max_element(totals.begin(), totals.end()));
      EXPECT_EQ(*std::min_element(kept.begin(), kept.end()), *std::min_element(totals.begin(), totals.end()));
    }
  }
}

}  // namespace
}  // namespace packtrain::analysis
