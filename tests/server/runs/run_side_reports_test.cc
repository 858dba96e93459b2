// The contract of RunStore: evaluations, samples and events.
#include <gmock/gmock.h>

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
                                 [&read](const v1::Event& stored) {
                                   read.emplace_back(stored.start_ns(), stored.name());
                                   return absl::OkStatus();
                                 }),
              IsOk());
  EXPECT_THAT(read,
              ElementsAre(Pair(20, "checkpoint"), Pair(300, "checkpoint"), Pair(300, "gc"), Pair(7, "gc")));
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
