#include "server/log/ping_complaint.h"

#include <gtest/gtest.h>

namespace packtrain::log {
namespace {

TEST(PingComplaint, NamesThePeerThatIsCutOff) {
  EXPECT_EQ(
      PeerThatPingsTooOften("ipv4:10.0.0.7:50112: Sending goaway err=UNKNOWN:Too many pings {http2_error:11}"),
      "ipv4:10.0.0.7:50112");
  EXPECT_EQ(
      PeerThatPingsTooOften("ipv6:%5B::1%5D:50112: Sending goaway err={\"raw_bytes\":\"too_many_pings\"}"),
      "ipv6:%5B::1%5D:50112");
}

TEST(PingComplaint, LeavesOtherMessagesAlone) {
  EXPECT_EQ(PeerThatPingsTooOften("ipv4:10.0.0.7:50112: Sending goaway err=max_age"), std::nullopt);
  EXPECT_EQ(PeerThatPingsTooOften("Received a GOAWAY with debug data equal to \"too_many_pings\""),
            std::nullopt);
  EXPECT_EQ(PeerThatPingsTooOften(""), std::nullopt);
}

}  // namespace
}  // namespace packtrain::log
