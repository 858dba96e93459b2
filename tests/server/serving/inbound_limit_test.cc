#include "server/serving/inbound_limit.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <latch>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/base/error_details.h"
#include "proto/base/request_status.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::serving {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr std::uint64_t kMib = 1 << 20;

class FakeMeter final : public InboundMeter {
 public:
  std::optional<std::uint64_t> BytesFrom(const std::string& peer) const override {
    const auto found = bytes_.find(peer);
    return found == bytes_.end() ? std::nullopt : std::optional(found->second);
  }
  void Bring(const std::string& peer, std::uint64_t bytes) { bytes_[peer] += bytes; }
  void Close(const std::string& peer) { bytes_.erase(peer); }

 private:
  std::map<std::string, std::uint64_t> bytes_;
};

// 100 MiB in all, 50 MiB a message; checked when a test says so.
class InboundLimitTest : public ::testing::Test {
 protected:
  std::unique_ptr<InboundLimit::Request> Begin(const std::string& peer, const std::string& name = "") {
    return std::make_unique<InboundLimit::Request>(limit_, peer, [this, peer, name](const absl::Status& why) {
      EXPECT_THAT(why, StatusIs(absl::StatusCode::kResourceExhausted));
      ended_.push_back(name.empty() ? peer : name);
    });
  }

  FakeMeter meter_;
  InboundLimit limit_{{.max_bytes = 100 * kMib,
                       .max_message_bytes = 50 * kMib,
                       .meter = &meter_,
                       .interval = std::chrono::minutes(10)}};
  std::vector<std::string> ended_;
};

TEST_F(InboundLimitTest, WhatFitsIsLeftAlone) {
  meter_.Bring("a", 0);
  const auto a = Begin("a");
  limit_.Check();
  meter_.Bring("a", 100 * kMib);
  limit_.Check();
  EXPECT_THAT(ended_, IsEmpty());
  EXPECT_THAT(a->Leave(100 * kMib), IsOk());
}

TEST_F(InboundLimitTest, TheLargestIsEndedFirstUntilTheRestFits) {
  for (const char* peer : {"a", "b", "c", "d"}) meter_.Bring(peer, 0);
  const auto a = Begin("a");
  const auto b = Begin("b");
  const auto c = Begin("c");
  const auto d = Begin("d");
  limit_.Check();
  meter_.Bring("a", 40 * kMib);
  meter_.Bring("b", 50 * kMib);
  meter_.Bring("c", 45 * kMib);
  meter_.Bring("d", 1 * kMib);
  limit_.Check();
  EXPECT_THAT(ended_, ElementsAre("b"));
  EXPECT_TRUE(base::IsStoppedReceiving(b->Leave(0)));
  EXPECT_THAT(a->Leave(40 * kMib), IsOk());
  meter_.Bring("c", 30 * kMib);
  meter_.Bring("d", 30 * kMib);
  limit_.Check();
  EXPECT_THAT(ended_, ElementsAre("b", "c"));
}

TEST_F(InboundLimitTest, WhatArrivesOfARequestThatWasEndedIsNotHeld) {
  meter_.Bring("a", 0);
  meter_.Bring("b", 0);
  const auto a = Begin("a");
  const auto b = Begin("b");
  limit_.Check();
  meter_.Bring("a", 101 * kMib);
  meter_.Bring("b", 1 * kMib);
  limit_.Check();
  meter_.Bring("a", 101 * kMib);
  limit_.Check();
  EXPECT_THAT(ended_, ElementsAre("a"));
}

TEST_F(InboundLimitTest, WhatAConnectionBroughtBeforeDoesNotCount) {
  meter_.Bring("a", 1000 * kMib);
  const auto a = Begin("a");
  limit_.Check();
  meter_.Bring("a", 99 * kMib);
  limit_.Check();
  EXPECT_THAT(ended_, IsEmpty());
}

TEST_F(InboundLimitTest, ARequestThatWaitsIsNotBlamedForOthersOfItsConnection) {
  meter_.Bring("a", 0);
  const auto waits = Begin("a");
  limit_.Check();
  for (int k = 0; k < 30; ++k) {
    const auto other = Begin("a");
    meter_.Bring("a", 10 * kMib + 300);
    limit_.Check();
    EXPECT_THAT(other->Leave(10 * kMib), IsOk());
  }
  EXPECT_THAT(ended_, IsEmpty());
  meter_.Bring("a", 101 * kMib);
  limit_.Check();
  EXPECT_THAT(ended_, ElementsAre("a"));
}

TEST_F(InboundLimitTest, SmallRequestsThatCameBeforeTheyWereAskedForAreNotHeldOnceTheyLeft) {
  meter_.Bring("a", 0);
  const auto waits = Begin("a");
  for (int k = 0; k < 2000; ++k) {
    meter_.Bring("a", 60'000);
    EXPECT_THAT(Begin("a")->Leave(59'900), IsOk());
  }
  limit_.Check();
  EXPECT_THAT(ended_, IsEmpty());
}

TEST_F(InboundLimitTest, ManySmallRequestsDoNotHideALargeOne) {
  meter_.Bring("a", 0);
  const auto large = Begin("a", "large");
  std::uint64_t of_large = 0;
  for (; of_large <= 100 * kMib; of_large += 1000) {
    const auto small = Begin("a", "small");
    meter_.Bring("a", 1000 + 100);
    EXPECT_THAT(small->Leave(50), IsOk());
  }
  limit_.Check();
  EXPECT_THAT(ended_, ElementsAre("large"));
}

TEST_F(InboundLimitTest, ARequestTakesAwayNoMoreThanCameWhileItWasThere) {
  meter_.Bring("a", 0);
  const auto large = Begin("a", "large");
  meter_.Bring("a", 60 * kMib);
  const auto small = Begin("a", "small");
  meter_.Bring("a", 50);
  EXPECT_THAT(small->Leave(60 * kMib), IsOk());
  meter_.Bring("a", 41 * kMib);
  limit_.Check();
  EXPECT_THAT(ended_, ElementsAre("large"));
}

TEST_F(InboundLimitTest, WhatCameBeforeTheRequestsThatAreThereIsNotHeld) {
  meter_.Bring("a", 0);
  auto first = Begin("a", "first");
  meter_.Bring("a", 60 * kMib);
  const auto second = Begin("a", "second");
  EXPECT_THAT(first->Leave(0), IsOk());
  meter_.Bring("a", 60 * kMib);
  limit_.Check();
  EXPECT_THAT(ended_, IsEmpty());
}

TEST_F(InboundLimitTest, WhatWasEndedHoldsWhatItBroughtUntilItLeaves) {
  for (const char* peer : {"a", "b", "c"}) meter_.Bring(peer, 0);
  const auto a = Begin("a");
  const auto b = Begin("b");
  const auto c = Begin("c");
  meter_.Bring("a", 101 * kMib);
  limit_.Check();
  EXPECT_THAT(ended_, ElementsAre("a"));
  meter_.Bring("b", 40 * kMib);
  limit_.Check();
  EXPECT_THAT(ended_, ElementsAre("a"));
  meter_.Bring("c", 20 * kMib);
  limit_.Check();
  EXPECT_THAT(ended_, ElementsAre("a", "b"));
  EXPECT_THAT(a->Leave(0), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(b->Leave(0), StatusIs(absl::StatusCode::kResourceExhausted));
  meter_.Bring("c", 80 * kMib);
  limit_.Check();
  EXPECT_THAT(ended_, ElementsAre("a", "b"));
}

TEST_F(InboundLimitTest, ARequestIsNotBlamedForOneThatWasEndedBeforeIt) {
  meter_.Bring("a", 0);
  const auto ended = Begin("a", "ended");
  meter_.Bring("a", 101 * kMib);
  limit_.Check();
  const auto next = Begin("a", "next");
  meter_.Bring("a", 40 * kMib);
  limit_.Check();
  EXPECT_THAT(ended->Leave(0), StatusIs(absl::StatusCode::kResourceExhausted));
  meter_.Bring("a", 59 * kMib);
  limit_.Check();
  EXPECT_THAT(ended_, ElementsAre("ended"));
}

TEST_F(InboundLimitTest, RequestsOfOneConnectionEndTogether) {
  meter_.Bring("a", 0);
  const auto first = Begin("a", "first");
  const auto second = Begin("a", "second");
  meter_.Bring("a", 101 * kMib);
  limit_.Check();
  EXPECT_THAT(ended_, UnorderedElementsAre("first", "second"));
  const auto third = Begin("a", "third");
  meter_.Bring("a", 1 * kMib);
  limit_.Check();
  EXPECT_THAT(third->Leave(1), IsOk());
}

TEST_F(InboundLimitTest, ConnectionsThatAreNotMeasuredAndThoseThatHaveGoneHoldNothing) {
  const auto unknown = Begin("unix:");
  meter_.Bring("a", 0);
  const auto gone = Begin("a");
  limit_.Check();
  meter_.Bring("a", 101 * kMib);
  meter_.Close("a");
  limit_.Check();
  EXPECT_THAT(ended_, IsEmpty());
}

TEST_F(InboundLimitTest, AConnectionThatIsMeasuredAgainHoldsWhatItBringsFromThenOn) {
  meter_.Bring("a", 0);
  const auto a = Begin("a");
  meter_.Bring("a", 90 * kMib);
  limit_.Check();
  meter_.Close("a");
  limit_.Check();
  meter_.Bring("a", 500 * kMib);
  limit_.Check();
  meter_.Bring("a", 99 * kMib);
  limit_.Check();
  EXPECT_THAT(ended_, IsEmpty());
  meter_.Bring("a", 2 * kMib);
  limit_.Check();
  EXPECT_THAT(ended_, ElementsAre("a"));
}

TEST_F(InboundLimitTest, ARequestThatLeftIsNotEnded) {
  meter_.Bring("a", 0);
  meter_.Bring("b", 0);
  const auto a = Begin("a");
  const auto b = Begin("b");
  limit_.Check();
  EXPECT_THAT(a->Leave(0), IsOk());
  meter_.Bring("a", 90 * kMib);
  meter_.Bring("b", 90 * kMib);
  limit_.Check();
  EXPECT_THAT(ended_, IsEmpty());
}

TEST_F(InboundLimitTest, TheStatusSaysWhetherToComeAgain) {
  for (const char* peer : {"a", "b", "c"}) meter_.Bring(peer, 0);
  const auto too_large = Begin("a");
  const auto first = Begin("b");
  const auto second = Begin("b");
  limit_.Check();
  meter_.Bring("a", 101 * kMib);
  limit_.Check();
  const absl::Status never = too_large->Leave(0);
  EXPECT_THAT(never, StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("message larger than max")));
  EXPECT_FALSE(base::RetryDelayOf(never).has_value());
  meter_.Bring("b", 101 * kMib);
  limit_.Check();
  const absl::Status later = first->Leave(0);
  EXPECT_EQ(base::ReasonOf(later), base::kMemoryLimit);
  EXPECT_TRUE(base::RetryDelayOf(later).has_value());
  EXPECT_EQ(base::MetadataOf(later, "bytes"), std::to_string(101 * kMib));
  EXPECT_EQ(base::MetadataOf(later, "limit"), std::to_string(100 * kMib));
  EXPECT_THAT(later.message(),
              AllOf(HasSubstr(std::to_string(101 * kMib)), HasSubstr(std::to_string(100 * kMib))));
}

TEST_F(InboundLimitTest, ARequestThatWasNotAloneIsNotSaidToBeTooLarge) {
  meter_.Bring("a", 0);
  const auto a = Begin("a");
  EXPECT_THAT(Begin("a")->Leave(0), IsOk());
  meter_.Bring("a", 101 * kMib);
  limit_.Check();
  EXPECT_TRUE(base::IsStoppedReceiving(a->Leave(0)));
}

// Brings a byte more each time that it is asked.
class CountingMeter final : public InboundMeter {
 public:
  std::optional<std::uint64_t> BytesFrom(const std::string&) const override { return bytes_++; }

 private:
  mutable std::atomic<std::uint64_t> bytes_{0};
};

TEST(InboundLimitThreadTest, ChecksWithoutBeingAsked) {
  const CountingMeter meter;
  InboundLimit limit({.max_bytes = 2, .meter = &meter, .interval = std::chrono::milliseconds(1)});
  for (int k = 0; k < 2; ++k) {
    std::latch ended(1);
    const InboundLimit::Request request(limit, "a", [&ended](const absl::Status&) { ended.count_down(); });
    ended.wait();
  }
}

}  // namespace
}  // namespace packtrain::serving
