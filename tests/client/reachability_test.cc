#include "client/internal/reachability.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace packtrain::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const absl::Status kAway = absl::UnavailableError("connection refused");

class ReachabilityTest : public ::testing::Test {
 protected:
  std::vector<std::string> notices_;
  const ConnectionOptions options_{.server = "node-3:7077",
                                   .give_up = std::chrono::milliseconds(1'500),
                                   .on_notice = [this](const std::string& line) { notices_.push_back(line); }};
  Reachability server_{options_};
};

TEST_F(ReachabilityTest, TheSecondFailureInARowIsALoss) {
  Reachability::View view(server_);
  view.Failed(kAway);
  view.Answered();
  view.Failed(kAway);
  EXPECT_THAT(notices_, IsEmpty());
  view.Failed(kAway);
  view.Failed(kAway);
  view.Answered();
  view.Answered();
  EXPECT_THAT(notices_, ElementsAre("the server at node-3:7077 cannot be reached (connection refused); trying "
                                    "for 1.5 s",
                                    "the server at node-3:7077 is back"));
}

TEST_F(ReachabilityTest, OfSeveralViewsTheFirstLossAndTheLastReturnAreTold) {
  Reachability::View reader(server_);
  Reachability::View reporter(server_);
  for (Reachability::View* view : {&reader, &reporter}) {
    view->Failed(kAway);
    view->Failed(kAway);
  }
  EXPECT_THAT(notices_, SizeIs(1));
  reader.Answered();
  EXPECT_THAT(notices_, SizeIs(1));
  reporter.Answered();
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("cannot be reached"), HasSubstr("is back")));
}

TEST_F(ReachabilityTest, AViewThatEndsInALossLeavesTheReturnToTheOthers) {
  Reachability::View reporter(server_);
  {
    Reachability::View reader(server_);
    reader.Failed(kAway);
    reader.Failed(kAway);
    reporter.Failed(kAway);
    reporter.Failed(kAway);
  }
  reporter.Answered();
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("cannot be reached"), HasSubstr("is back")));
}

}  // namespace
}  // namespace packtrain::client
