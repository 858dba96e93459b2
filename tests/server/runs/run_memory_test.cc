// What RocksRunStore holds in memory of its runs, which is bounded whatever their clients report.
#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "server/runs/run_limits.h"
#include "server/runs/run_records.h"
#include "tests/server/runs/run_fixtures.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"

namespace packtrain::runs {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::packtrain::testing::TempFolder;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;

// Every second step, from `first` on.
std::vector<wire::StepRecord> StepsWithGaps(std::uint64_t first, std::size_t count) {
  std::vector<wire::StepRecord> steps;
  for (std::size_t k = 0; k < count; ++k) steps.push_back(Step(first + 2 * k, 1'000'000));
  return steps;
}

class RunMemory : public ::testing::Test {
 protected:
  RunMemory() { Open(); }

  void Open(std::size_t coverage_bytes = std::size_t{16} << 20) {
    store_.reset();
    RocksRunStoreOptions options;
    options.coverage_bytes = coverage_bytes;
    store_ = *RocksRunStore::Open(directory(), options);
  }
  absl::Status Fail(const std::string& run, const std::string& message) {
    RunStore& store = *store_;
    return store.Finish(run, v1::RUN_STATE_FAILED, message);
  }
  std::string directory() const { return folder_.PathOf("runs"); }

  const TempFolder folder_;
  std::unique_ptr<RocksRunStore> store_;
};

TEST_F(RunMemory, AFinishedRunOfThousandsOfGapsAndAttemptsTakesAtMost16Kilobytes) {
  constexpr std::uint32_t kAttempts = 2'000, kStepsOfAttempt = 20;
  constexpr std::size_t kManySteps = 5'000;
  const std::uint64_t empty = store_->held_bytes();
  v1::StartRunRequest request = StartRequest(std::string(kMaxTextBytes, 'k'));
  Reporter last;
  for (std::uint32_t attempt = 0; attempt < kAttempts; ++attempt) {
    request.set_process_key(std::string(kMaxTextBytes - 8, 'p') + std::to_string(attempt));
    last = StartRun(*store_, request);
    EXPECT_EQ(last.attempt, attempt);
    ASSERT_THAT(store_->AddSteps(last, StepsWithGaps(0, kStepsOfAttempt)), IsOk());
  }
  ASSERT_THAT(store_->AddSteps(last, StepsWithGaps(0, kManySteps)), IsOk());
  EXPECT_GT(store_->held_bytes() - empty, kMaxRunBytes);  // it has what it compares reports with
  EXPECT_EQ(store_->Get(last.run)->steps(), kManySteps);
  ASSERT_THAT(Fail(last.run, std::string(kMaxMessageBytes, 'm')), IsOk());
  for (int opened = 0; opened < 2; ++opened) {
    EXPECT_THAT(store_->held_bytes() - empty, Le(kMaxRunBytes));
    EXPECT_EQ(store_->Get(last.run)->attempts(), kAttempts);
    EXPECT_THAT(*store_->ReadAttempts(last.run), SizeIs(kAttempts));
    Open();
  }
}

TEST_F(RunMemory, TheLargestDescriptionAndMessageTakeAtMost16Kilobytes) {
  v1::StartRunRequest request = StartRequest(std::string(kMaxTextBytes, 'k'));
  v1::RunDescription& description = *request.mutable_description();
  for (int k = 0; ValidateStart(request).ok(); ++k) {
    (*description.mutable_labels())[std::to_string(k)] = std::string(500, 'x');
  }
  ASSERT_THAT(ValidateStart(request), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("at most 13312")));
  description.mutable_labels()->erase(std::to_string(description.labels().size() - 1));
  const std::uint64_t empty = store_->held_bytes();
  const std::string run = StartRun(*store_, request).run;
  std::string message;
  while (message.size() + 3 <= kMaxMessageBytes) message += "€";
  ASSERT_THAT(Fail(run, message), IsOk());
  EXPECT_THAT(store_->held_bytes() - empty, Le(kMaxRunBytes));
  const std::string kept = store_->Get(run)->message();
  EXPECT_THAT(kept, EndsWith("€..."));
  EXPECT_EQ(message.substr(0, kept.size() - 3) + "...", kept);
  Open();
  EXPECT_EQ(store_->Get(run)->message(), kept);
}

TEST_F(RunMemory, AMessageIsKeptWholeBesideAnOrdinaryDescription) {
  const std::string run = StartRun(*store_, StartRequest("key-00000001")).run;
  const std::string message(kMaxMessageBytes, 'm');
  ASSERT_THAT(Fail(run, message), IsOk());
  EXPECT_EQ(store_->Get(run)->message(), message);
}

TEST_F(RunMemory, AReportThatLeavesTooManyGapsIsRefusedAndOneThatFillsThemIsTaken) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  const std::vector<wire::StepRecord> most = StepsWithGaps(0, kMaxBlockRows);
  ASSERT_THAT(store_->AddSteps(rank, most), IsOk());
  const std::uint64_t behind = 2 * kMaxBlockRows;
  ASSERT_THAT(store_->AddSteps(rank, StepsWithGaps(behind, 1)), IsOk());  // as many gaps as there may be
  for (int opened = 0; opened < 2; ++opened) {
    EXPECT_THAT(store_->AddSteps(rank, StepsWithGaps(behind + 2, 1)),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("leaves 65537 gaps between the stored steps of run " + rank.run +
                                   ", at most 65536 are taken")));
    EXPECT_EQ(store_->Get(rank.run)->steps(), kMaxBlockRows + 1);
    EXPECT_THAT(store_->AddSteps(rank, most), IsOk());  // what is stored, again
    Open();
  }
  EXPECT_THAT(store_->AddSteps(rank, Steps(behind + 1, behind + 100)), IsOk());
  EXPECT_THAT(store_->AddSteps(rank, Steps(0, 2)), IsOk());
  EXPECT_THAT(store_->AddSteps(rank, StepsWithGaps(behind + 102, 1)), IsOk());
  EXPECT_EQ(store_->Get(rank.run)->steps(), kMaxBlockRows + 1 + 100 + 1 + 1);
}

TEST_F(RunMemory, ARankThatHasOpenedTooManyAttemptsOpensNoMore) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  request.set_process_key("process a");
  const std::string run = StartRun(*store_, request).run;
  store_.reset();
  std::vector<rocks::Change> attempts;
  for (std::uint32_t attempt = 1; attempt < kMaxAttempts; ++attempt) {
    attempts.push_back(AttemptEntry({run, 0, attempt}, StartRequest("key-00000001")));
  }
  ASSERT_THAT((*OpenRunDatabase(directory(), {}))->Write(attempts, rocks::Durability::kDisk), IsOk());
  Open();
  EXPECT_EQ(StartRun(*store_, request).attempt, 0u);  // a repeated call
  request.set_process_key("process b");
  EXPECT_THAT(store_->Start(request),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("rank 0 of run " + run +
                                                                        " has opened 10000 attempts, "
                                                                        "at most 10000 are taken")));
}

TEST_F(RunMemory, RunsThatReportShareABoundedAmountAndCountEachStepOnce) {
  constexpr std::size_t kCoverageBytes = 100'000;
  constexpr int kRuns = 20;
  Open(kCoverageBytes);
  std::vector<Reporter> ranks;
  for (int k = 0; k < kRuns; ++k) {
    ranks.push_back(StartRun(*store_, StartRequest("key-0000000" + std::to_string(k))));
  }
  for (int sent = 0; sent < 2; ++sent) {
    for (const Reporter& rank : ranks) {
      ASSERT_THAT(store_->AddSteps(rank, StepsWithGaps(0, 300)), IsOk());
      EXPECT_THAT(store_->held_bytes(), Le(kCoverageBytes + kRuns * kMaxRunBytes));
    }
  }
  for (const Reporter& rank : ranks) {
    ASSERT_THAT(store_->AddSteps(rank, Steps(0, 9)), IsOk());
    EXPECT_EQ(store_->Get(rank.run)->steps(), 305u);
    EXPECT_THAT(StoredSteps(*store_, rank.run), SizeIs(305));
  }
}

TEST_F(RunMemory, AnEmptyStoreHoldsNothing) {
  EXPECT_THAT(*store_->List(), IsEmpty());
  EXPECT_EQ(store_->held_bytes(), 0u);
}

}  // namespace
}  // namespace packtrain::runs
