#include "server/serving/plan_cache.h"

#include <gmock/gmock.h>

#include <thread>
#include <vector>

#include "tests/server/serving/scenario.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::serving {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::kPlenty;
using ::packtrain::testing::Scenario;
using ::packtrain::testing::StatusIs;

class PlanCacheTest : public ::testing::Test {
 protected:
  Scenario scenario_{20};
};

TEST_F(PlanCacheTest, AnEpochIsPlannedOnce) {
  PlanCache plans(kPlenty, scenario_.memory());
  const BatchSource source = scenario_.Source(4);
  const auto first = plans.Get(source, 0, 1);
  ASSERT_THAT(first, IsOk());
  EXPECT_EQ(*plans.Get(source, 0, 1), *first);
  EXPECT_EQ(plans.planned(), 1);
}

TEST_F(PlanCacheTest, WhatIsAskedForAtOneTimeIsPlannedOnce) {
  PlanCache plans(kPlenty, scenario_.memory());
  const BatchSource source = scenario_.Source(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { EXPECT_THAT(plans.Get(source, 0, 1), IsOk()); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(plans.planned(), 1);
}

TEST_F(PlanCacheTest, EpochWorldSizeAndSpecMakeAnotherPlan) {
  PlanCache plans(kPlenty, scenario_.memory());
  ASSERT_THAT(plans.Get(scenario_.Source(4), 0, 1), IsOk());
  ASSERT_THAT(plans.Get(scenario_.Source(4), 1, 1), IsOk());
  ASSERT_THAT(plans.Get(scenario_.Source(4), 0, 2), IsOk());
  ASSERT_THAT(plans.Get(scenario_.Source(5), 0, 1), IsOk());
  EXPECT_EQ(plans.planned(), 4);
}

TEST_F(PlanCacheTest, TheLeastRecentlyUsedPlanGoesFirst) {
  const BatchSource source = scenario_.Source(4);
  const std::uint64_t plan_bytes = (*PlanCache(kPlenty, scenario_.memory()).Get(source, 0, 1))->charge.bytes();
  PlanCache plans(2 * plan_bytes, scenario_.memory());
  for (std::uint64_t epoch : {0, 1, 0, 2}) ASSERT_THAT(plans.Get(source, epoch, 1), IsOk());
  EXPECT_EQ(plans.planned(), 3);
  EXPECT_EQ(scenario_.memory()->used_bytes(), 2 * plan_bytes);
  ASSERT_THAT(plans.Get(source, 0, 1), IsOk());
  EXPECT_EQ(plans.planned(), 3);
  ASSERT_THAT(plans.Get(source, 1, 1), IsOk());
  EXPECT_EQ(plans.planned(), 4);
}

TEST_F(PlanCacheTest, APlanThatIsHeldIsCountedAlsoWhenItIsNotKept) {
  PlanCache plans(0, scenario_.memory());
  auto plan = plans.Get(scenario_.Source(4), 0, 1);
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
  EXPECT_THAT(plans.Get(source, 0, 1), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(plans.Get(source, 0, 1), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(plans.planned(), 2);
}

}  // namespace
}  // namespace packtrain::serving
