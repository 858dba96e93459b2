#include "server/serving/plan_cache.h"

#include <gmock/gmock.h>

#include <latch>
#include <memory>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/server/serving/scenario.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::serving {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::kPlenty;
using ::packtrain::testing::Scenario;
using ::packtrain::testing::StatusIs;

// Another data set, the splits of which are not told before Release.
class HeldDataset final : public storage::Dataset {
 public:
  explicit HeldDataset(std::shared_ptr<const storage::Dataset> dataset) : dataset_(std::move(dataset)) {}

  const v1::Dataset& description() const override { return dataset_->description(); }
  std::span<const std::uint32_t> n_node() const override { return dataset_->n_node(); }
  std::span<const std::uint32_t> n_edge() const override { return dataset_->n_edge(); }
  absl::StatusOr<std::span<const std::uint32_t>> Split(std::string_view name) const override {
    asked_.count_down();
    released_.wait();
    return dataset_->Split(name);
  }
  absl::Status ReadRecords(std::span<const std::uint32_t> graphs, RecordSink sink) const override {
    return dataset_->ReadRecords(graphs, sink);
  }
  absl::Status ScanRecords(RecordSink sink) const override { return dataset_->ScanRecords(sink); }

  void AwaitAsked() const { asked_.wait(); }
  void Release() const { released_.count_down(); }

 private:
  const std::shared_ptr<const storage::Dataset> dataset_;
  mutable std::latch asked_{1};
  mutable std::latch released_{1};
};

class PlanCacheTest : public ::testing::Test {
 protected:
  Scenario scenario_{20};
};

TEST_F(PlanCacheTest, AnEpochIsPlannedOnce) {
  PlanCache plans(kPlenty, scenario_.memory());
  const BatchSource source = scenario_.Source(4);
  const auto first = plans.Get(source, 0, {});
  ASSERT_THAT(first, IsOk());
  EXPECT_THAT(plans.Get(source, 0, {}), IsOk());
  EXPECT_EQ(plans.planned(), 1);
}

TEST_F(PlanCacheTest, WhatIsAskedForAtOneTimeIsPlannedOnce) {
  PlanCache plans(kPlenty, scenario_.memory());
  const BatchSource source = scenario_.Source(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { EXPECT_THAT(plans.Get(source, 0, {}), IsOk()); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(plans.planned(), 1);
}

TEST_F(PlanCacheTest, WhatIsPreparedIsAtHand) {
  PlanCache plans(kPlenty, scenario_.memory());
  const BatchSource source = scenario_.Source(4);
  for (int i = 0; i < 2; ++i) plans.Prepare(source, 1);
  EXPECT_EQ(plans.planned(), 1);
  EXPECT_THAT(plans.Get(source, 1, {}), IsOk());
  EXPECT_EQ(plans.planned(), 1);
}

TEST_F(PlanCacheTest, PreparingDoesNotWaitForAThreadThatPlans) {
  PlanCache plans(kPlenty, scenario_.memory());
  BatchSource source = scenario_.Source(4);
  const auto held = std::make_shared<HeldDataset>(source.dataset);
  source.dataset = held;
  std::thread planning([&] { plans.Prepare(source, 0); });
  held->AwaitAsked();
  plans.Prepare(source, 0);
  EXPECT_EQ(plans.planned(), 0);
  held->Release();
  planning.join();
  EXPECT_EQ(plans.planned(), 1);
}

TEST_F(PlanCacheTest, AllWorldsShareTheBatchesOfOnePlan) {
  PlanCache plans(kPlenty, scenario_.memory());
  const auto one = plans.Get(scenario_.Source(4), 0, {});
  const auto three = plans.Get(scenario_.Source(4), 0, {.size = 3, .segments = {{2, 1}}});
  ASSERT_THAT(one, IsOk());
  ASSERT_THAT(three, IsOk());
  EXPECT_EQ((*one)->plan->BatchAt(0)->graphs.data(), (*three)->plan->BatchAt(0)->graphs.data());
  EXPECT_EQ((*three)->plan->BatchAt(3)->step, 1);
  EXPECT_EQ(plans.planned(), 1);
  EXPECT_EQ(scenario_.memory()->used_bytes(), (*one)->plan->memory_bytes());
}

TEST_F(PlanCacheTest, AWorldThatDoesNotFitLeavesThePlanAtHand) {
  PlanCache plans(kPlenty, scenario_.memory());
  EXPECT_THAT(plans.Get(scenario_.Source(4), 0, {.segments = {{2, 9}}}),
              StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(plans.Get(scenario_.Source(4), 0, {}), IsOk());
  EXPECT_EQ(plans.planned(), 1);
}

TEST_F(PlanCacheTest, EpochAndSpecMakeAnotherPlan) {
  PlanCache plans(kPlenty, scenario_.memory());
  ASSERT_THAT(plans.Get(scenario_.Source(4), 0, {}), IsOk());
  ASSERT_THAT(plans.Get(scenario_.Source(4), 1, {}), IsOk());
  ASSERT_THAT(plans.Get(scenario_.Source(5), 0, {}), IsOk());
  EXPECT_EQ(plans.planned(), 3);
}

TEST_F(PlanCacheTest, TheLeastRecentlyUsedPlanGoesFirst) {
  const BatchSource source = scenario_.Source(4);
  const std::uint64_t plan_bytes =
      (*PlanCache(kPlenty, scenario_.memory()).Get(source, 0, {}))->charge->bytes();
  PlanCache plans(2 * plan_bytes, scenario_.memory());
  for (std::uint64_t epoch : {0, 1, 0, 2}) ASSERT_THAT(plans.Get(source, epoch, {}), IsOk());
  EXPECT_EQ(plans.planned(), 3);
  EXPECT_EQ(scenario_.memory()->used_bytes(), 2 * plan_bytes);
  ASSERT_THAT(plans.Get(source, 0, {}), IsOk());
  EXPECT_EQ(plans.planned(), 3);
  ASSERT_THAT(plans.Get(source, 1, {}), IsOk());
  EXPECT_EQ(plans.planned(), 4);
}

TEST_F(PlanCacheTest, APlanThatIsHeldIsCountedAlsoWhenItIsNotKept) {
  PlanCache plans(0, scenario_.memory());
  auto plan = plans.Get(scenario_.Source(4), 0, {});
  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(scenario_.memory()->used_bytes(), (*plan)->plan->memory_bytes());
  plan = absl::CancelledError();
  EXPECT_EQ(scenario_.memory()->used_bytes(), 0);
}

TEST_F(PlanCacheTest, FailuresAreNotKept) {
  PlanCache plans(kPlenty, scenario_.memory());
  v1::BatchSpec spec;
  spec.set_policy(v1::POLICY_DYNAMIC);
  spec.set_graphs(1);
  spec.set_nodes(2);  // of which one may be real: no molecule fits
  const BatchSource source = scenario_.Source(spec);
  EXPECT_THAT(plans.Get(source, 0, {}), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(plans.Get(source, 0, {}), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(plans.planned(), 2);
}

}  // namespace
}  // namespace packtrain::serving
