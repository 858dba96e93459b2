#include "server/storage/single_opening.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <memory>

#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;

using Objects = SingleOpening<int>;

// An opening that has begun and goes on until it is let go, and those that ask meanwhile.
class SingleOpeningTest : public ::testing::Test {
 protected:
  // Begins the held opening, which will end in `result`.
  std::future<Objects::Result> BeginHeld(Objects::Result result) {
    auto first = std::async(std::launch::async, [this, result] {
      return objects_.Get("a", [&] {
        begun_.count_down();
        go_on_.wait();
        return result;
      });
    });
    begun_.wait();
    return first;
  }

  std::future<Objects::Result> Ask() {
    return std::async(std::launch::async, [this] {
      return objects_.Get("a", [this]() -> Objects::Result {
        ++others_;
        return std::make_shared<const int>(2);
      });
    });
  }

  Objects objects_;
  std::latch begun_{1}, go_on_{1};
  std::atomic<int> others_ = 0;
};

TEST_F(SingleOpeningTest, WhoAsksBeforeTheFirstOpeningIsPublishedGetsItsObject) {
  auto first = BeginHeld(std::make_shared<const int>(1));
  auto second = Ask();
  EXPECT_THAT(objects_.Close("a"), StatusIs(absl::StatusCode::kFailedPrecondition));
  go_on_.count_down();
  const std::shared_ptr<const int> object = first.get().value();
  EXPECT_EQ(second.get().value(), object);
  EXPECT_EQ(others_, 0);
}

TEST_F(SingleOpeningTest, ANameIsNotClosedWhileAnyHolderOfItsObjectIsLeft) {
  auto first = BeginHeld(std::make_shared<const int>(1));
  auto second = Ask();
  go_on_.count_down();
  std::shared_ptr<const int> kept = second.get().value();
  first.get().value().reset();
  EXPECT_THAT(objects_.Close("a"), StatusIs(absl::StatusCode::kFailedPrecondition));
  kept.reset();
  EXPECT_THAT(objects_.Close("a"), IsOk());
}

TEST_F(SingleOpeningTest, AFailureIsSharedAndTheNextAskerTriesAgain) {
  auto first = BeginHeld(absl::UnavailableError("the disk fails"));
  go_on_.count_down();
  EXPECT_THAT(first.get(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(Ask().get(), IsOk());
  EXPECT_EQ(others_, 1);
}

TEST_F(SingleOpeningTest, AClosedNameIsNotOpenedUntilItIsReopened) {
  EXPECT_THAT(objects_.Close("a"), IsOk());
  EXPECT_THAT(Ask().get(), StatusIs(absl::StatusCode::kNotFound));
  objects_.Reopen("a");
  EXPECT_THAT(Ask().get(), IsOk());
}

}  // namespace
}  // namespace packtrain::storage
