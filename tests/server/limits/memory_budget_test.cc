#include "server/limits/memory_budget.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "proto/base/error_details.h"
#include "proto/base/mutex.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::limits {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Clock = MemoryBudget::Clock;
using Reservation = MemoryBudget::Reservation;

constexpr MemoryPart kReports = MemoryPart::kReports;
constexpr MemoryPart kStreams = MemoryPart::kStreams;
constexpr MemoryPart kImports = MemoryPart::kImports;
constexpr std::chrono::minutes kLong{5};

MemoryBudget::Shares SharesOf(std::initializer_list<std::pair<MemoryPart, MemoryBudget::Share>> parts) {
  MemoryBudget::Shares shares = {};
  for (const auto& [part, share] : parts) shares[static_cast<std::size_t>(part)] = share;
  return shares;
}

// A request that waits; its answer, once it has come.
struct Request {
  Request(MemoryBudget& budget, MemoryPart part, std::uint64_t bytes, Clock::duration wait = kLong) {
    budget.ReserveLater(part, bytes, Clock::now() + wait, [this](absl::StatusOr<Reservation> reserved) {
      answer = std::move(reserved);
      answered.count_down();
    });
  }
  bool granted() const { return answered.try_wait() && answer.ok(); }

  std::latch answered{1};
  absl::StatusOr<Reservation> answer = absl::UnknownError("waits");
};

TEST(MemoryBudgetTest, AWaitEndsOnceNobodyWantsItsMemory) {
  const auto budget = MemoryBudget::Undivided(100);
  auto held = budget->TryReserve(kReports, 60);
  std::atomic<int> looks = 0;
  const MemoryBudget::Wait wait(Clock::now() + kLong, [&looks] { return ++looks < 3; });
  EXPECT_THAT(budget->Reserve(kStreams, 60, wait), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(budget->waiting(), 0);
  EXPECT_GE(looks, 3);
  auto grown = budget->TryReserve(kStreams, 10);
  EXPECT_THAT(grown->Resize(60, {Clock::now() + kLong, [] { return false; }}),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(grown->bytes(), 10);
  // Who is wanted waits on.
  looks = 0;
  const MemoryBudget::Wait on(Clock::now() + kLong, [&] {
    if (++looks == 3) held.reset();
    return true;
  });
  EXPECT_THAT(budget->Reserve(kStreams, 60, on), IsOk());
  EXPECT_GE(looks, 3);
}

TEST(MemoryBudgetTest, NobodyWaitsForWhatHeHoldsHimself) {
  const auto budget = MemoryBudget::Undivided(100);
  auto own = budget->TryReserve(kImports, 60);
  const MemoryBudget::Wait wait(Clock::now() + kLong, nullptr, own->bytes());
  const auto refused = budget->Reserve(kImports, 41, wait);
  EXPECT_EQ(base::ReasonOf(refused.status()), base::kAboveMemory);
  auto message = budget->TryReserve(kImports, 20);
  EXPECT_EQ(base::ReasonOf(message->Resize(41, wait)), base::kAboveMemory);
  EXPECT_THAT(message->Resize(40, wait), IsOk());
}

TEST(MemoryBudgetTest, WhatIsReservedIsGivenBackWithTheReservation) {
  const auto budget = MemoryBudget::Undivided(100);
  {
    auto memory = budget->Reserve(kReports, 60, Clock::now());
    ASSERT_THAT(memory, IsOk());
    Reservation moved = *std::move(memory);
    EXPECT_EQ(budget->used_bytes(), 60);
    EXPECT_EQ(budget->used_bytes(kReports), 60);
    moved.ShrinkTo(20);
    EXPECT_EQ(budget->used_bytes(), 20);
    EXPECT_THAT(moved.Resize(90, Clock::now()), IsOk());
    EXPECT_EQ(budget->used_bytes(), 90);
    EXPECT_FALSE(budget->TryReserve(kStreams, 11).has_value());
  }
  EXPECT_EQ(budget->used_bytes(), 0);
  EXPECT_EQ(budget->peak_bytes(), 90);
}

TEST(MemoryBudgetTest, ARequestWaitsUntilThereIsRoom) {
  const auto budget = MemoryBudget::Undivided(100);
  auto held = budget->TryReserve(kReports, 80);
  Request request(*budget, kStreams, 30);
  EXPECT_FALSE(request.granted());
  EXPECT_EQ(budget->waiting(), 1);
  held.reset();
  request.answered.wait();
  ASSERT_THAT(request.answer, IsOk());
  EXPECT_EQ(budget->used_bytes(kStreams), 30);
}

TEST(MemoryBudgetTest, ARefusalSaysWhatIsShortAndWhenToComeAgain) {
  const auto budget = MemoryBudget::Undivided(100);
  const auto held = budget->TryReserve(kStreams, 80);
  const auto refused = budget->Reserve(kReports, 30, Clock::now());
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("reports")));
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("come again in 2")));
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("--memory")));
  EXPECT_EQ(base::ReasonOf(refused.status()), base::kMemoryLimit);
  EXPECT_GE(base::RetryDelayOf(refused.status()), std::chrono::seconds(2));
  EXPECT_EQ(budget->waiting(), 0);
}

TEST(MemoryBudgetTest, WhatNeverFitsIsRefusedAtOnceAndNotAskedToComeAgain) {
  const auto budget = MemoryBudget::Create(100, SharesOf({{kReports, {.max_bytes = 40}}}));
  const auto refused = budget->Reserve(kReports, 41, Clock::now() + kLong);
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("40")));
  EXPECT_EQ(base::ReasonOf(refused.status()), base::kAboveMemory);
  EXPECT_EQ(base::RetryDelayOf(refused.status()), std::nullopt);
}

TEST(MemoryBudgetTest, ASmallRequestDoesNotPassALargeOne) {
  const auto budget = MemoryBudget::Undivided(100);
  auto held = budget->TryReserve(kReports, 50);
  Request large(*budget, kStreams, 90);
  Request small(*budget, kImports, 10);
  EXPECT_FALSE(small.granted());
  EXPECT_FALSE(budget->TryReserve(kImports, 1).has_value());
  held.reset();
  large.answered.wait();
  small.answered.wait();
  EXPECT_TRUE(large.granted());
  EXPECT_TRUE(small.granted());
}

TEST(MemoryBudgetTest, AFullPartHoldsUpNoOther) {
  const auto budget =
      MemoryBudget::Create(100, SharesOf({{kReports, {.max_bytes = 100}}, {kImports, {.max_bytes = 20}}}));
  auto held = budget->TryReserve(kImports, 20);
  Request waits(*budget, kImports, 10);
  EXPECT_FALSE(waits.granted());
  EXPECT_TRUE(budget->TryReserve(kReports, 80).has_value());
  held.reset();
  waits.answered.wait();
  EXPECT_TRUE(waits.granted());
}

TEST(MemoryBudgetTest, WhatIsGuaranteedIsThereWhateverOthersTake) {
  const auto budget = MemoryBudget::Create(
      100, SharesOf({{kImports, {.max_bytes = 100}}, {kStreams, {.max_bytes = 100, .guaranteed_bytes = 30}}}));
  EXPECT_FALSE(budget->TryReserve(kImports, 71).has_value());
  const auto imports = budget->TryReserve(kImports, 70);
  EXPECT_TRUE(imports.has_value());
  Request waits(*budget, kImports, 1);
  const auto streams = budget->TryReserve(kStreams, 30);
  EXPECT_TRUE(streams.has_value()) << "no request for what is shared holds it up";
  EXPECT_FALSE(waits.granted());
  budget->EndWaiting();
}

TEST(MemoryBudgetTest, GuaranteesAboveTheCapAreCutInProportion) {
  const auto budget =
      MemoryBudget::Create(100, SharesOf({{kImports, {.max_bytes = 400, .guaranteed_bytes = 100}},
                                          {kStreams, {.max_bytes = 400, .guaranteed_bytes = 100}}}));
  const auto imports = budget->TryReserve(kImports, 50);
  EXPECT_TRUE(imports.has_value());
  EXPECT_FALSE(budget->TryReserve(kImports, 1).has_value());
  EXPECT_EQ(budget->max_bytes(kImports), 50) << "all that the other part's guarantee leaves";
}

TEST(MemoryBudgetTest, WhatOthersGuaranteesNeverLeaveIsRefusedAtOnce) {
  const auto budget =
      MemoryBudget::Create(100, SharesOf({{kImports, {.max_bytes = 80, .guaranteed_bytes = 10}},
                                          {kStreams, {.max_bytes = 80, .guaranteed_bytes = 40}}}));
  EXPECT_EQ(budget->max_bytes(kImports), 60);
  EXPECT_THAT(budget->Reserve(kImports, 61, Clock::now() + kLong),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("--memory")));
}

TEST(MemoryBudgetTest, ARequestIsRefusedWhenItsTimeIsOverAndTheNextOneHasItsTurn) {
  const auto budget = MemoryBudget::Undivided(100);
  const auto held = budget->TryReserve(kReports, 50);
  Request large(*budget, kStreams, 90, std::chrono::milliseconds(20));
  Request small(*budget, kImports, 10);
  small.answered.wait();
  EXPECT_TRUE(small.granted());
  large.answered.wait();
  EXPECT_THAT(large.answer, StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST(MemoryBudgetTest, CachesGiveWayBeforeAnybodyWaits) {
  const auto budget = MemoryBudget::Undivided(100);
  auto cached = budget->TryReserve(MemoryPart::kPlans, 90);
  std::vector<std::uint64_t> asked;
  const MemoryBudget::Cache cache(*budget, MemoryPart::kPlans, [&](std::uint64_t bytes) {
    asked.push_back(bytes);
    cached.reset();
  });
  EXPECT_THAT(budget->Reserve(kStreams, 60, Clock::now()), IsOk());
  EXPECT_THAT(asked, ElementsAre(60));
  budget->EndWaiting();
}

TEST(MemoryBudgetTest, CachesThatHaveGrownAreAskedAgainWhileSomebodyWaits) {
  const auto budget = MemoryBudget::Undivided(100);
  base::Mutex mutex;
  std::optional<Reservation> cached;
  auto held = budget->TryReserve(MemoryPart::kPlans, 90);
  const MemoryBudget::Cache cache(*budget, MemoryPart::kPlans, [&](std::uint64_t) {
    std::optional<Reservation> dropped;
    const base::MutexLock lock(mutex);
    dropped.swap(cached);
  });
  Request request(*budget, kStreams, 60);
  EXPECT_FALSE(request.answered.try_wait());
  {
    const base::MutexLock lock(mutex);
    cached.swap(held);  // nothing is given back by this
  }
  request.answered.wait();
  EXPECT_TRUE(request.granted());
  budget->EndWaiting();
}

TEST(MemoryBudgetTest, ACancelledRequestLetsThoseBehindItPass) {
  const auto budget = MemoryBudget::Undivided(100);
  const auto held = budget->TryReserve(kReports, 50);
  absl::Status answer;
  const auto large = budget->ReserveLater(kStreams, 90, Clock::now() + kLong,
                                          [&answer](auto reserved) { answer = reserved.status(); });
  Request small(*budget, kImports, 10);
  EXPECT_FALSE(small.answered.try_wait());
  budget->Cancel(large);
  EXPECT_THAT(answer, StatusIs(absl::StatusCode::kCancelled));
  EXPECT_TRUE(small.granted());
  EXPECT_EQ(budget->waiting(), 0);
  budget->Cancel(large);  // which is none any more
}

TEST(MemoryBudgetTest, TheBudgetMayGoWithTheRequestThatItRefuses) {
  for (int round = 0; round < 20; ++round) {
    std::latch gone(1);
    {
      // Goes behind the budget, with the last of what the call holds.
      const std::shared_ptr<void> last(nullptr, [&gone](void*) { gone.count_down(); });
      auto budget = MemoryBudget::Undivided(100);
      MemoryBudget& borrowed = *budget;
      const auto held = std::make_shared<Reservation>(*budget->TryReserve(kReports, 100));
      borrowed.ReserveLater(kStreams, 1, Clock::now() + std::chrono::milliseconds(1),
                            [last, held, budget = std::move(budget)](const auto&) {});
    }
    gone.wait();  // and the thread that refused it touches the budget no more
  }
}

TEST(MemoryBudgetTest, NobodyWaitsOnceTheWaitingEnds) {
  const auto budget = MemoryBudget::Undivided(100);
  const auto held = budget->TryReserve(kReports, 100);
  Request request(*budget, kStreams, 1);
  budget->EndWaiting();
  EXPECT_THAT(request.answer, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(budget->Reserve(kStreams, 1, Clock::now() + kLong), StatusIs(absl::StatusCode::kUnavailable));
}

TEST(MemoryBudgetTest, ManyThreadsNeverTakeMoreThanThereIs) {
  constexpr std::uint64_t kCap = 1'000;
  const auto budget = MemoryBudget::Undivided(kCap);
  std::atomic<std::uint64_t> held = 0, most = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t k = 0; k < 8; ++k) {
    threads.emplace_back([&, k] {
      for (std::uint64_t n = 0; n < 500; ++n) {
        const std::uint64_t bytes = 1 + (k * 131 + n * 37) % (kCap / 2);
        const auto memory =
            budget->Reserve(static_cast<MemoryPart>(n % kMemoryParts), bytes, Clock::now() + kLong);
        ASSERT_THAT(memory, IsOk());
        const std::uint64_t now = held += bytes;
        for (std::uint64_t seen = most; now > seen && !most.compare_exchange_weak(seen, now);) continue;
        held -= bytes;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most, kCap);
  EXPECT_LE(budget->peak_bytes(), kCap);
  EXPECT_EQ(budget->used_bytes(), 0);
}

}  // namespace
}  // namespace packtrain::limits
