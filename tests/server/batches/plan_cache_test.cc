#include "server/batches/plan_cache.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "server/batching/policy_kind.h"
#include "tests/server/batches/held_dataset.h"
#include "tests/server/batches/scenario.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::batches {
namespace {

using ::packtrain::testing::HeldDataset;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::kPlenty;
using ::packtrain::testing::Scenario;
using ::packtrain::testing::StatusIs;

// A data set of which no more is known than sizes: graphs of one node.
class SizesOnly final : public storage::Dataset {
 public:
  explicit SizesOnly(std::size_t graphs) : n_node_(graphs, 1), n_edge_(graphs, 0), split_(graphs) {
    std::iota(split_.begin(), split_.end(), 0u);
  }

  const v1::Dataset& description() const override { return description_; }
  std::span<const std::uint32_t> n_node() const override { return n_node_; }
  std::span<const std::uint32_t> n_edge() const override { return n_edge_; }
  absl::StatusOr<std::span<const std::uint32_t>> Split(std::string_view) const override { return split_; }
  absl::Status ReadRecords(std::span<const std::uint32_t>, RecordSink) const override {
    return absl::UnimplementedError("no records");
  }
  absl::Status ScanRecords(RecordSink) const override { return absl::UnimplementedError("no records"); }

 private:
  const v1::Dataset description_;
  const std::vector<std::uint32_t> n_node_;
  const std::vector<std::uint32_t> n_edge_;
  std::vector<std::uint32_t> split_;
};

class PlanCacheTest : public ::testing::Test {
 protected:
  Scenario scenario_{20};
};

TEST_F(PlanCacheTest, AnEpochIsPlannedOnce) {
  PlanCache plans(kPlenty, scenario_.memory());
  const ResolvedSpec source = scenario_.Resolved(4);
  const auto first = plans.Get(source, 0, {});
  ASSERT_THAT(first, IsOk());
  EXPECT_THAT(plans.Get(source, 0, {}), IsOk());
  EXPECT_EQ(plans.planned(), 1);
}

TEST_F(PlanCacheTest, WhatIsAskedForAtOneTimeIsPlannedOnce) {
  PlanCache plans(kPlenty, scenario_.memory());
  const ResolvedSpec source = scenario_.Resolved(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { EXPECT_THAT(plans.Get(source, 0, {}), IsOk()); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(plans.planned(), 1);
}

TEST_F(PlanCacheTest, WhatIsPreparedIsAtHand) {
  PlanCache plans(kPlenty, scenario_.memory());
  const ResolvedSpec source = scenario_.Resolved(4);
  for (int i = 0; i < 2; ++i) {
    const auto prepared = std::make_shared<PlanCache::Prepared>();
    EXPECT_FALSE(prepared->IsThere());
    plans.Prepare(source, 1, {}, prepared);
    EXPECT_TRUE(prepared->IsThere());
  }
  EXPECT_EQ(plans.planned(), 1);
  EXPECT_THAT(plans.Get(source, 1, {}), IsOk());
  EXPECT_EQ(plans.planned(), 1);
}

TEST_F(PlanCacheTest, PreparingDoesNotWaitForAThreadThatPlans) {
  PlanCache plans(kPlenty, scenario_.memory());
  ResolvedSpec source = scenario_.Resolved(4);
  const auto held = std::make_shared<HeldDataset>(source.dataset, /*free=*/0);
  source.dataset = held;
  std::thread planning([&] { plans.Prepare(source, 0, {}, std::make_shared<PlanCache::Prepared>()); });
  held->AwaitAsked();
  plans.Prepare(source, 0, {}, std::make_shared<PlanCache::Prepared>());
  EXPECT_EQ(plans.planned(), 0);
  held->Release();
  planning.join();
  EXPECT_EQ(plans.planned(), 1);
}

TEST_F(PlanCacheTest, OnlyWhatIsWaitedForIsPlannedSideBySide) {
  int loops = 0;
  PlanCache plans(kPlenty, scenario_.memory(),
                  [&loops](std::size_t tasks, const std::function<void(std::size_t)>& run) {
                    ++loops;
                    batching::RunInTurn(tasks, run);
                  });
  ResolvedSpec source = scenario_.Resolved(4);
  source.dataset = std::make_shared<SizesOnly>(batching::kChunkGraphs + 4);
  plans.Prepare(source, 0, {}, std::make_shared<PlanCache::Prepared>());
  EXPECT_THAT(plans.Get(source, 0, {}), IsOk());
  EXPECT_EQ(loops, 0);
  EXPECT_THAT(plans.Get(source, 1, {}), IsOk());
  EXPECT_GT(loops, 0);
}

TEST_F(PlanCacheTest, AllWorldsShareTheBatchesOfOnePlan) {
  PlanCache plans(kPlenty, scenario_.memory());
  const auto one = plans.Get(scenario_.Resolved(4), 0, {});
  const auto three = plans.Get(scenario_.Resolved(4), 0, {.size = 3, .segments = {{2, 1}}});
  ASSERT_THAT(one, IsOk());
  ASSERT_THAT(three, IsOk());
  EXPECT_EQ((*one)->plan->BatchAt(0)->graphs.data(), (*three)->plan->BatchAt(0)->graphs.data());
  EXPECT_EQ((*three)->plan->BatchAt(3)->step, 1);
  EXPECT_EQ(plans.planned(), 1);
  EXPECT_EQ(scenario_.memory()->used_bytes(), (*one)->plan->memory_bytes());
}

TEST_F(PlanCacheTest, EachWorldHasABalancedPlanOfItsOwn) {
  PlanCache plans(kPlenty, scenario_.memory());
  v1::BatchSpec spec;
  spec.set_policy(v1::POLICY_STATIC);
  spec.set_graphs(4);
  spec.set_balance(v1::BALANCE_COST);
  const ResolvedSpec source = scenario_.Resolved(spec);
  std::uint64_t bytes = 0;
  for (const wire::World& world : {wire::World{2}, {3}, {3, {{2, 1}}}}) {
    plans.Prepare(source, 0, world, std::make_shared<PlanCache::Prepared>());
    const auto first = plans.Get(source, 0, world);
    ASSERT_THAT(first, IsOk());
    EXPECT_EQ(plans.Get(source, 0, world).value(), *first) << "every rank shares it";
    bytes += (*first)->plan->memory_bytes();
  }
  EXPECT_EQ(plans.planned(), 3);
  EXPECT_EQ(scenario_.memory()->used_bytes(), bytes);
}

TEST_F(PlanCacheTest, AWorldThatDoesNotFitLeavesThePlanAtHand) {
  PlanCache plans(kPlenty, scenario_.memory());
  EXPECT_THAT(plans.Get(scenario_.Resolved(4), 0, {.segments = {{2, 9}}}),
              StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(plans.Get(scenario_.Resolved(4), 0, {}), IsOk());
  EXPECT_EQ(plans.planned(), 1);
}

TEST_F(PlanCacheTest, EpochAndSpecMakeAnotherPlan) {
  PlanCache plans(kPlenty, scenario_.memory());
  ASSERT_THAT(plans.Get(scenario_.Resolved(4), 0, {}), IsOk());
  ASSERT_THAT(plans.Get(scenario_.Resolved(4), 1, {}), IsOk());
  ASSERT_THAT(plans.Get(scenario_.Resolved(5), 0, {}), IsOk());
  EXPECT_EQ(plans.planned(), 3);
}

TEST_F(PlanCacheTest, TheLeastRecentlyUsedPlanGoesFirst) {
  const ResolvedSpec source = scenario_.Resolved(4);
  const std::uint64_t plan_bytes =
      (*PlanCache(kPlenty, scenario_.memory()).Get(source, 0, {}))->memory->bytes();
  PlanCache plans(2 * plan_bytes, scenario_.memory());
  for (std::uint64_t epoch : {0, 1, 0, 2}) ASSERT_THAT(plans.Get(source, epoch, {}), IsOk());
  EXPECT_EQ(plans.planned(), 3);
  EXPECT_EQ(scenario_.memory()->used_bytes(), 2 * plan_bytes);
  ASSERT_THAT(plans.Get(source, 0, {}), IsOk());
  EXPECT_EQ(plans.planned(), 3);
  ASSERT_THAT(plans.Get(source, 1, {}), IsOk());
  EXPECT_EQ(plans.planned(), 4);
}

TEST_F(PlanCacheTest, HoweverManySpecsAreAskedForTheirPlansStayWithinTheLimit) {
  const std::uint64_t limit =
      3 * (*PlanCache(kPlenty, scenario_.memory()).Get(scenario_.Resolved(4), 0, {}))->memory->bytes();
  PlanCache plans(limit, scenario_.memory());
  for (std::uint32_t graphs = 1; graphs <= 20; ++graphs) {
    for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
      ASSERT_THAT(plans.Get(scenario_.Resolved(graphs), epoch, {}), IsOk());
      ASSERT_LE(scenario_.memory()->used_bytes(), limit);
    }
  }
  EXPECT_EQ(plans.planned(), 400);
  EXPECT_GT(scenario_.memory()->used_bytes(), limit / 2);
}

TEST_F(PlanCacheTest, APlanThatIsHeldIsCountedAlsoWhenItIsNotKept) {
  PlanCache plans(0, scenario_.memory());
  auto plan = plans.Get(scenario_.Resolved(4), 0, {});
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
  const ResolvedSpec source = scenario_.Resolved(spec);
  EXPECT_THAT(plans.Get(source, 0, {}), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(plans.Get(source, 0, {}), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(plans.planned(), 2);
}

}  // namespace
}  // namespace packtrain::batches
