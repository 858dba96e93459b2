#include "server/node/listen_address.h"

#include <gmock/gmock.h>

#include "tests/testing/status_matchers.h"

namespace packtrain::node {
namespace {

using ::packtrain::testing::IsOk;

TEST(ListenAddressTest, WhatIsParsedIsPrintedAgain) {
  for (const char* text : {"127.0.0.1:7077", "[::1]:0", "localhost:65535", "unix:/run/packtrain.sock"}) {
    const auto address = ListenAddress::Parse(text);
    ASSERT_THAT(address, IsOk());
    EXPECT_EQ(address->ToString(), text);
    EXPECT_TRUE(address->IsLocal());
  }
}

TEST(ListenAddressTest, OnlyLoopbackAndSocketsAreLocal) {
  for (const char* text : {"127.8.9.10:1", "[0:0::1]:1"}) EXPECT_TRUE(ListenAddress::Parse(text)->IsLocal());
  for (const char* text :
       {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "127.0.0.1.example.org:1", "[::ffff:10.0.0.1]:1"}) {
    EXPECT_FALSE(ListenAddress::Parse(text)->IsLocal()) << text;
  }
}

}  // namespace
}  // namespace packtrain::node
