#include "server/serving/idle_watch.h"

#include <gtest/gtest.h>

#include <latch>

namespace packtrain::serving {
namespace {

using std::chrono::minutes;

TEST(IdleWatchTest, ACallThatWaitsForTheLimitIsCutOffOnce) {
  IdleWatch watch(minutes(10));
  int cut_off = 0;
  IdleWatch::Call call(watch, [&cut_off] { ++cut_off; });
  call.BeginWait();
  const auto now = IdleWatch::Clock::now();
  watch.CutOff(now + minutes(9));
  EXPECT_EQ(cut_off, 0);
  watch.CutOff(now + minutes(10));
  EXPECT_EQ(cut_off, 1);
  watch.CutOff(now + minutes(60));
  EXPECT_EQ(cut_off, 1);
}

TEST(IdleWatchTest, OnlyTheClientsTurnCounts) {
  IdleWatch watch(minutes(10));
  int cut_off = 0;
  IdleWatch::Call call(watch, [&cut_off] { ++cut_off; });
  watch.CutOff(IdleWatch::Clock::now() + minutes(60));
  call.BeginWait();
  call.EndWait();
  watch.CutOff(IdleWatch::Clock::now() + minutes(60));
  EXPECT_EQ(cut_off, 0);
}

TEST(IdleWatchTest, ACallThatHasGoneIsLeftAlone) {
  IdleWatch watch(minutes(10));
  int cut_off = 0;
  {
    IdleWatch::Call(watch, [&cut_off] { ++cut_off; }).BeginWait();
  }
  watch.CutOff(IdleWatch::Clock::now() + minutes(60));
  EXPECT_EQ(cut_off, 0);
}

TEST(IdleWatchTest, WatchesWithoutBeingAsked) {
  IdleWatch watch(std::chrono::milliseconds(1));
  std::latch cut_off(1);
  IdleWatch::Call call(watch, [&cut_off] { cut_off.count_down(); });
  call.BeginWait();
  cut_off.wait();
}

}  // namespace
}  // namespace packtrain::serving
