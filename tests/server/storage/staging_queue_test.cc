#include "server/storage/staging_queue.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <new>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
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
using ::testing::SizeIs;

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

// A task that calls `begin`, and has nothing left to do.
template <typename Begin>
StagingQueue::Task TaskOf(Begin begin) {
  return [begin] {
    begin();
    return StagingQueue::Rest([] { return absl::OkStatus(); });
  };
}

// A task with nothing to do but `rest`.
StagingQueue::Task RestAlone(StagingQueue::Rest rest) {
  return [rest = std::move(rest)] { return rest; };
}

TEST(StagingQueueTest, ATaskBeginsBehindTheRecordsBeforeIt) {
  Written written;
  StagingQueue queue(written.Note(), written.Write());
  std::vector<std::size_t> seen;
  const auto look = [&] { seen.push_back(written.records().size()); };
  queue.Then(TaskOf(look));
  for (int k = 0; k < 3; ++k) {
    for (int record = 0; record < 10; ++record) ASSERT_THAT(queue.Add(AsBytes("abc")), IsOk());
    queue.Then(TaskOf(look));
  }
  ASSERT_THAT(queue.Add(AsBytes("abc")), IsOk());
  EXPECT_THAT(queue.AwaitTasks(), IsOk());
  EXPECT_THAT(seen, ElementsAre(0, 10, 20, 30));
  ASSERT_THAT(queue.Drain(), IsOk());
}

TEST(StagingQueueTest, RecordsAreWrittenWhileTheRestOfATaskIsUnderWay) {
  Written written;
  std::latch may_end(1);
  bool ended = false;
  StagingQueue queue(written.Note(), written.Write());
  queue.Then(RestAlone([&] {
    may_end.wait();
    ended = true;
    return absl::OkStatus();
  }));
  // More than may wait to be written.
  const std::string record(StagingQueue::kChunkBytes, 'x');
  for (int k = 0; k < 12; ++k) ASSERT_THAT(queue.Add(AsBytes(record)), IsOk());
  may_end.count_down();
  ASSERT_THAT(queue.Drain(), IsOk());
  EXPECT_THAT(written.records(), SizeIs(12));
  EXPECT_TRUE(ended);
}

TEST(StagingQueueTest, ATaskBeginsOnceTheOneBeforeItIsDone) {
  Written written;
  std::vector<std::string> did;
  StagingQueue queue(written.Note(), written.Write());
  for (const char* name : {"a", "b", "c"}) {
    queue.Then([&did, name]() -> StagingQueue::Rest {
      did.push_back(absl::StrCat("begin ", name));
      return [&did, name] {
        did.push_back(absl::StrCat("end ", name));
        return absl::OkStatus();
      };
    });
  }
  ASSERT_THAT(queue.AwaitTasks(), IsOk());
  EXPECT_THAT(did, ElementsAre("begin a", "end a", "begin b", "end b", "begin c", "end c"));
}

TEST(StagingQueueTest, BehindAFailureNothingIsWrittenAndNoTaskBegins) {
  for (const auto& [bad, code] : {std::pair("bad", absl::StatusCode::kDataLoss),
                                  std::pair("huge", absl::StatusCode::kResourceExhausted)}) {
    Written written;
    StagingQueue queue(written.Note(), written.Write());
    ASSERT_THAT(queue.Add(AsBytes("a")), IsOk());
    ASSERT_THAT(queue.Add(AsBytes(bad)), IsOk());
    bool began = false;
    queue.Then(TaskOf([&] { began = true; }));
    EXPECT_THAT(queue.AwaitTasks(), StatusIs(code));
    queue.Then(TaskOf([&] { began = true; }));
    const std::string record(StagingQueue::kChunkBytes, 'x');
    ASSERT_THAT(queue.Add(AsBytes(record)), IsOk());
    EXPECT_THAT(queue.Add(AsBytes(record)), StatusIs(code));
    EXPECT_THAT(queue.Drain(), StatusIs(code));
    EXPECT_THAT(written.records(), ElementsAre("a"));
    EXPECT_FALSE(began);
  }
}

TEST(StagingQueueTest, AFailureOfATaskOrItsRestIsThatOfWhatComesNext) {
  const auto fail = [] { return absl::DataLossError("the disk"); };
  const StagingQueue::Task tasks[] = {fail, RestAlone(fail),
                                      RestAlone([]() -> absl::Status { throw std::bad_alloc(); })};
  for (const StagingQueue::Task& task : tasks) {
    Written written;
    StagingQueue queue(written.Note(), written.Write());
    ASSERT_THAT(queue.Add(AsBytes("a")), IsOk());
    queue.Then(task);
    const absl::Status failure = queue.AwaitTasks();
    EXPECT_THAT(failure, ::testing::Not(IsOk()));
    const std::string record(2 * StagingQueue::kChunkBytes, 'x');
    EXPECT_EQ(queue.Add(AsBytes(record)), failure);
    EXPECT_EQ(queue.Drain(), failure);
    EXPECT_THAT(written.records(), ElementsAre("a"));
  }
}

TEST(StagingQueueTest, ADrainFailsAsTheRestOfATaskThatEndsMeanwhile) {
  Written written;
  std::latch may_end(1);
  StagingQueue queue(written.Note(), written.Write());
  queue.Then(RestAlone([&] {
    may_end.wait();
    return absl::DataLossError("the disk");
  }));
  std::thread ender([&] { may_end.count_down(); });
  EXPECT_THAT(queue.Drain(), StatusIs(absl::StatusCode::kDataLoss));
  ender.join();
}

TEST(StagingQueueTest, NothingBeginsBehindATaskWhoseRestFailed) {
  Written written;
  std::latch may_fail(1);
  bool began = false;
  StagingQueue queue(written.Note(), written.Write());
  queue.Then(RestAlone([&] {
    may_fail.wait();
    return absl::DataLossError("the disk");
  }));
  ASSERT_THAT(queue.Add(AsBytes("a")), IsOk());
  queue.Then([&]() -> absl::StatusOr<StagingQueue::Rest> {
    began = true;
    return StagingQueue::Rest();
  });
  may_fail.count_down();
  EXPECT_THAT(queue.AwaitTasks(), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_FALSE(began);
  EXPECT_THAT(written.records(), ElementsAre());
}

TEST(StagingQueueTest, ATaskMayHaveNoRest) {
  Written written;
  StagingQueue queue(written.Note(), written.Write());
  queue.Then([] { return StagingQueue::Rest(); });
  EXPECT_THAT(queue.AwaitTasks(), IsOk());
  ASSERT_THAT(queue.Add(AsBytes("a")), IsOk());
  queue.Then([] { return StagingQueue::Rest(); });
  EXPECT_THAT(queue.Drain(), IsOk());
  EXPECT_THAT(written.records(), ElementsAre("a"));
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
