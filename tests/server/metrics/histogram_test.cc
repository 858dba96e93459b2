#include "server/metrics/histogram.h"

#include <gmock/gmock.h>

namespace packtrain::metrics {
namespace {

using ::testing::ElementsAre;

constexpr double kBounds[] = {1, 2, 5};

TEST(HistogramTest, ABoundBelongsToTheRangeBelowIt) {
  Histogram histogram(kBounds);
  for (const double value : {0.0, 1.0, 1.5, 2.0, 5.0, 5.1, 1e9}) histogram.Observe(value);
  EXPECT_THAT(histogram.counts(), ElementsAre(2, 2, 1, 2));
  EXPECT_EQ(histogram.count(), 7);
  EXPECT_DOUBLE_EQ(histogram.sum(), 0 + 1 + 1.5 + 2 + 5 + 5.1 + 1e9);
}

TEST(HistogramTest, AddedHistogramsCountTogether) {
  Histogram a(kBounds), b(kBounds);
  a.Observe(1);
  b.Observe(1);
  b.Observe(3);
  a.Add(b);
  EXPECT_THAT(a.counts(), ElementsAre(2, 0, 1, 0));
  EXPECT_DOUBLE_EQ(a.sum(), 5);
}

}  // namespace
}  // namespace packtrain::metrics
