#include <gtest/gtest.h>

#include <optional>

#include "client/dataset_info.h"
#include "proto/wire/batch_spec.h"
#include "trainer/run/evaluation.h"

namespace packtrain::trainer {
namespace {

TEST(EvaluationSpec, KeepsTheShapeOfTheTrainingPlan) {
  wire::BatchSpec training;
  training.policy = wire::Policy::kDynamic;
  training.graphs = 15;
  training.drop_last = true;
  training.budget_sample = 1000;
  training.balance = wire::Balance::kCost;
  training.cost = wire::CostCoefficients{};
  const client::PlanInfo plan{
      .steps = 1, .batches = 1, .budget = {.graphs = 15, .nodes = 320, .edges = 4992}, .fingerprint = "f"};
  const wire::BatchSpec spec = EvaluationSpec(training, plan, "test");
  EXPECT_EQ(spec.split, "test");
  EXPECT_EQ(spec.order, wire::Order::kNone);
  EXPECT_EQ(spec.oversize, wire::Oversize::kAlone);
  EXPECT_FALSE(spec.drop_last);
  EXPECT_EQ(spec.max_graphs, 15);
  EXPECT_EQ(spec.nodes, 320);
  EXPECT_EQ(spec.edges, 4992);
  EXPECT_EQ(spec.budget_sample, std::nullopt);
  // Ranks meet when all of them are through, not at each step.
  EXPECT_EQ(spec.balance, wire::Balance::kNone);
  EXPECT_EQ(spec.cost, std::nullopt);
}

TEST(EvaluationSpec, OfAPackedPlanLooksAtNothingButTheNextGraph) {
  wire::BatchSpec training;
  training.policy = wire::Policy::kPacked;
  training.graphs = 15;
  training.lookahead = 128;
  const client::PlanInfo plan{
      .steps = 1, .batches = 1, .budget = {.graphs = 20, .nodes = 320, .edges = 4992}, .fingerprint = "f"};
  const wire::BatchSpec spec = EvaluationSpec(training, plan, "val");
  EXPECT_EQ(spec.policy, wire::Policy::kDynamic);
  EXPECT_EQ(spec.max_graphs, 20);
  EXPECT_EQ(spec.lookahead, std::nullopt);
}

TEST(EvaluationSpec, OfAStaticPlanHasOneShape) {
  wire::BatchSpec training;
  training.policy = wire::Policy::kStatic;
  training.pad = wire::Pad::kPow2;
  training.graphs = 15;
  const client::PlanInfo plan{.steps = 1, .batches = 1, .budget = {}, .fingerprint = "f"};
  const wire::BatchSpec spec = EvaluationSpec(training, plan, "val");
  EXPECT_EQ(spec.policy, wire::Policy::kDynamic);
  EXPECT_EQ(spec.pad, std::nullopt);
  EXPECT_EQ(spec.graphs, 15);
  EXPECT_EQ(spec.nodes, std::nullopt);
}

TEST(EvaluationSpec, OfSupergraphsHasTheirBlocks) {
  wire::BatchSpec training;
  training.policy = wire::Policy::kSupergraph;
  training.max_graphs = 40;
  training.oversize = wire::Oversize::kSkip;
  training.blocks = 4;
  training.block_nodes = 64;
  const client::PlanInfo plan{
      .steps = 1, .batches = 1, .budget = {40, 256, 900, /*block_nodes=*/64}, .fingerprint = "f"};
  const wire::BatchSpec spec = EvaluationSpec(training, plan, "val");
  EXPECT_EQ(spec.policy, wire::Policy::kSupergraph);
  EXPECT_EQ(spec.blocks, 4);
  EXPECT_EQ(spec.block_nodes, 64);
  EXPECT_EQ(spec.max_graphs, 40);
  EXPECT_EQ(spec.nodes, std::nullopt);
  EXPECT_EQ(spec.oversize, wire::Oversize::kAlone);
}

TEST(EvaluationSpec, IsOfAllGraphsWhereTheTrainingIsOnASlice) {
  wire::BatchSpec training;
  training.policy = wire::Policy::kDynamic;
  training.graphs = 15;
  training.skip_above = wire::SkipAbove::kBandwidth;
  training.skip_above_limit = 64;
  const client::PlanInfo plan{
      .steps = 1, .batches = 1, .budget = {.graphs = 15, .nodes = 320, .edges = 4992}, .fingerprint = "f"};
  const wire::BatchSpec spec = EvaluationSpec(training, plan, "train");
  EXPECT_EQ(spec.skip_above, std::nullopt);
  EXPECT_EQ(spec.skip_above_limit, std::nullopt);
  EXPECT_EQ(spec.oversize, wire::Oversize::kAlone);
  EXPECT_EQ(spec.nodes, 320);
}

}  // namespace
}  // namespace packtrain::trainer
