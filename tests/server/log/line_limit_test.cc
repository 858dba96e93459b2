#include "server/log/line_limit.h"

#include <gmock/gmock.h>

namespace packtrain::log {
namespace {

using ::testing::Eq;
using ::testing::Optional;

class LineLimitTest : public ::testing::Test {
 protected:
  // How many of `count` lines are written.
  std::uint64_t Written(std::string_view sort, int count) {
    std::uint64_t written = 0;
    for (int line = 0; line < count; ++line) written += limit_.Admit(sort).has_value() ? 1 : 0;
    return written;
  }

  LineLimit::Clock::time_point now_;
  LineLimit limit_{[this] { return now_; }};
};

TEST_F(LineLimitTest, AFloodWritesAFewLinesAndTheNextOneTellsHowManyWereLeftOut) {
  EXPECT_EQ(Written("NOT_FOUND", 10'000), LineLimit::kLines);
  now_ += LineLimit::kStretch - std::chrono::milliseconds(1);
  EXPECT_EQ(limit_.Admit("NOT_FOUND"), std::nullopt);
  now_ += std::chrono::milliseconds(1);
  EXPECT_THAT(limit_.Admit("NOT_FOUND"), Optional(Eq(10'001 - LineLimit::kLines)));
  EXPECT_THAT(limit_.Admit("NOT_FOUND"), Optional(Eq(0u)));
}

TEST_F(LineLimitTest, ASortHasNoPartInTheLimitOfAnother) {
  EXPECT_EQ(Written("NOT_FOUND", 100), LineLimit::kLines);
  EXPECT_THAT(limit_.Admit("DATA_LOSS"), Optional(Eq(0u)));
}

TEST_F(LineLimitTest, LinesThatAreFarBetweenAreAllWritten) {
  for (int line = 0; line < 100; ++line) {
    EXPECT_THAT(limit_.Admit("NOT_FOUND"), Optional(Eq(0u)));
    now_ += LineLimit::kStretch / 10;
  }
}

}  // namespace
}  // namespace packtrain::log
