#include "client/internal/outbox.h"

#include <gmock/gmock.h>

namespace packtrain::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr auto kAny = [](int, int) { return true; };

TEST(Outbox, GivesBlocksInTheOrderAdded) {
  Outbox<int> outbox(10);
  for (int k = 0; k < 5; ++k) outbox.Add(k);
  EXPECT_THAT(outbox.Take(3, kAny), ElementsAre(0, 1, 2));
  EXPECT_EQ(outbox.outstanding(), 5u);
  EXPECT_EQ(outbox.waiting(), 2u);
  outbox.Settle();
  EXPECT_THAT(outbox.Take(3, kAny), ElementsAre(3, 4));
  outbox.Settle();
  EXPECT_THAT(outbox.Take(3, kAny), IsEmpty());
}

TEST(Outbox, SettlesARecordOnlyWhenItsBlockIs) {
  Outbox<int> outbox(10);
  for (int k = 0; k < 4; ++k) outbox.Add(k);
  EXPECT_EQ(outbox.settled_up_to(), 0u);
  outbox.Take(3, kAny);
  EXPECT_EQ(outbox.settled_up_to(), 0u);
  outbox.Settle();
  EXPECT_EQ(outbox.settled_up_to(), 3u);
  outbox.Take(3, kAny);
  outbox.Settle();
  EXPECT_EQ(outbox.settled_up_to(), 4u);
  EXPECT_EQ(outbox.added(), 4u);
}

TEST(Outbox, EndsABlockWhereRecordsAreNoLongerAlike) {
  constexpr auto kSameTens = [](int a, int b) { return a / 10 == b / 10; };
  Outbox<int> outbox(10);
  for (const int record : {11, 12, 21, 13}) outbox.Add(record);
  for (const std::vector<int>& block : std::vector<std::vector<int>>{{11, 12}, {21}, {13}, {}}) {
    EXPECT_EQ(outbox.Take(9, kSameTens), block);
    outbox.Settle();
  }
}

TEST(Outbox, KeepsWhatIsInFlightUntilItIsSettled) {
  Outbox<int> outbox(10);
  for (int k = 0; k < 3; ++k) outbox.Add(k);
  outbox.Take(2, kAny);
  EXPECT_THAT(outbox.in_memory(), ElementsAre(0, 1, 2));
  EXPECT_EQ(outbox.in_flight(), 2u);
  outbox.Settle();
  EXPECT_THAT(outbox.in_memory(), ElementsAre(2));
}

TEST(Outbox, WhatIsSpilledIsOlderThanWhatWaits) {
  Outbox<int> outbox(9);
  for (int k = 0; k < 6; ++k) outbox.Add(k);
  EXPECT_THAT(outbox.Take(2, kAny), ElementsAre(0, 1));
  EXPECT_THAT(outbox.BeginSpill(2, kAny), ElementsAre(2, 3));
  EXPECT_EQ(outbox.spilling_end(), 4u);
  EXPECT_EQ(outbox.waiting(), 2u);
  outbox.EndSpill(/*moved=*/true);
  outbox.Settle();
  EXPECT_EQ(outbox.settled_up_to(), 2u);
  EXPECT_EQ(outbox.outstanding(), 4u);
  EXPECT_THAT(outbox.Take(9, kAny), IsEmpty());
  outbox.SettleSpilled(2, 4);
  EXPECT_EQ(outbox.settled_up_to(), 4u);
  EXPECT_THAT(outbox.Take(9, kAny), ElementsAre(4, 5));
}

TEST(Outbox, WhatTheSpoolDoesNotTakeWaitsOn) {
  Outbox<int> outbox(9);
  for (int k = 0; k < 3; ++k) outbox.Add(k);
  EXPECT_THAT(outbox.BeginSpill(2, kAny), ElementsAre(0, 1));
  EXPECT_THAT(outbox.Take(9, kAny), IsEmpty());
  EXPECT_EQ(outbox.settled_up_to(), 0u);
  outbox.EndSpill(/*moved=*/false);
  EXPECT_THAT(outbox.Take(9, kAny), ElementsAre(0, 1, 2));
}

TEST(Outbox, ALossOfTheSpoolIsCounted) {
  Outbox<int> outbox(9);
  for (int k = 0; k < 3; ++k) outbox.Add(k);
  outbox.BeginSpill(2, kAny);
  outbox.EndSpill(/*moved=*/true);
  outbox.LoseSpilled();
  EXPECT_EQ(outbox.lost(), 2u);
  EXPECT_EQ(outbox.settled_up_to(), 2u);
  EXPECT_THAT(outbox.Take(9, kAny), ElementsAre(2));
}

TEST(Outbox, LosesTheOldestWaitingWhenFull) {
  Outbox<int> outbox(3);
  for (int k = 0; k < 5; ++k) outbox.Add(k);
  EXPECT_EQ(outbox.lost(), 2u);
  EXPECT_EQ(outbox.settled_up_to(), 2u);
  EXPECT_THAT(outbox.Take(9, kAny), ElementsAre(2, 3, 4));
}

TEST(Outbox, NeverLosesWhatIsInFlight) {
  Outbox<int> outbox(3);
  for (int k = 0; k < 3; ++k) outbox.Add(k);
  EXPECT_THAT(outbox.Take(2, kAny), ElementsAre(0, 1));
  for (int k = 3; k < 6; ++k) outbox.Add(k);
  EXPECT_EQ(outbox.lost(), 3u);
  EXPECT_EQ(outbox.settled_up_to(), 0u);
  outbox.Settle();
  EXPECT_THAT(outbox.Take(9, kAny), ElementsAre(5));
}

}  // namespace
}  // namespace packtrain::client
