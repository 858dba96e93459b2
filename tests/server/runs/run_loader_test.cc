#include "server/runs/run_loader.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "server/analysis/summary.h"
#include "tests/server/runs/run_fixtures.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::runs {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr analysis::RunParts kAllParts = {
    .steps = true, .evaluations = true, .samples = true, .events = true, .corrupt_graphs = true};

// A run of which each part has been reported once.
Reporter StoreRun(RunStore& store) {
  Reporter reporter = StartRun(store, StartRequest("key-00000001"));
  EXPECT_THAT(store.AddSteps(reporter, Steps(0, 2)), IsOk());
  v1::Evaluation evaluation;
  evaluation.set_split("val");
  EXPECT_THAT(store.AddEvaluation(reporter.run, evaluation), IsOk());
  v1::Sample sample;
  sample.set_device_memory_bytes(7);
  EXPECT_THAT(store.AddSamples(reporter, {sample}), IsOk());
  v1::Event event;
  event.set_name("checkpoint");
  EXPECT_THAT(store.AddEvents(reporter, {event}), IsOk());
  v1::CorruptGraphs batch;
  batch.set_split("train");
  batch.add_graphs(5);
  EXPECT_THAT(store.AddCorruptGraphs(reporter, {batch}), IsOk());
  return reporter;
}

TEST(RunLoader, LoadsTheParts) {
  TestRunStore store;
  const Reporter reporter = StoreRun(*store);
  const auto run = LoadRun(*store, reporter.run, kAllParts);
  ASSERT_THAT(run, IsOk());
  EXPECT_EQ(run->record.run(), reporter.run);
  EXPECT_THAT(run->of_ranks, SizeIs(3));
  EXPECT_THAT(run->joined, SizeIs(3));
  EXPECT_THAT(run->evaluations, SizeIs(1));
  EXPECT_EQ(run->samples.peak_device_bytes(), 7u);
  EXPECT_THAT(run->events.Longest(), SizeIs(1));
  EXPECT_EQ(run->corrupt_graphs.summary().count(), 1u);
}

TEST(RunLoader, LoadsNothingElse) {
  TestRunStore store;
  const auto run = LoadRun(*store, StoreRun(*store).run, analysis::RunParts());
  ASSERT_THAT(run, IsOk());
  EXPECT_THAT(run->of_ranks, IsEmpty());
  EXPECT_THAT(run->evaluations, IsEmpty());
  EXPECT_FALSE(run->samples.peak_device_bytes().has_value());
  EXPECT_THAT(run->events.Longest(), IsEmpty());
  EXPECT_EQ(run->corrupt_graphs.summary().count(), 0u);
}

TEST(RunLoader, CountsStepsOfTheLastAttemptAndKeepsTheOrderOfCorruptGraphs) {
  TestRunStore store;
  v1::StartRunRequest request = StartRequest("key-00000001");
  const Reporter first = StartRun(*store, request);
  request.set_first_step(2);
  const Reporter second = StartRun(*store, request);
  ASSERT_THAT(store->AddSteps(second, Steps(2, 3)), IsOk());
  ASSERT_THAT(store->AddSteps(first, Steps(0, 2)), IsOk());
  std::vector<v1::CorruptGraphs> batches(2);
  for (v1::CorruptGraphs& batch : batches) {
    batch.set_split("train");
    batch.add_graphs(5);
  }
  batches[0].set_step(13);
  batches[1].set_step(1);
  ASSERT_THAT(store->AddCorruptGraphs(first, batches), IsOk());
  batches[0].set_step(12);
  batches.pop_back();
  ASSERT_THAT(store->AddCorruptGraphs(second, batches), IsOk());
  const auto run = LoadRun(*store, first.run, kAllParts);
  ASSERT_THAT(run, IsOk());
  std::vector<std::uint32_t> attempts;
  for (const analysis::RankStep& step : run->of_ranks) attempts.push_back(step.attempt);
  EXPECT_THAT(attempts, ElementsAre(0, 0, 1, 1));
  ASSERT_EQ(run->corrupt_graphs.summary().list_size(), 2);
  EXPECT_EQ(run->corrupt_graphs.summary().list(0).step(), 1u);
  EXPECT_EQ(run->corrupt_graphs.summary().list(1).step(), 12u);
  EXPECT_THAT(LoadSteps(*store, first.run).value(), SizeIs(5));
}

TEST(RunLoader, AnUnknownRunIsNotFound) {
  TestRunStore store;
  EXPECT_THAT(LoadRun(*store, "nobody", kAllParts), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(LoadSteps(*store, "nobody"), StatusIs(absl::StatusCode::kNotFound));
}

// Names of runs, as a request has them.
using NameList = google::protobuf::RepeatedPtrField<std::string>;
NameList ListOf(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

std::vector<std::string> NamesOf(const absl::StatusOr<std::vector<v1::Run>>& runs) {
  EXPECT_THAT(runs, IsOk());
  std::vector<std::string> names;
  for (const v1::Run& run : runs.value_or(std::vector<v1::Run>())) names.push_back(run.run());
  return names;
}

class SelectedRuns : public ::testing::Test {
 protected:
  SelectedRuns() {
    v1::StartRunRequest request = StartRequest("key-00000001");
    a_ = StartRun(*store_, request).run;
    store_.now_ms += 60'000;
    request.set_idempotency_key("key-00000002");
    request.mutable_description()->set_model("painn");
    b_ = StartRun(*store_, request).run;
  }

  TestRunStore store_;
  std::string a_, b_;
};

TEST_F(SelectedRuns, AreThoseNamedEachOnceInTheirOrder) {
  EXPECT_THAT(NamesOf(SelectRuns(*store_, ListOf({b_, a_, b_, "20231114-2213"}), "")), ElementsAre(b_, a_));
}

TEST_F(SelectedRuns, AreThoseTheFilterTakesNewestFirst) {
  EXPECT_THAT(NamesOf(SelectRuns(*store_, {}, "")), ElementsAre(b_, a_));
  EXPECT_THAT(NamesOf(SelectRuns(*store_, {}, "model = schnet")), ElementsAre(a_));
}

// Holds what it is asked for, up to a limit.
class Holder {
 public:
  explicit Holder(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  absl::Status operator()(std::uint64_t bytes) const {
    if (bytes > limit_bytes_) return absl::ResourceExhaustedError("no memory");
    held_bytes_ = bytes;
    return absl::OkStatus();
  }
  std::uint64_t held_bytes() const { return held_bytes_; }

 private:
  const std::uint64_t limit_bytes_;
  mutable std::uint64_t held_bytes_ = 0;
};

TEST_F(SelectedRuns, MemoryIsHeldForThemBeforeTheyAreKept) {
  for (const NameList& names : {NameList(), ListOf({a_, b_})}) {
    Holder plenty(1 << 30), none(1000);
    const auto runs = SelectRuns(*store_, names, "", plenty);
    ASSERT_THAT(NamesOf(runs), ::testing::SizeIs(2));
    EXPECT_GE(plenty.held_bytes(), (*runs)[0].SpaceUsedLong() + (*runs)[1].SpaceUsedLong());
    EXPECT_THAT(SelectRuns(*store_, names, "", none), StatusIs(absl::StatusCode::kResourceExhausted));
  }
}

TEST_F(SelectedRuns, MemoryIsHeldForTheirEvaluationsBesideTheirSteps) {
  constexpr int kEvaluations = 2000;
  v1::Evaluation evaluation;
  evaluation.set_split("val");
  for (int step = 0; step < kEvaluations; ++step) {
    evaluation.set_step(step);
    ASSERT_THAT(store_->AddEvaluation(a_, evaluation), IsOk());
  }
  Holder plenty(1 << 30), none(1000);
  const auto run = LoadRun(*store_, a_, {.steps = true, .evaluations = true}, plenty);
  ASSERT_THAT(run, IsOk());
  ASSERT_THAT(run->evaluations, ::testing::SizeIs(kEvaluations));
  EXPECT_GE(plenty.held_bytes(), kEvaluations * run->evaluations[0].SpaceUsedLong());
  EXPECT_THAT(LoadRun(*store_, a_, {.evaluations = true}, none),
              StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(SelectedRuns, BadSelectionsAreRefused) {
  const auto refused = [this](const NameList& names, std::string_view where, absl::StatusCode code,
                              const std::string& message) {
    EXPECT_THAT(SelectRuns(*store_, names, where), StatusIs(code, HasSubstr(message)));
  };
  refused({}, "modell = x", absl::StatusCode::kInvalidArgument, "unknown key modell");
  refused(ListOf({a_}), "model = x", absl::StatusCode::kInvalidArgument, "either names of runs or a filter");
  refused(ListOf({"2023"}), "", absl::StatusCode::kInvalidArgument, "several runs begin with 2023");
  refused(ListOf({"2024"}), "", absl::StatusCode::kNotFound, "no run 2024");
}

// Takes every part of the runs named "a", and none of the others.
struct CountingQuestion {
  analysis::RunParts PartsOf(const v1::Run& run) const {
    return run.run() == a ? kAllParts : analysis::RunParts();
  }
  void Add(const analysis::LoadedRun& run) { steps.push_back(run.joined.size()); }

  std::string a;
  std::vector<std::size_t> steps;
};

TEST_F(SelectedRuns, AreAddedToAQuestionWithThePartsItWants) {
  for (const std::string& run : {a_, b_}) ASSERT_THAT(store_->AddSteps({run, 0, 0}, Steps(0, 4)), IsOk());
  CountingQuestion question{a_, {}};
  ASSERT_THAT(AddRuns(*store_, *store_->List(), NeverCancelled, question), IsOk());
  EXPECT_THAT(question.steps, ElementsAre(0, 5));
}

TEST_F(SelectedRuns, AreNotLoadedOnceNobodyWaits) {
  CountingQuestion question{a_, {}};
  int asked = 0;
  EXPECT_THAT(AddRuns(
                  *store_, *store_->List(), [&asked] { return ++asked == 2; }, question),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(question.steps, SizeIs(1));
}

}  // namespace
}  // namespace packtrain::runs
