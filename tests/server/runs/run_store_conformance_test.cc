// The contract of RunStore. It runs on RocksRunStore, reopened wherever that must make no difference.
#include <gmock/gmock.h>

#include <limits>
#include <thread>

#include "tests/server/runs/run_fixtures.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::runs {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

class RunStoreConformance : public ::testing::Test {
 protected:
  v1::Run Get(const std::string& run) {
    const absl::StatusOr<v1::Run> found = store_->Get(run);
    EXPECT_THAT(found, IsOk());
    return found.ok() ? *found : v1::Run();
  }

  absl::StatusOr<std::uint64_t> Add(const Reporter& reporter, std::uint64_t first, std::uint64_t last) {
    return store_->AddSteps(reporter, Steps(first, last));
  }

  TestRunStore store_;
};

using TextMap = google::protobuf::Map<std::string, std::string>;

void Put(TextMap* map, const std::string& key, const std::string& value) { map->insert({key, value}); }

void PutMany(TextMap* map, int count) {
  for (int i = 0; i < count; ++i) Put(map, std::to_string(i), std::string());
}

v1::Evaluation TestEvaluation(std::uint64_t step, const std::string& split, double mae) {
  v1::Evaluation evaluation;
  evaluation.set_step(step);
  evaluation.set_split(split);
  evaluation.set_mae(mae);
  return evaluation;
}

v1::Sample SampleAt(std::int64_t time_ns) {
  v1::Sample sample;
  sample.set_time_ns(time_ns);
  return sample;
}

TEST_F(RunStoreConformance, ARunKeepsItsDescriptionOverARestart) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  (*request.mutable_description()->mutable_labels())["node"] = "a";
  const Reporter rank = StartRun(*store_, request);
  store_.Reopen();
  const v1::Run run = Get(rank.run);
  EXPECT_EQ(run.description().SerializeAsString(), request.description().SerializeAsString());
  EXPECT_EQ(run.state(), v1::RUN_STATE_RUNNING);
  EXPECT_EQ(run.started_ms(), store_.now_ms);
  EXPECT_EQ(run.finished_ms(), 0);
  EXPECT_EQ(run.attempts(), 1u);
}

TEST_F(RunStoreConformance, AReportThatWouldUseTheReserveOfTheDiskIsRefusedAndReadingGoesOn) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  ASSERT_THAT(Add(rank, 0, 4), IsOk());
  store_.reserve_bytes = std::uint64_t{1} << 62;
  store_.Reopen();
  EXPECT_THAT(Add(rank, 5, 9), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("disk full")));
  EXPECT_THAT(store_->Start(StartRequest("key-00000002")).status(),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(StoredSteps(*store_, rank.run), SizeIs(5));
  store_.reserve_bytes = 0;
  store_.Reopen();
  EXPECT_THAT(Add(rank, 5, 9), IsOk());
  EXPECT_THAT(StoredSteps(*store_, rank.run), SizeIs(10));
}

TEST_F(RunStoreConformance, NamesTellTheTimeAndDiffer) {
  const Reporter a = StartRun(*store_, StartRequest("key-00000001"));
  const Reporter b = StartRun(*store_, StartRequest("key-00000002"));
  EXPECT_THAT(a.run, MatchesRegex("20231114-221320-[a-z2-9][a-z2-9][a-z2-9][a-z2-9]"));
  EXPECT_NE(a.run, b.run);
}

TEST_F(RunStoreConformance, ManyRunsOfOneSecondHaveDifferentNames) {
  for (int i = 0; i < 200; ++i) StartRun(*store_, StartRequest(std::to_string(10'000'000 + i)));
  EXPECT_THAT(*store_->List(), SizeIs(200));
}

TEST_F(RunStoreConformance, AnUnstatedWorldHasOneRank) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  request.mutable_description()->clear_world_size();
  EXPECT_EQ(Get(StartRun(*store_, request).run).description().world_size(), 1u);
}

TEST_F(RunStoreConformance, RanksJoinByTheIdempotencyKeyAndLeaveTheDescription) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  request.mutable_description()->set_world_size(2);
  const Reporter first = StartRun(*store_, request);
  request.set_rank(1);
  request.mutable_description()->set_model("other");
  const Reporter second = StartRun(*store_, request);
  EXPECT_EQ(second.run, first.run);
  EXPECT_EQ(second.attempt, 0u);
  EXPECT_EQ(Get(first.run).description().model(), "schnet");
  EXPECT_EQ(Get(first.run).attempts(), 1u);
}

TEST_F(RunStoreConformance, ARestartedProcessGetsTheNextAttempt) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  request.set_process_key("process a");
  EXPECT_EQ(StartRun(*store_, request).attempt, 0u);
  request.set_process_key("process b");
  EXPECT_EQ(StartRun(*store_, request).attempt, 1u);
  store_.Reopen();
  request.set_process_key("process c");
  const Reporter third = StartRun(*store_, request);
  EXPECT_EQ(third.attempt, 2u);
  EXPECT_EQ(Get(third.run).attempts(), 3u);
}

TEST_F(RunStoreConformance, ARepeatedStartGetsTheAnswerItHad) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  request.set_process_key("process a");
  const Reporter first = StartRun(*store_, request);
  EXPECT_EQ(StartRun(*store_, request).attempt, 0u);
  request.set_process_key("process b");
  StartRun(*store_, request);
  store_.Reopen();
  request.set_process_key("process a");
  const Reporter again = StartRun(*store_, request);
  EXPECT_EQ(again.run, first.run);
  EXPECT_EQ(again.attempt, 0u);
  EXPECT_EQ(Get(first.run).attempts(), 2u);
}

TEST_F(RunStoreConformance, WithoutAProcessKeyEachStartIsAnAttempt) {
  const v1::StartRunRequest request = StartRequest("key-00000001");
  EXPECT_EQ(StartRun(*store_, request).attempt, 0u);
  EXPECT_EQ(StartRun(*store_, request).attempt, 1u);
}

TEST_F(RunStoreConformance, StartsAtTheSameTimeMakeOneRun) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  request.mutable_description()->set_world_size(8);
  std::vector<std::thread> ranks;
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    ranks.emplace_back([this, request, rank]() mutable {
      request.set_rank(rank);
      EXPECT_EQ(StartRun(*store_, request).attempt, 0u);
    });
  }
  for (std::thread& rank : ranks) rank.join();
  EXPECT_THAT(*store_->List(), SizeIs(1));
}

TEST_F(RunStoreConformance, BadStartsAreRefused) {
  const auto refused = [this](auto change, const std::string& message) {
    v1::StartRunRequest request = StartRequest("key-00000001");
    change(request);
    EXPECT_THAT(store_->Start(request), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  };
  refused([](auto& r) { r.set_idempotency_key("short"); }, "idempotency_key has 5 bytes, at least 8");
  refused([](auto& r) { r.set_idempotency_key(std::string(1025, 'x')); }, "idempotency_key has 1025 bytes");
  refused([](auto& r) { r.set_process_key(std::string(1025, 'x')); }, "process_key has 1025 bytes");
  refused([](auto& r) { r.set_rank(1); }, "rank 1 is outside the run's world of 1 ranks");
  refused([](auto& r) { r.mutable_description()->set_world_size(65'537); }, "world_size is 65537");
  refused([](auto& r) { r.mutable_description()->set_model(std::string(1025, 'x')); }, "model has 1025 bytes");
  refused([](auto& r) { Put(r.mutable_description()->mutable_labels(), "", "x"); }, "a key of labels is empty");
  refused([](auto& r) { Put(r.mutable_description()->mutable_labels(), "a", std::string(1025, 'x')); },
          "labels a has 1025 bytes");
  refused([](auto& r) { PutMany(r.mutable_description()->mutable_labels(), 65); }, "65 labels, at most 64");
  refused([](auto& r) { PutMany(r.mutable_description()->mutable_libraries(), 65); },
          "65 libraries, at most 64");
}

TEST_F(RunStoreConformance, AJoiningRankMustLieInTheWorldOfTheStoredRun) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  StartRun(*store_, request);
  request.mutable_description()->set_world_size(4);
  request.set_rank(3);
  EXPECT_THAT(store_->Start(request), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("rank 3")));
}

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
  const Reporter second = StartRun(*store_, request);
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

TEST_F(RunStoreConformance, AFinishedRunTakesNoReports) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  ASSERT_THAT(Add(rank, 0, 9), IsOk());
  store_.now_ms += 5000;
  ASSERT_THAT(store_->Finish(rank.run, v1::RUN_STATE_DONE, ""), IsOk());
  store_.Reopen();
  const auto finished = StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("is finished"));
  EXPECT_THAT(Add(rank, 10, 19), finished);
  EXPECT_THAT(store_->AddEvaluation(rank.run, TestEvaluation(9, "val", 1)), finished);
  EXPECT_THAT(store_->AddSamples(rank, {SampleAt(1)}), finished);
  v1::Event event;
  event.set_name("gc");
  EXPECT_THAT(store_->AddEvents(rank, {event}), finished);
  EXPECT_EQ(Get(rank.run).state(), v1::RUN_STATE_DONE);
  EXPECT_EQ(Get(rank.run).steps(), 10u);
  EXPECT_EQ(Get(rank.run).finished_ms(), store_.now_ms);
}

TEST_F(RunStoreConformance, FinishingAgainChangesNothing) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  ASSERT_THAT(store_->Finish(rank.run, v1::RUN_STATE_FAILED, "rank 1 died"), IsOk());
  const std::int64_t finished_ms = store_.now_ms;
  store_.now_ms += 1000;
  EXPECT_THAT(store_->Finish(rank.run, v1::RUN_STATE_FAILED, "other"), IsOk());
  EXPECT_THAT(store_->Finish(rank.run, v1::RUN_STATE_DONE, ""),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("is finished")));
  EXPECT_EQ(Get(rank.run).finished_ms(), finished_ms);
  EXPECT_EQ(Get(rank.run).message(), "rank 1 died");
}

TEST_F(RunStoreConformance, BadFinishesAreRefused) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  EXPECT_THAT(store_->Finish("nobody", v1::RUN_STATE_DONE, ""), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(store_->Finish(rank.run, v1::RUN_STATE_LOST, ""),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not as RUN_STATE_LOST")));
  EXPECT_THAT(store_->Finish(rank.run, v1::RUN_STATE_FAILED, std::string(4097, 'x')),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("message has 4097 bytes")));
}

TEST_F(RunStoreConformance, ANewAttemptReopensAFinishedRun) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  request.set_process_key("process a");
  const Reporter first = StartRun(*store_, request);
  ASSERT_THAT(Add(first, 0, 9), IsOk());
  ASSERT_THAT(store_->Finish(first.run, v1::RUN_STATE_FAILED, "out of memory"), IsOk());
  StartRun(*store_, request);  // a repeated call reopens nothing
  EXPECT_EQ(Get(first.run).state(), v1::RUN_STATE_FAILED);
  request.set_process_key("process b");
  const Reporter second = StartRun(*store_, request);
  store_.Reopen();
  EXPECT_EQ(Get(first.run).state(), v1::RUN_STATE_RUNNING);
  EXPECT_EQ(Get(first.run).message(), "");
  EXPECT_EQ(Get(first.run).finished_ms(), 0);
  ASSERT_THAT(Add(second, 5, 19), IsOk());
  EXPECT_EQ(Get(first.run).steps(), 20u);
}

TEST_F(RunStoreConformance, ASilentRunIsLostUntilItReportsAgain) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  store_.now_ms += 600'000;
  EXPECT_EQ(Get(rank.run).state(), v1::RUN_STATE_RUNNING);
  store_.now_ms += 1;
  EXPECT_EQ(Get(rank.run).state(), v1::RUN_STATE_LOST);
  EXPECT_EQ(store_->List()->front().state(), v1::RUN_STATE_LOST);
  ASSERT_THAT(Add(rank, 0, 9), IsOk());
  EXPECT_EQ(Get(rank.run).state(), v1::RUN_STATE_RUNNING);
  EXPECT_EQ(Get(rank.run).last_report_ms(), store_.now_ms);
  store_.Reopen();
  EXPECT_EQ(Get(rank.run).state(), v1::RUN_STATE_RUNNING);
}

TEST_F(RunStoreConformance, AnyReportKeepsARunAlive) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  const auto alive = [this, &rank] { return Get(rank.run).last_report_ms() == store_.now_ms; };
  store_.now_ms += 1;
  ASSERT_THAT(store_->AddSamples(rank, {SampleAt(1)}), IsOk());
  EXPECT_TRUE(alive());
  store_.now_ms += 1;
  ASSERT_THAT(store_->AddEvaluation(rank.run, TestEvaluation(9, "val", 1)), IsOk());
  EXPECT_TRUE(alive());
  store_.now_ms += 1;
  v1::Event event;
  event.set_name("gc");
  ASSERT_THAT(store_->AddEvents(rank, {event}), IsOk());
  EXPECT_TRUE(alive());
}

TEST_F(RunStoreConformance, AFinishedRunIsNeverLost) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  ASSERT_THAT(store_->Finish(rank.run, v1::RUN_STATE_DONE, ""), IsOk());
  store_.now_ms += 1'000'000;
  EXPECT_EQ(Get(rank.run).state(), v1::RUN_STATE_DONE);
}

TEST_F(RunStoreConformance, AnUnambiguousBeginningNamesARun) {
  const Reporter a = StartRun(*store_, StartRequest("key-00000001"));
  store_.now_ms += 60'000;
  const Reporter b = StartRun(*store_, StartRequest("key-00000002"));
  EXPECT_EQ(Get("20231114-2214").run(), b.run);
  EXPECT_EQ(Get(a.run).run(), a.run);
  EXPECT_THAT(store_->Get("2023"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(a.run + ", " + b.run)));
  EXPECT_THAT(store_->Get(""), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(store_->Get("2024"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("no run 2024")));
  EXPECT_THAT(store_->ReadEvaluations("2024"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(store_->ReadSamples("2024"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(store_->ReadSteps("2024", [](const auto&, const auto&) { return absl::OkStatus(); }),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(RunStoreConformance, RunsAreListedNewestFirst) {
  const Reporter a = StartRun(*store_, StartRequest("key-00000001"));
  store_.now_ms += 1;
  const Reporter b = StartRun(*store_, StartRequest("key-00000002"));
  const std::vector<v1::Run> runs = *store_->List();
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_EQ(runs[0].run(), b.run);
  EXPECT_EQ(runs[1].run(), a.run);
}

TEST_F(RunStoreConformance, AnEvaluationReplacesThatOfTheSameStepAndSplit) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  ASSERT_THAT(store_->AddEvaluation(rank.run, TestEvaluation(300, "val", 3)), IsOk());
  ASSERT_THAT(store_->AddEvaluation(rank.run, TestEvaluation(20, "val", 1)), IsOk());
  ASSERT_THAT(store_->AddEvaluation(rank.run, TestEvaluation(300, "test", 4)), IsOk());
  ASSERT_THAT(store_->AddEvaluation(rank.run, TestEvaluation(20, "val", 2)), IsOk());
  std::vector<double> errors;
  const absl::StatusOr<std::vector<v1::Evaluation>> read = store_->ReadEvaluations(rank.run);
  ASSERT_THAT(read, IsOk());
  for (const v1::Evaluation& evaluation : *read) errors.push_back(evaluation.mae());
  EXPECT_THAT(errors, ElementsAre(2, 4, 3));
}

TEST_F(RunStoreConformance, BadEvaluationsAreRefused) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  EXPECT_THAT(store_->AddEvaluation(rank.run, TestEvaluation(0, "", 1)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("split is empty")));
  EXPECT_THAT(store_->AddEvaluation("nobody", TestEvaluation(0, "val", 1)),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(RunStoreConformance, SamplesAreReadByTimeAndCountOnce) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  ASSERT_THAT(store_->AddSamples(rank, {SampleAt(300), SampleAt(20)}), IsOk());
  ASSERT_THAT(store_->AddSamples(rank, {SampleAt(300)}), IsOk());
  std::vector<std::int64_t> times;
  const absl::StatusOr<std::vector<v1::Sample>> read = store_->ReadSamples(rank.run);
  ASSERT_THAT(read, IsOk());
  for (const v1::Sample& sample : *read) times.push_back(sample.time_ns());
  EXPECT_THAT(times, ElementsAre(20, 300));
}

TEST_F(RunStoreConformance, BadSamplesAndEventsAreRefused) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  const auto invalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(store_->AddSamples(rank, {}), StatusIs(invalid, HasSubstr("no samples")));
  EXPECT_THAT(store_->AddSamples(rank, {SampleAt(-1)}), StatusIs(invalid, HasSubstr("time_ns is -1")));
  EXPECT_THAT(store_->AddSamples(rank, std::vector<v1::Sample>(65'537)), StatusIs(invalid));
  EXPECT_THAT(store_->AddSamples({rank.run, 1, 0}, {SampleAt(1)}), StatusIs(invalid, HasSubstr("rank 1")));
  EXPECT_THAT(store_->AddEvents(rank, {}), StatusIs(invalid, HasSubstr("no events")));
  v1::Event event;
  EXPECT_THAT(store_->AddEvents(rank, {event}), StatusIs(invalid, HasSubstr("name is empty")));
  event.set_name("gc");
  event.set_start_ns(-5);
  EXPECT_THAT(store_->AddEvents(rank, {event}), StatusIs(invalid, HasSubstr("start_ns is -5")));
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

TEST(RocksRunStore, ASecondStoreOnTheDirectoryIsRefused) {
  TestRunStore first;
  EXPECT_THAT(RocksRunStore::Open(first.directory(), {}), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(RocksRunStore, ADirectoryThatCannotBeMadeIsRefused) {
  EXPECT_THAT(RocksRunStore::Open("/proc/runs", {}), StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace packtrain::runs
