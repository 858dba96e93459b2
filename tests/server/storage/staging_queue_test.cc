#include "server/storage/staging_queue.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "tests/testing/eventually.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

using ::packtrain::testing::Eventually;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::span<const std::byte> AsBytes(std::string_view text) { return std::as_bytes(std::span(text)); }

// Notes what is written. Used by whatever thread writes.
class Written {
 public:
  StagingQueue::Write Write() {
    return [this](std::span<const std::byte> records, std::span<const std::uint32_t> sizes) {
      may_write_.wait(false);
      std::string_view rest(reinterpret_cast<const char*>(records.data()), records.size());
      for (const std::uint32_t size : sizes) {
        if (rest.substr(0, size) == "bad") return absl::DataLossError("the disk");
        if (rest.substr(0, size) == "huge") throw std::bad_alloc();
        records_.emplace_back(rest.substr(0, size));
        rest.remove_prefix(size);
      }
      EXPECT_TRUE(rest.empty());
      writers_.insert(std::this_thread::get_id());
      return absl::OkStatus();
    };
  }

  StagingQueue::Note Note() {
    return [this](std::span<const std::byte> records) {
      noters_.insert(std::this_thread::get_id());
      noted_.append(reinterpret_cast<const char*>(records.data()), records.size());
    };
  }

  const std::vector<std::string>& records() const { return records_; }
  // Of the records that were noted, end to end.
  const std::string& noted() const { return noted_; }
  const std::set<std::thread::id>& noters() const { return noters_; }
  const std::set<std::thread::id>& writers() const { return writers_; }

  void LetWrite(bool may) {
    may_write_ = may;
    may_write_.notify_all();
  }

 private:
  std::string noted_;
  std::set<std::thread::id> noters_;
  std::atomic<bool> may_write_ = true;
  std::vector<std::string> records_;
  std::set<std::thread::id> writers_;
};

TEST(StagingQueueTest, WritesAllRecordsInTheirOrder) {
  Written written;
  StagingQueue queue(written.Note(), written.Write());
  std::vector<std::string> records;
  std::uint64_t bytes = 0;
  for (std::uint32_t k = 0; bytes < 20 * StagingQueue::kChunkBytes; ++k) {
    records.emplace_back(k * 7919 % 40'000, static_cast<char>('a' + k % 26));
    bytes += records.back().size();
    ASSERT_THAT(queue.Add(AsBytes(records.back())), IsOk());
  }
  EXPECT_TRUE(queue.HoldsRecords());
  ASSERT_THAT(queue.Drain(), IsOk());
  EXPECT_FALSE(queue.HoldsRecords());
  EXPECT_EQ(written.records(), records);
  EXPECT_EQ(written.noted(), absl::StrJoin(records, ""));
  EXPECT_THAT(written.noters(), ElementsAre(std::this_thread::get_id()));
}

TEST(StagingQueueTest, RecordsWithoutBytesAndOfMoreThanAChunkKeepTheirPlaces) {
  Written written;
  StagingQueue queue(written.Note(), written.Write());
  const std::string huge(3 * StagingQueue::kChunkBytes, 'x'), full(StagingQueue::kChunkBytes, 'y');
  for (const std::string_view record : {"a", "", huge.c_str(), "b", full.c_str(), "c"})
    ASSERT_THAT(queue.Add(AsBytes(record)), IsOk());
  ASSERT_THAT(queue.Drain(), IsOk());
  EXPECT_THAT(written.records(), ElementsAre("a", "", huge, "b", full, "c"));
  EXPECT_EQ(written.noted(), "a" + huge + "b" + full + "c");
}

TEST(StagingQueueTest, FewRecordsAreWrittenByTheCaller) {
  Written written;
  StagingQueue queue(written.Note(), written.Write());
  ASSERT_THAT(queue.Add(AsBytes("a")), IsOk());
  EXPECT_TRUE(written.records().empty());
  ASSERT_THAT(queue.Drain(), IsOk());
  EXPECT_THAT(written.records(), ElementsAre("a"));
  EXPECT_THAT(written.writers(), ElementsAre(std::this_thread::get_id()));
}

TEST(StagingQueueTest, CanGoOnBehindADrain) {
  Written written;
  StagingQueue queue(written.Note(), written.Write());
  const std::string record(StagingQueue::kChunkBytes / 2, 'x');
  for (int round = 0; round < 3; ++round) {
    for (int k = 0; k < 10; ++k) ASSERT_THAT(queue.Add(AsBytes(record)), IsOk());
    ASSERT_THAT(queue.Drain(), IsOk());
  }
  EXPECT_EQ(written.records(), std::vector<std::string>(30, record));
}

TEST(StagingQueueTest, WhoeverAddsWaitsWhileAsMuchIsUnwrittenAsMayBe) {
  Written written;
  written.LetWrite(false);
  StagingQueue queue(written.Note(), written.Write());
  std::atomic<std::uint64_t> added = 0;
  std::thread adder([&] {
    const std::string record(1000, 'x');
    for (int k = 0; k < 5000; ++k) {
      ASSERT_THAT(queue.Add(AsBytes(record)), IsOk());
      added += record.size();
    }
  });
  EXPECT_TRUE(Eventually([&] { return added + 2 * StagingQueue::kChunkBytes > StagingQueue::kMaxBytes; }));
  EXPECT_LE(added, StagingQueue::kMaxBytes);
  written.LetWrite(true);
  adder.join();
  ASSERT_THAT(queue.Drain(), IsOk());
  EXPECT_EQ(written.records().size(), 5000u);
}

TEST(StagingQueueTest, ATaskRunsBehindTheRecordsBeforeIt) {
  Written written;
  StagingQueue queue(written.Note(), written.Write());
  std::vector<std::size_t> seen;
  const auto look = [&] { seen.push_back(written.records().size()); };
  queue.Then(look);
  for (int k = 0; k < 3; ++k) {
    for (int record = 0; record < 10; ++record) ASSERT_THAT(queue.Add(AsBytes("abc")), IsOk());
    queue.Then(look);
  }
  ASSERT_THAT(queue.Add(AsBytes("abc")), IsOk());
  queue.AwaitTasks();
  EXPECT_THAT(seen, ElementsAre(0, 10, 20, 30));
  ASSERT_THAT(queue.Drain(), IsOk());
}

TEST(StagingQueueTest, BehindAFailureNothingIsWrittenAndNoTaskRuns) {
  for (const auto& [bad, code] : {std::pair("bad", absl::StatusCode::kDataLoss),
                                  std::pair("huge", absl::StatusCode::kResourceExhausted)}) {
    Written written;
    StagingQueue queue(written.Note(), written.Write());
    ASSERT_THAT(queue.Add(AsBytes("a")), IsOk());
    ASSERT_THAT(queue.Add(AsBytes(bad)), IsOk());
    bool ran = false;
    queue.Then([&] { ran = true; });
    queue.AwaitTasks();
    queue.Then([&] { ran = true; });
    const std::string record(StagingQueue::kChunkBytes, 'x');
    ASSERT_THAT(queue.Add(AsBytes(record)), IsOk());
    EXPECT_THAT(queue.Add(AsBytes(record)), StatusIs(code));
    EXPECT_THAT(queue.Drain(), StatusIs(code));
    EXPECT_THAT(written.records(), ElementsAre("a"));
    EXPECT_FALSE(ran);
  }
}

TEST(StagingQueueTest, AFailureOfTheCallersOwnWriteStays) {
  Written written;
  StagingQueue queue(written.Note(), written.Write());
  ASSERT_THAT(queue.Add(AsBytes("bad")), IsOk());
  EXPECT_THAT(queue.Drain(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("the disk")));
  EXPECT_THAT(queue.Drain(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("the disk")));
}

TEST(StagingQueueTest, WhatIsNotWrittenIsDroppedAtTheEnd) {
  Written written;
  written.LetWrite(false);
  {
    StagingQueue queue(written.Note(), written.Write());
    const std::string record(StagingQueue::kChunkBytes, 'x');
    for (int k = 0; k < 3; ++k) ASSERT_THAT(queue.Add(AsBytes(record)), IsOk());
    written.LetWrite(true);
  }
  EXPECT_LE(written.records().size(), 2u);
}

}  // namespace
}  // namespace packtrain::storage
