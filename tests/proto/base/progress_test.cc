#include "proto/base/progress.h"

#include <gmock/gmock.h>

#include <sstream>

namespace packtrain::base {
namespace {

using std::chrono::milliseconds;

class ProgressTest : public ::testing::Test {
 protected:
  Progress Make(bool terminal) {
    return Progress(out_, terminal, {"import", "graphs", 1000}, [this] { return now_; });
  }
  void Pass(milliseconds time) { now_ += time; }
  std::string TakeText() { return std::exchange(out_, std::ostringstream()).str(); }

  std::ostringstream out_;
  Progress::Clock::time_point now_;
};

TEST_F(ProgressTest, LinesComeEveryFiveSeconds) {
  Progress progress = Make(false);
  progress.Update(1, 1);
  Pass(milliseconds(4999));
  progress.Update(2, 2);
  EXPECT_EQ(TakeText(), "");
  Pass(milliseconds(5001));
  progress.Update(2000, 250);
  EXPECT_EQ(TakeText(), "import:  25 %, 2000 graphs, 200 graphs/s, 30 s left\n");
}

TEST_F(ProgressTest, BarIsRedrawnAndClearedAtTheEnd) {
  {
    Progress progress = Make(true);
    Pass(milliseconds(10'000));
    progress.Update(10, 10);
    EXPECT_EQ(TakeText(),
              "\r\x1b[K[..............................]   1 %, 10 graphs, 1 graphs/s, 16:30 min left");
    Pass(milliseconds(99));
    progress.Update(11, 500);
    EXPECT_EQ(TakeText(), "");
    Pass(milliseconds(9'901));
    progress.Update(20, 500);
    EXPECT_EQ(TakeText(), "\r\x1b[K[###############...............]  50 %, 20 graphs, 1 graphs/s, 20 s left");
  }
  EXPECT_EQ(TakeText(), "\r\x1b[K");
}

TEST_F(ProgressTest, NothingIsShownOfAShortImport) {
  { Progress progress = Make(true); }
  EXPECT_EQ(TakeText(), "");
}

}  // namespace
}  // namespace packtrain::base
