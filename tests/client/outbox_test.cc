#include "client/outbox.h"

#include <gmock/gmock.h>

namespace packtrain::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Outbox, GivesBlocksInTheOrderAdded) {
  Outbox<int> outbox(10);
  for (int k = 0; k < 5; ++k) outbox.Add(k);
  EXPECT_THAT(outbox.Take(3), ElementsAre(0, 1, 2));
  EXPECT_EQ(outbox.outstanding(), 5u);
  EXPECT_EQ(outbox.waiting(), 2u);
  outbox.Settle();
  EXPECT_THAT(outbox.Take(3), ElementsAre(3, 4));
  outbox.Settle();
  EXPECT_THAT(outbox.Take(3), IsEmpty());
}

TEST(Outbox, SettlesARecordOnlyWhenItsBlockIs) {
  Outbox<int> outbox(10);
  for (int k = 0; k < 4; ++k) outbox.Add(k);
  EXPECT_EQ(outbox.settled_up_to(), 0u);
  outbox.Take(3);
  EXPECT_EQ(outbox.settled_up_to(), 0u);
  outbox.Settle();
  EXPECT_EQ(outbox.settled_up_to(), 3u);
  outbox.Take(3);
  outbox.Settle();
  EXPECT_EQ(outbox.settled_up_to(), 4u);
  EXPECT_EQ(outbox.added(), 4u);
}

TEST(Outbox, DropsTheOldestWaitingWhenFull) {
  Outbox<int> outbox(3);
  for (int k = 0; k < 5; ++k) outbox.Add(k);
  EXPECT_EQ(outbox.dropped(), 2u);
  EXPECT_EQ(outbox.settled_up_to(), 2u);
  EXPECT_THAT(outbox.Take(9), ElementsAre(2, 3, 4));
}

TEST(Outbox, NeverDropsWhatIsInFlight) {
  Outbox<int> outbox(3);
  for (int k = 0; k < 3; ++k) outbox.Add(k);
  EXPECT_THAT(outbox.Take(2), ElementsAre(0, 1));
  for (int k = 3; k < 6; ++k) outbox.Add(k);
  EXPECT_EQ(outbox.dropped(), 3u);
  EXPECT_EQ(outbox.settled_up_to(), 0u);
  outbox.Settle();
  EXPECT_THAT(outbox.Take(9), ElementsAre(5));
}

}  // namespace
}  // namespace packtrain::client
