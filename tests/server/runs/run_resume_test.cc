// What counts of runs that are resumed, gone on with by another run, or end earlier than they once got.
#include <gmock/gmock.h>

#include <chrono>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "proto/wire/step_convert.h"
#include "server/runs/run_keys.h"
#include "server/runs/run_loader.h"
#include "server/runs/run_records.h"
#include "tests/server/runs/run_store_conformance.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"

namespace packtrain::runs {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::packtrain::testing::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

v1::FinishRunRequest DoneAt(const std::string& run, std::uint64_t end_step) {
  v1::FinishRunRequest request;
  request.set_run(run);
  request.set_state(v1::RUN_STATE_DONE);
  request.set_end_step(end_step);
  return request;
}

v1::StartRunRequest StartFrom(std::uint64_t first_step, std::uint64_t planned_steps = 0) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  request.set_first_step(first_step);
  request.mutable_description()->set_planned_steps(planned_steps);
  return request;
}

// Step and error of each evaluation that counts.
std::vector<std::pair<std::uint64_t, double>> Curve(const RunStore& store, const std::string& run) {
  std::vector<std::pair<std::uint64_t, double>> curve;
  const analysis::LoadedRun loaded = LoadRun(store, run, {.evaluations = true}).value();
  for (const v1::Evaluation& evaluation : loaded.evaluations) {
    curve.emplace_back(evaluation.step(), evaluation.mae());
  }
  return curve;
}

// Killed behind 67 steps, and resumed from the 49th to end behind the 54th.
TEST_F(RunStoreConformance, AnEarlierEndLeavesNothingOfWhatWasBeyond) {
  const Reporter first = StartRun(*store_, StartFrom(0, 100));
  ASSERT_THAT(Add(first, 0, 66), IsOk());
  ASSERT_THAT(store_->AddEvaluation(first.run, TestEvaluation(40, "val", 4)), IsOk());
  ASSERT_THAT(store_->AddEvaluation(first.run, TestEvaluation(50, "val", 5)), IsOk());
  ASSERT_THAT(store_->AddEvaluation(first.run, TestEvaluation(60, "val", 6)), IsOk());
  EXPECT_EQ(Get(first.run).steps(), 67u);
  const Reporter second = StartRun(*store_, StartFrom(49, 54));
  EXPECT_EQ(Get(first.run).steps(), 49u);
  ASSERT_THAT(Add(second, 49, 53), IsOk());
  ASSERT_THAT(store_->AddEvaluation(first.run, TestEvaluation(54, "val", 7)), IsOk());
  ASSERT_THAT(Add(first, 67, 70), IsOk());  // late
  ASSERT_THAT(store_->Finish(DoneAt(first.run, 54)), IsOk());
  for (int opened = 0; opened < 2; ++opened) {
    EXPECT_EQ(Get(first.run).steps(), 54u);
    EXPECT_EQ(Get(first.run).end_step(), 54u);
    EXPECT_EQ(Summarize(*store_, first.run)->whole().steps(), 54u);
    EXPECT_THAT(Curve(*store_, first.run), ElementsAre(Pair(40, 4), Pair(54, 7)));
    store_.Reopen();
  }
}

// Where the checkpoint is the end, no rank but 0 opens an attempt.
TEST_F(RunStoreConformance, AnEndCutsOffWhatRanksReportedBeyondIt) {
  v1::StartRunRequest request = StartFrom(0);
  request.mutable_description()->set_world_size(2);
  const Reporter rank_0 = StartRun(*store_, request);
  request.set_rank(1);
  const Reporter rank_1 = StartRun(*store_, request);
  ASSERT_THAT(Add(rank_0, 0, 66), IsOk());
  ASSERT_THAT(Add(rank_1, 0, 66), IsOk());
  StartRun(*store_, StartFrom(54));
  store_.Reopen();
  ASSERT_THAT(store_->Finish(DoneAt(rank_0.run, 54)), IsOk());
  EXPECT_EQ(Get(rank_0.run).steps(), 54u);
  EXPECT_EQ(Summarize(*store_, rank_0.run)->whole().steps(), 54u);
  EXPECT_EQ(Summarize(*store_, rank_0.run)->whole().left_out(), 0u);
}

TEST_F(RunStoreConformance, ARunThatIsDoneEndsWhereItWasPlannedUnlessItSaysOtherwise) {
  const Reporter rank = StartRun(*store_, StartFrom(0, 54));
  ASSERT_THAT(Add(rank, 0, 66), IsOk());
  ASSERT_THAT(store_->Finish(rank.run, v1::RUN_STATE_DONE, ""), IsOk());
  EXPECT_EQ(Get(rank.run).end_step(), 54u);
  EXPECT_EQ(Get(rank.run).steps(), 54u);
  StartRun(*store_, StartFrom(60, 100));
  EXPECT_FALSE(Get(rank.run).has_end_step());
  EXPECT_EQ(Get(rank.run).steps(), 60u);
  ASSERT_THAT(store_->Finish(rank.run, v1::RUN_STATE_FAILED, ""), IsOk());
  EXPECT_FALSE(Get(rank.run).has_end_step());
}

TEST_F(RunStoreConformance, AFollowedRunEndsWhereTheOtherOneBegins) {
  const Reporter former = StartRun(*store_, StartFrom(0, 200));
  ASSERT_THAT(Add(former, 0, 65), IsOk());
  v1::StartRunRequest request = StartRequest("key-00000002");
  request.set_first_step(30);
  request.set_follows(former.run);
  request.set_process_key("process a");
  const Reporter follower = StartRun(*store_, request);
  StartRun(*store_, request);
  // The former one is closed by an attempt that makes no step.
  StartRun(*store_, StartFrom(30, 30));
  ASSERT_THAT(store_->Finish(former.run, v1::RUN_STATE_FAILED, "went on"), IsOk());
  for (int opened = 0; opened < 2; ++opened) {
    EXPECT_EQ(Get(former.run).followed_by(), follower.run);
    EXPECT_EQ(Get(former.run).followed_at_step(), 30u);
    EXPECT_EQ(Get(former.run).description().planned_steps(), 200u);
    EXPECT_EQ(Get(former.run).steps(), 30u);
    EXPECT_EQ(Summarize(*store_, former.run)->whole().steps(), 30u);
    store_.Reopen();
  }
  // It is taken up again from its own checkpoint.
  const Reporter again = StartRun(*store_, StartFrom(30, 200));
  EXPECT_EQ(Get(former.run).followed_by(), "");
  EXPECT_FALSE(Get(former.run).has_followed_at_step());
  EXPECT_EQ(Get(former.run).steps(), 30u);
  ASSERT_THAT(Add(again, 30, 39), IsOk());
  EXPECT_EQ(Get(former.run).steps(), 40u);
}

// As where a client does not say how many steps there are to be: those of the run are meant.
TEST_F(RunStoreConformance, AFollowedRunIsTakenBackByAnAttemptWithoutPlannedStepsThatHasSomeToMake) {
  const auto follow = [this](const std::string& former, const std::string& key) {
    v1::StartRunRequest request = StartRequest(key);
    request.set_first_step(30);
    request.set_follows(former);
    StartRun(*store_, request);
  };
  const Reporter planned = StartRun(*store_, StartFrom(0, 200));
  follow(planned.run, "key-00000002");
  StartRun(*store_, StartFrom(200));
  EXPECT_TRUE(Get(planned.run).has_followed_at_step());
  const Reporter again = StartRun(*store_, StartFrom(30));
  EXPECT_FALSE(Get(planned.run).has_followed_at_step());
  EXPECT_EQ(Get(planned.run).description().planned_steps(), 200u);
  ASSERT_THAT(Add(again, 30, 39), IsOk());
  EXPECT_EQ(Get(planned.run).steps(), 10u);

  const Reporter unplanned = StartRun(*store_, StartRequest("key-00000003"));
  follow(unplanned.run, "key-00000004");
  v1::StartRunRequest request = StartRequest("key-00000003");
  request.set_first_step(30);
  StartRun(*store_, request);
  EXPECT_FALSE(Get(unplanned.run).has_followed_at_step());
}

TEST_F(RunStoreConformance, ARunFollowsOneThatThereIsAndNotItself) {
  v1::StartRunRequest request = StartRequest("key-00000001");
  request.set_follows("20240101-000000-abcd");
  EXPECT_THAT(store_->Start(request), StatusIs(absl::StatusCode::kNotFound, HasSubstr("no run 20240101")));
  EXPECT_THAT(*store_->List(), IsEmpty());
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  request.set_follows(rank.run);
  EXPECT_THAT(store_->Start(request),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cannot follow itself")));
}

// As one does that reads what is stored of a large run.
TEST(RunStoreLocks, NobodyWaitsForAReportButItsOwnRun) {
  const TempFolder folder;
  std::promise<void> reached, go_on;
  const std::shared_future<void> may_go_on = go_on.get_future().share();
  RocksRunStoreOptions options;
  options.on_steps = [&](const auto&) {
    reached.set_value();
    may_go_on.wait();
  };
  const auto store = RocksRunStore::Open(folder.PathOf("runs"), options);
  ASSERT_THAT(store, IsOk());
  const Reporter rank = StartRun(**store, StartRequest("key-00000001"));
  std::future<void> report =
      std::async(std::launch::async, [&] { EXPECT_THAT((*store)->AddSteps(rank, Steps(0, 9)), IsOk()); });
  reached.get_future().wait();
  std::future<void> others = std::async(std::launch::async, [&] {
    EXPECT_EQ((*store)->List()->size(), 1u);
    EXPECT_THAT((*store)->Get(rank.run), IsOk());
    EXPECT_THAT((*store)->ReadAttempts(rank.run), IsOk());
    StartRun(**store, StartRequest("key-00000002"));
  });
  EXPECT_EQ(others.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  go_on.set_value();
  report.get();
  others.get();
}

// A run as an older server stored it: one place for the evaluations of all attempts, no end, a client's
// warm-up.
TEST(OlderRunStore, IsReadByTheRulesOfToday) {
  const TempFolder folder;
  v1::Run run;
  run.set_run("20231114-221320-abcd");
  run.set_state(v1::RUN_STATE_DONE);
  *run.mutable_description() = StartFrom(0, 54).description();
  run.set_started_ms(1'700'000'000'000);
  v1::Run earlier = run;
  earlier.set_run("20231114-221319-wxyz");
  earlier.set_started_ms(1'699'999'999'000);
  const Reporter first{run.run(), 0, 0}, second{run.run(), 0, 1};
  const std::vector<wire::StepRecord> dead = Steps(0, 66);
  std::vector<wire::StepRecord> last = Steps(49, 53);
  for (wire::StepRecord& step : last) step.flags = 0;
  const v1::Evaluation evaluation = TestEvaluation(54, "val", 7), beyond = TestEvaluation(60, "val", 6);
  const auto older_key = [](const Reporter& of, const v1::Evaluation& kept) {
    const std::string key = EvaluationKey(of.run, kept);
    return key.substr(0, key.size() - 5);
  };
  {
    const auto database = *OpenRunDatabase(folder.PathOf("runs"), {});
    ASSERT_THAT(database->Write(
                    {DescriptionEntry(run),
                     ProgressEntry(run.run(), 67, 1'700'000'001'000),
                     DescriptionEntry(earlier),
                     AttemptEntry(first, StartFrom(0)),
                     AttemptEntry(second, StartFrom(49)),
                     {Family::kRuns, older_key(first, evaluation), evaluation.SerializeAsString()},
                     {Family::kRuns, older_key(first, beyond), beyond.SerializeAsString()},
                     {Family::kSteps, StepBlockKey(first, 0), wire::ToStepBlock(dead).SerializeAsString()},
                     {Family::kSteps, StepBlockKey(second, 49), wire::ToStepBlock(last).SerializeAsString()}},
                    rocks::Durability::kDisk),
                IsOk());
  }
  const auto store = RocksRunStore::Open(folder.PathOf("runs"), {});
  ASSERT_THAT(store, IsOk());
  EXPECT_EQ((*store)->Get(run.run())->steps(), 54u);
  EXPECT_EQ((*store)->Get(run.run())->end_step(), 54u);
  const absl::StatusOr<v1::SummarizeRunResponse> summary = Summarize(**store, run.run());
  ASSERT_THAT(summary, IsOk());
  EXPECT_EQ(summary->whole().steps(), 54u);
  EXPECT_EQ(summary->steady().steps(), 39u);  // the first 10, and the last 5 are warm-up
  EXPECT_THAT(Curve(**store, run.run()), ElementsAre(Pair(54, 7)));
  StartRun(**store, StartRequest("key-00000009"));
  EXPECT_EQ((*store)->List()->at(1).run(), run.run());
  EXPECT_EQ((*store)->List()->at(2).run(), earlier.run());
}

}  // namespace
}  // namespace packtrain::runs
