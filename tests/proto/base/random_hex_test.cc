#include "proto/base/random_hex.h"

#include <gmock/gmock.h>

namespace packtrain::base {
namespace {

using ::testing::MatchesRegex;

TEST(RandomHex, Is128BitsThatDoNotRepeat) {
  const std::string digits = RandomHex();
  EXPECT_EQ(digits.size(), 32u);
  EXPECT_THAT(digits, MatchesRegex("[0-9a-f]+"));
  EXPECT_NE(digits, RandomHex());
}

}  // namespace
}  // namespace packtrain::base
