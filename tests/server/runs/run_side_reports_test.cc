// The contract of RunStore: evaluations, samples, events and corrupt graphs.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/server/runs/run_store_conformance.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::runs {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST_F(RunStoreConformance, AnEvaluationReplacesThatOfTheSameStepAndSplit) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  ASSERT_THAT(store_->AddEvaluation(rank.run, TestEvaluation(300, "val", 3)), IsOk());
  ASSERT_THAT(store_->AddEvaluation(rank.run, TestEvaluation(20, "val", 1)), IsOk());
  ASSERT_THAT(store_->AddEvaluation(rank.run, TestEvaluation(300, "test", 4)), IsOk());
  ASSERT_THAT(store_->AddEvaluation(rank.run, TestEvaluation(20, "val", 2)), IsOk());
  std::vector<double> errors;
  const absl::StatusOr<std::vector<v1::Evaluation>> read = EvaluationsIn(*store_, rank.run);
  ASSERT_THAT(read, IsOk());
  for (const v1::Evaluation& evaluation : *read) errors.push_back(evaluation.mae());
  EXPECT_THAT(errors, ElementsAre(2, 4, 3));
}

// By step, split and attempt, with their errors.
TEST_F(RunStoreConformance, EvaluationsOfDifferentAttemptsStay) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  ASSERT_THAT(store_->AddEvaluation(rank.run, TestEvaluation(20, "val", 1)), IsOk());
  StartRun(*store_, StartRequest("key-00000001"));
  ASSERT_THAT(store_->AddEvaluation(rank.run, TestEvaluation(20, "val", 2)), IsOk());
  v1::Evaluation late = TestEvaluation(20, "val", 3);
  late.set_attempt(0);
  ASSERT_THAT(store_->AddEvaluation(rank.run, late), IsOk());
  store_.Reopen();
  std::vector<std::pair<std::uint32_t, double>> read;
  const std::vector<v1::Evaluation> stored = *EvaluationsIn(*store_, rank.run);
  for (const v1::Evaluation& evaluation : stored) {
    read.emplace_back(evaluation.attempt(), evaluation.mae());
  }
  EXPECT_THAT(read, ElementsAre(Pair(0, 3), Pair(1, 2)));
}

TEST_F(RunStoreConformance, LostRecordsAddUpOverAttemptsAndTheLargestNumberOfEachCounts) {
  const Reporter first = StartRun(*store_, StartRequest("key-00000001"));
  const Reporter second = StartRun(*store_, StartRequest("key-00000001"));
  ASSERT_THAT(store_->AddLostRecords(first, 7), IsOk());
  ASSERT_THAT(store_->AddLostRecords(first, 5), IsOk());
  ASSERT_THAT(store_->AddLostRecords(second, 100), IsOk());
  EXPECT_EQ(Get(first.run).lost_records(), 107u);
  ASSERT_THAT(Add(second, 0, 9), IsOk());
  store_.Reopen();
  EXPECT_EQ(Get(first.run).lost_records(), 107u);
  ASSERT_THAT(store_->AddLostRecords(first, 8), IsOk());
  EXPECT_EQ(Get(first.run).lost_records(), 108u);
  EXPECT_THAT(store_->AddLostRecords({first.run, 0, 2}, 1), StatusIs(absl::StatusCode::kFailedPrecondition));
  ASSERT_THAT(store_->Finish(first.run, v1::RUN_STATE_DONE, ""), IsOk());
  EXPECT_THAT(store_->AddLostRecords(first, 9), StatusIs(absl::StatusCode::kFailedPrecondition));
  store_.Reopen();
  EXPECT_EQ(Get(first.run).lost_records(), 108u);
}

TEST_F(RunStoreConformance, BadEvaluationsAreRefused) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  v1::Evaluation of_no_attempt = TestEvaluation(0, "val", 1);
  of_no_attempt.set_attempt(1);
  EXPECT_THAT(store_->AddEvaluation(rank.run, of_no_attempt),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("has no attempt 1")));
  EXPECT_THAT(store_->AddEvaluation(rank.run, TestEvaluation(0, "", 1)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("split is empty")));
  for (const double share : {-0.25, 1.5, std::nan("")}) {
    v1::Evaluation evaluation = TestEvaluation(0, "val", 1);
    evaluation.set_accuracy(share);
    EXPECT_THAT(store_->AddEvaluation(rank.run, evaluation),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("accuracy is ")));
    evaluation.set_accuracy(1);
    evaluation.set_constant_accuracy(share);
    EXPECT_THAT(store_->AddEvaluation(rank.run, evaluation),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("constant_accuracy is ")));
  }
  for (const double error : {-1e-9, std::nan("")}) {
    v1::Evaluation evaluation = TestEvaluation(0, "val", 1);
    evaluation.set_filter_error(error);
    EXPECT_THAT(store_->AddEvaluation(rank.run, evaluation),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("filter_error is ")));
  }
  EXPECT_THAT(store_->AddEvaluation("nobody", TestEvaluation(0, "val", 1)),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(RunStoreConformance, SamplesAreReadByAttemptThenTimeAndCountOnce) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  ASSERT_THAT(store_->AddSamples(rank, {SampleAt(300), SampleAt(20)}), IsOk());
  ASSERT_THAT(store_->AddSamples(rank, {SampleAt(300)}), IsOk());
  const Reporter next = StartRun(*store_, StartRequest("key-00000001"));
  ASSERT_THAT(store_->AddSamples(next, {SampleAt(7)}), IsOk());
  std::vector<std::pair<std::uint32_t, std::int64_t>> read;
  ASSERT_THAT(store_->ReadSamples(rank.run,
                                  [&read](const Reporter& reporter, const v1::Sample& sample) {
                                    read.emplace_back(reporter.attempt, sample.time_ns());
                                    return absl::OkStatus();
                                  }),
              IsOk());
  EXPECT_THAT(read, ElementsAre(Pair(0, 20), Pair(0, 300), Pair(1, 7)));
}

TEST_F(RunStoreConformance, EventsAreReadByAttemptThenStartAndCountOnce) {
  const auto event = [](std::int64_t start_ns, const std::string& name) {
    v1::Event made;
    made.set_name(name);
    made.set_start_ns(start_ns);
    return made;
  };
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  ASSERT_THAT(store_->AddEvents(rank, {event(300, "gc"), event(20, "checkpoint"), event(300, "checkpoint")}),
              IsOk());
  ASSERT_THAT(store_->AddEvents(rank, {event(300, "gc")}), IsOk());
  const Reporter next = StartRun(*store_, StartRequest("key-00000001"));
  ASSERT_THAT(store_->AddEvents(next, {event(7, "gc")}), IsOk());
  ASSERT_THAT(store_->AddSamples(rank, {SampleAt(20)}), IsOk());
  std::vector<std::pair<std::int64_t, std::string>> read;
  ASSERT_THAT(store_->ReadEvents(rank.run,
                                 [&read](const Reporter&, const v1::Event& stored) {
                                   read.emplace_back(stored.start_ns(), stored.name());
                                   return absl::OkStatus();
                                 }),
              IsOk());
  EXPECT_THAT(read,
              ElementsAre(Pair(20, "checkpoint"), Pair(300, "checkpoint"), Pair(300, "gc"), Pair(7, "gc")));
}

TEST_F(RunStoreConformance, CorruptGraphsAreReadByStepAndThoseOfABatchReplace) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  const Reporter next = StartRun(*store_, StartRequest("key-00000001"));
  const Reporter other = StartRun(*store_, StartRequest("key-00000002"));
  ASSERT_THAT(
      store_->AddCorruptGraphs(rank, {CorruptAt(300, 7, "train", {4}), CorruptAt(20, 2, "train", {1, 9})}),
      IsOk());
  ASSERT_THAT(
      store_->AddCorruptGraphs(next, {CorruptAt(300, 7, "train", {4, 5}), CorruptAt(300, 7, "val", {6})}),
      IsOk());
  ASSERT_THAT(store_->AddCorruptGraphs(other, {CorruptAt(1, 1, "train", {8})}), IsOk());
  ASSERT_THAT(store_->AddEvents(rank, {[] {
                                  v1::Event event;
                                  event.set_name("gc");
                                  return event;
                                }()}),
              IsOk());
  store_.Reopen();
  std::vector<std::string> read;
  ASSERT_THAT(store_->ReadCorruptGraphs(rank.run,
                                        [&read](const v1::CorruptGraphs& batch) {
                                          read.push_back(batch.ShortDebugString());
                                          return absl::OkStatus();
                                        }),
              IsOk());
  const auto stored = [](v1::CorruptGraphs batch, std::uint32_t attempt) {
    batch.set_rank(0);
    batch.set_attempt(attempt);
    return batch.ShortDebugString();
  };
  EXPECT_THAT(read, ElementsAre(stored(CorruptAt(20, 2, "train", {1, 9}), 0),
                                stored(CorruptAt(300, 7, "train", {4, 5}), 1),
                                stored(CorruptAt(300, 7, "val", {6}), 1)));
}

TEST_F(RunStoreConformance, BadCorruptGraphsAreRefused) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  const auto invalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(store_->AddCorruptGraphs(rank, {}), StatusIs(invalid, HasSubstr("no batches")));
  EXPECT_THAT(store_->AddCorruptGraphs(rank, {CorruptAt(3, 7, "", {4})}),
              StatusIs(invalid, HasSubstr("split is empty")));
  EXPECT_THAT(store_->AddCorruptGraphs(rank, {CorruptAt(3, 7, "train", {})}),
              StatusIs(invalid, HasSubstr("batch 7 of epoch 1 lacks no graph")));
  EXPECT_THAT(store_->AddCorruptGraphs(rank, {CorruptAt(3, 7, "train", {4, 4})}),
              StatusIs(invalid, HasSubstr("graph 4 follows graph 4 in batch 7 of epoch 1")));
  EXPECT_THAT(store_->AddCorruptGraphs({rank.run, 1, 0}, {CorruptAt(3, 7, "train", {4})}),
              StatusIs(invalid, HasSubstr("rank 1")));
  ASSERT_THAT(store_->Finish(rank.run, v1::RUN_STATE_DONE, ""), IsOk());
  EXPECT_THAT(store_->AddCorruptGraphs(rank, {CorruptAt(3, 7, "train", {4})}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(RunStoreConformance, BadSamplesAndEventsAreRefused) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  const auto invalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(store_->AddSamples(rank, {}), StatusIs(invalid, HasSubstr("no samples")));
  EXPECT_THAT(store_->AddSamples(rank, {SampleAt(-1)}), StatusIs(invalid, HasSubstr("time_ns is -1")));
  EXPECT_THAT(store_->AddSamples(rank, std::vector<v1::Sample>(65'537)), StatusIs(invalid));
  EXPECT_THAT(store_->AddSamples({rank.run, 1, 0}, {SampleAt(1)}), StatusIs(invalid, HasSubstr("rank 1")));
  v1::Sample sample;
  sample.set_device_id(std::string(1025, 'g'));
  EXPECT_THAT(store_->AddSamples(rank, {sample}), StatusIs(invalid, HasSubstr("device_id has 1025 bytes")));
  EXPECT_THAT(store_->AddEvents(rank, {}), StatusIs(invalid, HasSubstr("no events")));
  v1::Event event;
  EXPECT_THAT(store_->AddEvents(rank, {event}), StatusIs(invalid, HasSubstr("name is empty")));
  event.set_name("gc");
  event.set_start_ns(-5);
  EXPECT_THAT(store_->AddEvents(rank, {event}), StatusIs(invalid, HasSubstr("start_ns is -5")));
}

}  // namespace
}  // namespace packtrain::runs
