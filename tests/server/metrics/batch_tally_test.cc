#include "server/metrics/batch_tally.h"

#include <gmock/gmock.h>

namespace packtrain::metrics {
namespace {

using std::chrono::nanoseconds;
using ::testing::ElementsAre;
using ::testing::Pair;

wire::BatchHeader Batch(wire::Shape real, wire::Shape padded) {
  wire::BatchHeader batch;
  batch.real = real;
  batch.padded = padded;
  batch.body_bytes = 100;
  return batch;
}

TEST(BatchTallyTest, PaddingIsTheShareOfNodeAndEdgeSlots) {
  BatchTally tally;
  tally.Count(Batch({2, 10, 20}, {3, 16, 24}), nanoseconds(2'000'000));
  EXPECT_DOUBLE_EQ(tally.padding_ratio.sum(), 0.25);
  tally.Count(Batch({2, 10, 20}, {2, 10, 20}), nanoseconds(0));
  tally.Count(Batch({0, 0, 0}, {3, 16, 24}), nanoseconds(0));  // an empty batch
  tally.Count(Batch({0, 0, 0}, {0, 0, 0}), nanoseconds(0));
  EXPECT_DOUBLE_EQ(tally.padding_ratio.sum(), 1.25);
  EXPECT_EQ(tally.padding_ratio.count(), 4);
  EXPECT_DOUBLE_EQ(tally.build_seconds.sum(), 0.002);
  EXPECT_EQ(tally.batches, 4);
  EXPECT_EQ(tally.graphs, 4);
  EXPECT_EQ(tally.body_bytes, 400);
}

TEST(BatchTallyTest, GraphsLeftOutAreCounted) {
  wire::BatchHeader batch = Batch({2, 10, 20}, {6, 16, 24});
  batch.corrupt_graphs = {3, 8};
  BatchTally tally;
  tally.Count(batch, nanoseconds(1));
  BatchTally all;
  all.Add(tally);
  all.Add(tally);
  EXPECT_EQ(all.corrupt_graphs, 4);
  EXPECT_EQ(all.graphs, 4);
}

TEST(BatchTotalsTest, TheSeriesOfADataSetGoWithItAndTheTotalsStay) {
  BatchTotals totals;
  BatchTally tally;
  tally.Count(Batch({2, 10, 20}, {3, 16, 24}), nanoseconds(1));
  totals.Add({"static", "kept"}, tally);
  totals.Add({"dynamic", "gone"}, tally);
  totals.Add({"static", "gone"}, tally);
  totals.Add({"static", "gone"}, tally);
  totals.Keep({"kept", "other"});
  EXPECT_THAT(totals.batches, ElementsAre(Pair(::testing::Field(&Series::dataset, "kept"), 1)));
  EXPECT_EQ(totals.all.batches, 4);
}

TEST(BatchTotalsTest, AStreamThatSentNothingHasNoSeries) {
  BatchTotals totals;
  totals.Add({"", ""}, BatchTally());
  EXPECT_TRUE(totals.batches.empty());
}

}  // namespace
}  // namespace packtrain::metrics
