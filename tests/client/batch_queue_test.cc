#include "client/internal/batch_queue.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <future>
#include <utility>
#include <vector>

#include "tests/proto/wire/sample_batches.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::client {
namespace {

using testing::EmptyBatch;
using testing::IsOk;
using testing::PlainBatch;
using testing::StatusIs;

constexpr std::uint64_t kBodyBytes = 1'024;

wire::Batch BatchAt(std::uint64_t index) {
  PlainBatch batch = EmptyBatch();
  batch.header.index = index;
  batch.AddSection("pos", wire::DType::kU8, {kBodyBytes}, std::vector<std::uint8_t>(kBodyBytes));
  return batch.Unchecked();
}

std::uint64_t BodyBytes() { return BatchAt(0).body().size(); }

void Fill(BatchQueue& queue, std::uint64_t batches) {
  for (std::uint64_t index = 0; index < batches; ++index) ASSERT_TRUE(queue.Put(BatchAt(index)));
}

void ExpectNext(BatchQueue& queue, std::uint64_t index) {
  const absl::StatusOr<std::optional<wire::Batch>> batch = queue.Take();
  ASSERT_THAT(batch, IsOk());
  ASSERT_TRUE(batch->has_value());
  EXPECT_EQ((*batch)->header().index, index);
}

TEST(BatchQueue, IsFullOfItsNumberOfBatches) {
  BatchQueue queue({.batches = 3});
  Fill(queue, 2);
  EXPECT_TRUE(queue.takes_more());
  Fill(queue, 1);
  EXPECT_FALSE(queue.takes_more());
}

TEST(BatchQueue, IsFullOfItsBytes) {
  BatchQueue queue({.batches = 100, .bytes = 3 * BodyBytes()});
  Fill(queue, 2);
  EXPECT_TRUE(queue.takes_more());
  Fill(queue, 1);
  EXPECT_FALSE(queue.takes_more());
}

TEST(BatchQueue, TakesABatchOfMoreThanItsBytesAlone) {
  BatchQueue queue({.batches = 100, .bytes = 1});
  for (std::uint64_t index = 0; index < 3; ++index) {
    ASSERT_TRUE(queue.Put(BatchAt(index)));
    EXPECT_FALSE(queue.takes_more());
    ExpectNext(queue, index);
    EXPECT_TRUE(queue.takes_more());
  }
}

TEST(BatchQueue, TakesMoreOnceHalfOfItIsFree) {
  for (const ReadAhead& limit : {ReadAhead{.batches = 6}, {.batches = 100, .bytes = 6 * BodyBytes()}}) {
    BatchQueue queue(limit);
    Fill(queue, 6);
    for (std::uint64_t index = 0; index < 3; ++index) {
      EXPECT_FALSE(queue.takes_more()) << index;
      ExpectNext(queue, index);
    }
    EXPECT_TRUE(queue.takes_more());
  }
}

TEST(BatchQueue, ServesAllThatItHoldsWhileItsSourceStalls) {
  BatchQueue queue({.batches = 8});
  std::promise<void> full, resumed;
  auto source = std::async(std::launch::async, [&] {
    Fill(queue, 8);
    full.set_value();
    resumed.get_future().wait();
    Fill(queue, 8);
  });
  full.get_future().wait();
  for (std::uint64_t index = 0; index < 8; ++index) ExpectNext(queue, index);
  resumed.set_value();
  for (std::uint64_t index = 0; index < 8; ++index) ExpectNext(queue, index);
}

TEST(BatchQueue, KeepsTheOrderBetweenTwoThreads) {
  BatchQueue queue({.batches = 4});
  auto source = std::async(std::launch::async, [&] { Fill(queue, 1'000); });
  for (std::uint64_t index = 0; index < 1'000; ++index) ExpectNext(queue, index);
}

TEST(BatchQueue, EndsBehindItsLastBatch) {
  for (const absl::Status& outcome : {absl::OkStatus(), absl::DataLossError("bad block")}) {
    BatchQueue queue({.batches = 2});
    Fill(queue, 1);
    queue.End(outcome);
    ExpectNext(queue, 0);
    for (int again = 0; again < 2; ++again) {
      const absl::StatusOr<std::optional<wire::Batch>> end = queue.Take();
      EXPECT_THAT(end, StatusIs(outcome.code()));
      if (end.ok()) {
        EXPECT_FALSE(end->has_value());
      }
    }
  }
}

TEST(BatchQueue, ACancelEndsBothSides) {
  BatchQueue empty({.batches = 1}), full({.batches = 1});
  Fill(full, 1);
  auto take = std::async(std::launch::async, [&] { return empty.Take().status(); });
  auto put = std::async(std::launch::async, [&] { return full.Put(BatchAt(1)); });
  empty.Cancel();
  full.Cancel();
  EXPECT_THAT(take.get(), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_FALSE(put.get());
  EXPECT_THAT(full.Take(), StatusIs(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace packtrain::client
