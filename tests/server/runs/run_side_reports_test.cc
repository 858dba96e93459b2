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

}  // namespace
}  // namespace packtrain::runs
