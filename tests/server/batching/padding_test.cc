#include "server/batching/padding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "server/batching/plan.h"
#include "tests/server/batching/dice.h"
#include "tests/server/batching/scenario.h"

namespace packtrain::batching {
namespace {

Scenario ListScenario(std::vector<std::uint32_t> n_node, std::vector<std::uint32_t> n_edge,
                      const wire::BatchSpec& spec) {
  Scenario scenario{"", std::move(n_node), std::move(n_edge), {}, spec};
  scenario.split.resize(scenario.n_node.size());
  std::iota(scenario.split.begin(), scenario.split.end(), 0u);
  return scenario;
}

// Rungs are made of batches as they are cut; balance makes others of them.
TEST(LadderTest, TheTopRungHoldsTheLargestGraphsThatBalanceGivesToOneRank) {
  wire::BatchSpec spec = {
      .policy = wire::Policy::kStatic, .pad = wire::Pad::kLadder, .ladder_rungs = 8, .graphs = 4};
  spec.order = wire::Order::kNone;
  spec.balance = wire::Balance::kCost;
  spec.cost = wire::CostCoefficients{1, 0, 0};  // tells no graph from another, so ranks get them in turn
  const Scenario scenario =
      ListScenario({100, 1, 100, 1, 100, 1, 100, 1}, {300, 2, 300, 2, 300, 2, 300, 2}, spec);
  const auto plan = Plan::Create(scenario.Request({2}));
  ASSERT_TRUE(plan.ok()) << plan.status();
  const PlannedBatch batch = (*plan)->BatchAt(0).value();
  EXPECT_EQ(batch.real, (wire::Shape{4, 400, 1200}));
  EXPECT_EQ(batch.padded, (wire::Shape{5, 408, 1200}));
  const PlannedBatch as_cut = (*Plan::Create(scenario.Request({1})))->BatchAt(0).value();
  EXPECT_EQ(as_cut.padded, (wire::Shape{5, 208, 608}));
}

Scenario DrawLadder(std::uint64_t seed) {
  Dice dice(seed);
  wire::BatchSpec spec = {.policy = wire::Policy::kStatic, .pad = wire::Pad::kLadder};
  spec.ladder_rungs = dice.Between(1, 20);
  spec.graphs = dice.Between(1, 12);
  spec.order = dice.One({wire::Order::kFull, wire::Order::kNone});
  spec.seed = dice.Between(0, 9);
  spec.balance = wire::Balance::kCost;
  spec.cost = wire::CostCoefficients{dice.Between(0, 3), dice.Between(0, 3), dice.Between(1, 3)};
  std::vector<std::uint32_t> n_node(dice.Between(1, 300));
  std::vector<std::uint32_t> n_edge(n_node.size());
  for (std::uint32_t& n : n_node) n = 1'000'000 / dice.Between(1000, 1'000'000);
  for (std::uint32_t& n : n_edge) n = dice.Between(0, dice.One({3u, 5000u}));
  return ListScenario(std::move(n_node), std::move(n_edge), spec);
}

void ExpectEveryBatchOnARung(const Plan& plan, const std::vector<wire::Shape>& rungs) {
  for (const PlannedBatch& batch : AllBatches(plan)) {
    EXPECT_TRUE(std::binary_search(rungs.begin(), rungs.end(), batch.padded)) << "batch " << batch.index;
    EXPECT_LT(batch.real.graphs, batch.padded.graphs) << "batch " << batch.index;
    EXPECT_LT(batch.real.nodes, batch.padded.nodes) << "batch " << batch.index;
    EXPECT_LE(batch.real.edges, batch.padded.edges) << "batch " << batch.index;
  }
}

TEST(LadderTest, HoldsEveryBalancedBatchOfEveryEpochAndWorld) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Scenario scenario = DrawLadder(seed);
    const std::vector<wire::Shape> rungs = Padding::Create(scenario.Request({1}))->settled();
    for (scenario.epoch = 0; scenario.epoch < 3; ++scenario.epoch) {
      const auto plan = Plan::Create(scenario.Request({1}));
      ASSERT_TRUE(plan.ok()) << plan.status();
      for (const std::uint32_t ranks : {1u, 2u, 3u, 8u, 64u}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(ranks) + " ranks");
        ExpectEveryBatchOnARung(**(*plan)->DealtTo({ranks}), rungs);
      }
    }
  }
}

}  // namespace
}  // namespace packtrain::batching
