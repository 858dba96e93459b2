#include "server/batches/shared_batches.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "proto/wire/aligned_bytes.h"
#include "server/limits/memory_budget.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::batches {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;

constexpr std::uint64_t kPlenty = 1 << 30;
constexpr std::uint64_t kBodyBytes = 100;

const std::shared_ptr<limits::MemoryBudget> memory = limits::MemoryBudget::Undivided(kPlenty);

// Builds batches that hold their index, and counts them.
class Builds {
 public:
  absl::StatusOr<BuiltBatch> Build(std::uint64_t index) {
    ++count_;
    BuiltBatch batch;
    batch.header.index = index;
    batch.header.body_bytes = kBodyBytes;
    const auto bytes = std::make_shared<wire::AlignedBytes>(wire::AllocateAligned(kBodyBytes));
    std::memset(bytes->get(), static_cast<int>(index), kBodyBytes);
    batch.body = std::shared_ptr<const std::byte>(bytes, bytes->get());
    return batch;
  }

  // Asks `reader` for batch `index` of `epoch`, which must be the right one.
  BuiltBatch Get(SharedBatches::Reader& reader, std::uint64_t index, std::uint64_t epoch = 0) {
    const absl::StatusOr<BuiltBatch> batch =
        reader.Get(epoch, index, /*quick=*/true, [&] { return Build(index); });
    EXPECT_THAT(batch, IsOk());
    EXPECT_EQ(batch->header.index, index);
    EXPECT_EQ(std::to_integer<std::uint64_t>(batch->body.get()[kBodyBytes - 1]), index % 256);
    return *batch;
  }

  int count() const { return count_; }

 private:
  std::atomic<int> count_ = 0;
};

TEST(SharedBatches, OfOneReaderNothingIsKept) {
  SharedBatches batches(kPlenty, *memory);
  SharedBatches::Reader reader(batches, "plan");
  Builds builds;
  builds.Get(reader, 0);
  builds.Get(reader, 0);
  EXPECT_EQ(builds.count(), 2);
  EXPECT_EQ(batches.kept_bytes(), 0u);
}

TEST(SharedBatches, ReadersOfOnePlanBuildEachBatchOnce) {
  SharedBatches batches(kPlenty, *memory);
  SharedBatches::Reader a(batches, "plan"), b(batches, "plan"), c(batches, "plan");
  Builds builds;
  for (std::uint64_t index = 0; index < 5; ++index) {
    const BuiltBatch first = builds.Get(a, index);
    EXPECT_EQ(builds.Get(b, index).body, first.body);
    EXPECT_EQ(builds.Get(c, index).body, first.body);
  }
  EXPECT_EQ(builds.count(), 5);
}

TEST(SharedBatches, ReadersAtOneTimeBuildEachBatchOnce) {
  constexpr std::uint64_t kBatches = 500;
  SharedBatches batches(kPlenty, *memory);
  std::vector<std::unique_ptr<SharedBatches::Reader>> readers;
  for (int k = 0; k < 8; ++k) readers.push_back(std::make_unique<SharedBatches::Reader>(batches, "plan"));
  Builds builds;
  std::vector<std::thread> threads;
  for (const auto& reader : readers) {
    threads.emplace_back([&] {
      for (std::uint64_t index = 0; index < kBatches; ++index) builds.Get(*reader, index);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(builds.count(), static_cast<int>(kBatches));
}

TEST(SharedBatches, PlansAndEpochsAreApart) {
  SharedBatches batches(kPlenty, *memory);
  SharedBatches::Reader a(batches, "one"), b(batches, "one"), c(batches, "other"), d(batches, "other");
  Builds builds;
  builds.Get(a, 0);
  builds.Get(c, 0);
  builds.Get(a, 0, /*epoch=*/1);
  EXPECT_EQ(builds.count(), 3);
}

TEST(SharedBatches, AReaderFarBehindBuildsForItself) {
  const std::uint64_t capacity = wire::BodyPool::CapacityOf(kBodyBytes);
  SharedBatches batches(2 * capacity, *memory);
  SharedBatches::Reader ahead(batches, "plan"), behind(batches, "plan");
  Builds builds;
  for (std::uint64_t index = 0; index < 5; ++index) {
    builds.Get(ahead, index);
    EXPECT_LE(batches.kept_bytes(), 2 * capacity);
  }
  builds.Get(behind, 4);
  builds.Get(behind, 3);
  EXPECT_EQ(builds.count(), 5);
  builds.Get(behind, 2);
  EXPECT_EQ(builds.count(), 6);
}

TEST(SharedBatches, WhatIsStillBeingSentIsSharedHoweverOld) {
  SharedBatches batches(0, *memory);
  SharedBatches::Reader a(batches, "plan"), b(batches, "plan");
  Builds builds;
  const BuiltBatch sent = builds.Get(a, 0);
  for (std::uint64_t index = 1; index < 100; ++index) builds.Get(a, index);
  EXPECT_EQ(builds.Get(b, 0).body, sent.body);
}

TEST(SharedBatches, NothingIsKeptForOneThatIsLeft) {
  SharedBatches batches(kPlenty, *memory);
  SharedBatches::Reader a(batches, "plan");
  std::optional<SharedBatches::Reader> b(std::in_place, batches, "plan");
  Builds builds;
  builds.Get(a, 0);
  EXPECT_GT(batches.kept_bytes(), 0u);
  b.reset();
  EXPECT_EQ(batches.kept_bytes(), 0u);
}

TEST(SharedBatches, WhatIsKeptGivesWayToThoseWhoNeedTheMemoryAndWhatIsSentStays) {
  const std::uint64_t capacity = wire::BodyPool::CapacityOf(kBodyBytes);
  const auto budget = limits::MemoryBudget::Undivided(3 * capacity + capacity / 2);
  SharedBatches batches(kPlenty, *budget);
  SharedBatches::Reader a(batches, "plan"), b(batches, "plan");
  Builds builds;
  const auto build = [&](std::uint64_t index) {
    return [&, index] {
      absl::StatusOr<BuiltBatch> batch = builds.Build(index);
      const auto held =
          std::make_shared<std::pair<std::shared_ptr<const std::byte>, limits::MemoryBudget::Reservation>>(
              batch->body, *budget->TryReserve(limits::MemoryPart::kStreams, capacity));
      batch->body = std::shared_ptr<const std::byte>(held, held->first.get());
      return batch;
    };
  };
  const BuiltBatch sent = *a.Get(0, 0, /*quick=*/true, build(0));
  for (const std::uint64_t index : {1, 2}) ASSERT_THAT(a.Get(0, index, /*quick=*/true, build(index)), IsOk());
  EXPECT_EQ(budget->used_bytes(), 3 * capacity);
  EXPECT_TRUE(budget->TryReserve(limits::MemoryPart::kReports, 2 * capacity).has_value());
  EXPECT_EQ(budget->used_bytes(), capacity);
  EXPECT_EQ(b.Get(0, 0, /*quick=*/true, build(0))->body, sent.body);
  budget->EndWaiting();
}

TEST(SharedBatches, AFailureIsItsBuildersAlone) {
  SharedBatches batches(kPlenty, *memory);
  SharedBatches::Reader a(batches, "plan"), b(batches, "plan");
  const auto fail = [] { return absl::StatusOr<BuiltBatch>(absl::DataLossError("graph 3 is damaged")); };
  EXPECT_THAT(a.Get(0, 0, true, fail), StatusIs(absl::StatusCode::kDataLoss));
  Builds builds;
  builds.Get(b, 0);
  builds.Get(a, 0);
  EXPECT_EQ(builds.count(), 1);
}

// A build that reads from disk must not hold up a thread that must not block.
TEST(SharedBatches, AQuickCallDoesNotWaitForASlowOne) {
  SharedBatches batches(kPlenty, *memory);
  SharedBatches::Reader slow(batches, "plan"), quick(batches, "plan");
  Builds builds;
  EXPECT_THAT(slow.Get(0, 0, /*quick=*/false,
                       [&] {
                         builds.Get(quick, 0);  // would never return if it waited
                         return builds.Build(0);
                       }),
              IsOk());
  EXPECT_EQ(builds.count(), 2);
}

}  // namespace
}  // namespace packtrain::batches
