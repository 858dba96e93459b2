// The contract of RunStore: blocks of steps.
#include <gmock/gmock.h>

#include <limits>
#include <thread>

#include "tests/server/runs/run_store_conformance.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::runs {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST_F(RunStoreConformance, TheSameBlockAgainCountsOnce) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  EXPECT_THAT(*Add(rank, 0, 9), 9u);
  EXPECT_THAT(*Add(rank, 0, 9), 9u);
  EXPECT_EQ(Get(rank.run).steps(), 10u);
  EXPECT_THAT(StoredSteps(*store_, rank.run), SizeIs(10));
}

TEST_F(RunStoreConformance, AShorterOverlappingOrReorderedBlockLosesNothingAndCountsOnce) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  EXPECT_EQ(*Add(rank, 20, 29), 29u);
  EXPECT_EQ(*Add(rank, 0, 9), 29u);
  EXPECT_EQ(*Add(rank, 0, 4), 29u);
  store_.Reopen();
  EXPECT_EQ(*Add(rank, 5, 24), 29u);
  EXPECT_EQ(Get(rank.run).steps(), 30u);
  const std::vector<StoredStep> stored = StoredSteps(*store_, rank.run);
  ASSERT_THAT(stored, SizeIs(30));
  for (std::uint64_t step = 0; step < 30; ++step) EXPECT_EQ(stored[step].step, step);
}

TEST_F(RunStoreConformance, InterleavedBlocksAreReadByStep) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  ASSERT_THAT(store_->AddSteps(rank, {Step(0, 1), Step(2, 1), Step(4, 1)}), IsOk());
  ASSERT_THAT(store_->AddSteps(rank, {Step(1, 1), Step(3, 1), Step(5, 1)}), IsOk());
  EXPECT_THAT(StoredSteps(*store_, rank.run),
              ElementsAre(StoredStep{0, 0, 0}, StoredStep{0, 0, 1}, StoredStep{0, 0, 2}, StoredStep{0, 0, 3},
                          StoredStep{0, 0, 4}, StoredStep{0, 0, 5}));
}

TEST_F(RunStoreConformance, TheFirstRecordOfAStepStays) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  ASSERT_THAT(store_->AddSteps(rank, {Step(0, 1)}), IsOk());
  ASSERT_THAT(store_->AddSteps(rank, {Step(0, 2)}), IsOk());
  ASSERT_THAT(store_->ReadSteps(rank.run,
                                [](const Reporter&, const std::vector<wire::StepRecord>& steps) {
                                  EXPECT_EQ(steps.front().total_ns, 1u);
                                  return absl::OkStatus();
                                }),
              IsOk());
}

TEST_F(RunStoreConformance, StepsCountOncePerRankZeroOverAttempts) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  request.mutable_description()->set_world_size(2);
  const Reporter first = StartRun(*store_, request);
  request.set_first_step(5);
  const Reporter second = StartRun(*store_, request);
  request.set_first_step(0);
  request.set_rank(1);
  const Reporter other = StartRun(*store_, request);
  ASSERT_THAT(Add(first, 0, 9), IsOk());
  ASSERT_THAT(Add(second, 5, 14), IsOk());
  ASSERT_THAT(Add(other, 0, 99), IsOk());
  EXPECT_EQ(Get(first.run).steps(), 15u);
  store_.Reopen();
  EXPECT_EQ(Get(first.run).steps(), 15u);
  EXPECT_THAT(StoredSteps(*store_, first.run), SizeIs(120));
}

TEST_F(RunStoreConformance, StepsAreReadByRankThenAttemptThenStep) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  request.mutable_description()->set_world_size(2);
  request.set_rank(1);
  const Reporter rank_1 = StartRun(*store_, request);
  request.set_rank(0);
  const Reporter rank_0 = StartRun(*store_, request);
  const Reporter rank_0_again = StartRun(*store_, request);
  ASSERT_THAT(Add(rank_1, 0, 0), IsOk());
  ASSERT_THAT(Add(rank_0_again, 1, 1), IsOk());
  ASSERT_THAT(Add(rank_0, 0, 1), IsOk());
  EXPECT_THAT(StoredSteps(*store_, rank_0.run),
              ElementsAre(StoredStep{0, 0, 0}, StoredStep{0, 0, 1}, StoredStep{0, 1, 1}, StoredStep{1, 0, 0}));
}

TEST_F(RunStoreConformance, EveryColumnOfAStepSurvives) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  const wire::StepRecord record = {.step = 7,
                                   .epoch = 1,
                                   .batch_index = 2,
                                   .real = {3, 4, 5},
                                   .padded = {6, 7, 8},
                                   .wait_ns = 9,
                                   .copy_ns = 10,
                                   .forward_ns = 11,
                                   .backward_ns = 12,
                                   .optimizer_ns = 13,
                                   .comm_ns = 14,
                                   .total_ns = 15,
                                   .server_build_ns = 16,
                                   .server_queue_ns = 17,
                                   .capture_ns = 18,
                                   .flags = 19,
                                   .loss = std::numeric_limits<double>::infinity()};
  ASSERT_THAT(store_->AddSteps(rank, {record}), IsOk());
  std::vector<wire::StepRecord> read;
  ASSERT_THAT(store_->ReadSteps(rank.run,
                                [&read](const Reporter&, const std::vector<wire::StepRecord>& steps) {
                                  read = steps;
                                  return absl::OkStatus();
                                }),
              IsOk());
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_EQ(read[0].step, 7u);
  EXPECT_EQ(read[0].epoch, 1u);
  EXPECT_EQ(read[0].batch_index, 2u);
  EXPECT_EQ(read[0].real, record.real);
  EXPECT_EQ(read[0].padded, record.padded);
  EXPECT_THAT((std::vector{read[0].wait_ns, read[0].copy_ns, read[0].forward_ns, read[0].backward_ns,
                           read[0].optimizer_ns, read[0].comm_ns, read[0].total_ns, read[0].server_build_ns,
                           read[0].server_queue_ns, read[0].capture_ns}),
              ElementsAre(9, 10, 11, 12, 13, 14, 15, 16, 17, 18));
  EXPECT_EQ(read[0].flags, 19u);
  EXPECT_EQ(read[0].loss, record.loss);
}

TEST_F(RunStoreConformance, BadBlocksAreRefused) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  const auto refused = [this](const Reporter& reporter, const std::vector<wire::StepRecord>& steps,
                              absl::StatusCode code, const std::string& message) {
    EXPECT_THAT(store_->AddSteps(reporter, steps), StatusIs(code, HasSubstr(message)));
  };
  const auto invalid = absl::StatusCode::kInvalidArgument;
  refused(rank, {}, invalid, "no step records");
  refused(rank, Steps(0, 65'536), invalid, "65537 step records, at most 65536");
  refused(rank, {Step(1, 1), Step(1, 1)}, invalid, "step 1 in row 1 follows step 1");
  refused({rank.run, 1, 0}, Steps(0, 1), invalid, "rank 1 is outside");
  refused({rank.run, 0, 1}, Steps(0, 1), absl::StatusCode::kFailedPrecondition, "has no attempt 1");
  refused({"nobody", 0, 0}, Steps(0, 1), absl::StatusCode::kNotFound, "no run nobody");
  EXPECT_EQ(Get(rank.run).steps(), 0u);
}

TEST_F(RunStoreConformance, StepsBeforeTheFirstOfTheirAttemptAreRefused) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  const Reporter first = StartRun(*store_, request);
  request.set_first_step(50);
  const Reporter second = StartRun(*store_, request);
  store_.Reopen();
  EXPECT_THAT(Add(second, 49, 60),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("step 49 lies before step 50")));
  EXPECT_THAT(Add(second, 50, 60), IsOk());
  EXPECT_THAT(Add(first, 0, 49), IsOk());  // what was left over
  EXPECT_EQ(Get(first.run).steps(), 61u);
}

TEST_F(RunStoreConformance, MoreRealThanPaddedIsRefusedWhereBothAreKnown) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  const auto refused = [&](wire::Shape real, wire::Shape padded, const std::string& message) {
    wire::StepRecord step = Step(0, 1);
    step.real = real;
    step.padded = padded;
    EXPECT_THAT(store_->AddSteps(rank, {step}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  };
  refused({5, 4, 3}, {4, 4, 3}, "step 0 holds 5 real graphs in 4 padded ones");
  refused({4, 5, 3}, {4, 4, 3}, "5 real nodes");
  refused({4, 4, 5}, {4, 4, 3}, "5 real edges");
  refused({5, 5, 5}, {0, 4, 0}, "5 real nodes");
  wire::StepRecord unknown = Step(0, 1);
  unknown.padded = {};
  EXPECT_THAT(store_->AddSteps(rank, {unknown}), IsOk());
}

TEST_F(RunStoreConformance, WarmUpIsByPlaceInTheAttempt) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  request.set_first_step(50);
  const Reporter rank = StartRun(*store_, request);
  std::vector<wire::StepRecord> steps = Steps(50, 61);
  for (wire::StepRecord& step : steps) step.flags = step.step < 60 ? 0u : wire::kWarmUp;
  ASSERT_THAT(store_->AddSteps(rank, steps), IsOk());
  store_.Reopen();
  std::vector<std::uint64_t> warm;
  ASSERT_THAT(store_->ReadSteps(rank.run,
                                [&warm](const Reporter&, const std::vector<wire::StepRecord>& read) {
                                  for (const wire::StepRecord& step : read) {
                                    if ((step.flags & wire::kWarmUp) != 0) warm.push_back(step.step);
                                  }
                                  return absl::OkStatus();
                                }),
              IsOk());
  EXPECT_THAT(warm, ElementsAre(50, 51, 52, 53, 54, 55, 56, 57, 58, 59));
}

TEST_F(RunStoreConformance, ASinkEndsTheReading) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  ASSERT_THAT(Add(rank, 0, 9), IsOk());
  ASSERT_THAT(Add(rank, 10, 19), IsOk());
  int calls = 0;
  EXPECT_THAT(store_->ReadSteps(rank.run,
                                [&calls](const Reporter&, const std::vector<wire::StepRecord>&) {
                                  ++calls;
                                  return absl::CancelledError("enough");
                                }),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(calls, 1);
}

TEST_F(RunStoreConformance, RanksReportAtTheSameTime) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  request.mutable_description()->set_world_size(4);
  std::vector<Reporter> reporters;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    request.set_rank(rank);
    reporters.push_back(StartRun(*store_, request));
  }
  std::vector<std::thread> threads;
  for (const Reporter& reporter : reporters) {
    threads.emplace_back([this, reporter] {
      for (std::uint64_t block = 0; block < 20; ++block) {
        EXPECT_THAT(Add(reporter, block * 50, block * 50 + 49), IsOk());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Get(reporters[0].run).steps(), 1000u);
  EXPECT_THAT(StoredSteps(*store_, reporters[0].run), SizeIs(4000));
}

}  // namespace
}  // namespace packtrain::runs
