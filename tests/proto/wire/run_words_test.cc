#include "proto/wire/run_words.h"

#include <gtest/gtest.h>

namespace packtrain::wire {
namespace {

TEST(RunWords, ValuesOfANewerPeerAreNumbered) {
  EXPECT_EQ(StateName(static_cast<v1::RunState>(79)), "unknown(79)");
}

TEST(RunWords, StatesHaveNames) {
  EXPECT_EQ(StateName(v1::RUN_STATE_RUNNING), "running");
  EXPECT_EQ(StateName(v1::RUN_STATE_DONE), "done");
  EXPECT_EQ(StateName(v1::RUN_STATE_FAILED), "failed");
  EXPECT_EQ(StateName(v1::RUN_STATE_LOST), "lost");
  EXPECT_EQ(StateName(v1::RUN_STATE_UNSPECIFIED), "");
}

TEST(RunWords, HardwareCountsItsDevices) {
  v1::Hardware hardware;
  hardware.set_device("cuda");
  EXPECT_EQ(HardwareName(hardware), "cuda");
  hardware.set_name("H100");
  hardware.set_count(1);
  EXPECT_EQ(HardwareName(hardware), "H100");
  hardware.set_count(2);
  EXPECT_EQ(HardwareName(hardware), "2 x H100");
}

}  // namespace
}  // namespace packtrain::wire
