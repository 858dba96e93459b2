#include "server/batching/budget_tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <string>
#include <vector>

#include "tests/server/batching/dice.h"

namespace packtrain::batching {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Graphs of 4 to 30 nodes with two to four times as many edges.
class BudgetTuningTest : public ::testing::Test {
 protected:
  BudgetTuningTest() { Draw(3000); }

  void Draw(std::size_t graphs) {
    Dice dice(1);
    n_node_.resize(graphs);
    n_edge_.resize(graphs);
    split_.resize(graphs);
    std::iota(split_.begin(), split_.end(), 0u);
    for (std::size_t graph = 0; graph < graphs; ++graph) {
      n_node_[graph] = dice.Between(4, 30);
      n_edge_[graph] = dice.Between(2, 4) * n_node_[graph];
    }
  }

  PlanRequest Request() const {
    return {.spec = spec_, .sizes = {n_node_, n_edge_}, .split = split_, .epoch = 3};
  }

  std::vector<TunedBudget> Tune() const { return TuneBudget(Request()).value(); }

  void ExpectRefused(absl::StatusCode code, const std::string& part) const {
    const absl::Status status = TuneBudget(Request()).status();
    EXPECT_EQ(status.code(), code);
    EXPECT_THAT(std::string(status.message()), HasSubstr(part));
  }

  // Of all budgets with N in steps of `node_step` and E in steps of `edge_step` around G + 1 mean graphs.
  double BestFillOfAll(std::uint32_t node_step, std::uint32_t edge_step) const {
    const auto mean_batch = [&](const std::vector<std::uint32_t>& sizes) {
      return std::accumulate(sizes.begin(), sizes.end(), 0u) * (spec_.graphs + 1) /
             static_cast<std::uint32_t>(sizes.size());
    };
    PlanRequest request = Request();
    double best = 0;
    const std::uint32_t nodes = mean_batch(n_node_), edges = mean_batch(n_edge_);
    for (std::uint32_t n = nodes * 11 / 12 / 8 * 8 + 8; n <= nodes * 13 / 12; n += node_step) {
      for (std::uint32_t e = edges * 11 / 12 / 8 * 8 + 8; e <= edges * 13 / 12; e += edge_step) {
        request.spec.nodes = n;
        request.spec.edges = e;
        const wire::PlanSummary summary = Plan::Create(request).value()->Summarize();
        if (std::abs(summary.mean_graphs / spec_.graphs - 1) > 0.05) continue;
        best = std::max(best, std::min(summary.fill_nodes, summary.fill_edges));
      }
    }
    return best;
  }

  wire::BatchSpec spec_ = {.policy = wire::Policy::kDynamic, .graphs = 15, .max_graphs = 20};
  std::vector<std::uint32_t> n_node_;
  std::vector<std::uint32_t> n_edge_;
  std::vector<std::uint32_t> split_;
};

TEST_F(BudgetTuningTest, ASliceIsTunedAsASplitOfItsOwn) {
  constexpr std::uint32_t kMostNodes = 20;
  spec_.skip_above = wire::SkipAbove::kNodes;
  spec_.skip_above_limit = kMostNodes;
  const std::vector<TunedBudget> of_slice = Tune();
  spec_.skip_above = std::nullopt;
  spec_.skip_above_limit = std::nullopt;
  std::erase_if(split_, [this](std::uint32_t graph) { return n_node_[graph] > kMostNodes; });
  const std::vector<TunedBudget> of_split = Tune();
  ASSERT_EQ(of_slice.size(), of_split.size());
  for (std::size_t k = 0; k < of_slice.size(); ++k) {
    EXPECT_EQ(of_slice[k].budget, of_split[k].budget);
    EXPECT_EQ(of_slice[k].summary.batches, of_split[k].summary.batches);
  }
}

TEST_F(BudgetTuningTest, EachBudgetIsWhatThePlanMakesOfIt) {
  spec_.seed = 9;
  for (const wire::Order order : {wire::Order::kNone, wire::Order::kFull, wire::Order::kWindow}) {
    spec_.order = order;
    spec_.order_window = order == wire::Order::kWindow ? std::optional(100u) : std::nullopt;
    for (const TunedBudget& tuned : Tune()) {
      PlanRequest request = Request();
      request.spec.nodes = tuned.budget.nodes;
      request.spec.edges = tuned.budget.edges;
      const wire::PlanSummary summary = Plan::Create(request).value()->Summarize();
      EXPECT_EQ(summary.budget, tuned.budget);
      EXPECT_EQ(summary.batches, tuned.summary.batches);
      EXPECT_EQ(summary.max_graphs, tuned.summary.max_graphs);
      EXPECT_EQ(summary.fill_nodes, tuned.summary.fill_nodes);
      EXPECT_EQ(summary.fill_edges, tuned.summary.fill_edges);
    }
  }
}

TEST_F(BudgetTuningTest, BudgetsAreMultiplesOf8WithAboutTheGraphsAimedAt) {
  for (const TunedBudget& tuned : Tune()) {
    EXPECT_EQ(tuned.budget.graphs, 20u);
    EXPECT_EQ(tuned.budget.nodes % 8, 0u);
    EXPECT_EQ(tuned.budget.edges % 8, 0u);
    EXPECT_THAT(tuned.summary.mean_graphs, AllOf(::testing::Ge(0.95 * 15), ::testing::Le(1.05 * 15)));
    EXPECT_EQ(tuned.SmallerFill(), std::min(tuned.summary.fill_nodes, tuned.summary.fill_edges));
  }
}

TEST_F(BudgetTuningTest, TheFrontierFallsInFillAndBatchSize) {
  const std::vector<TunedBudget> frontier = Tune();
  for (std::size_t i = 1; i < frontier.size(); ++i) {
    EXPECT_LE(frontier[i].SmallerFill(), frontier[i - 1].SmallerFill());
    EXPECT_LT(frontier[i].summary.mean_graphs, frontier[i - 1].summary.mean_graphs);
  }
}

TEST_F(BudgetTuningTest, FindsNearlyTheBestOfTheWholeField) {
  EXPECT_GE(Tune().front().SmallerFill(), BestFillOfAll(8, 8) - 0.002);
  spec_.graphs = 60;
  spec_.max_graphs = 76;
  EXPECT_GE(Tune().front().SmallerFill(), BestFillOfAll(8, 16) - 0.002);
}

TEST_F(BudgetTuningTest, DoesNotDependOnThreads) {
  PlanRequest request = Request();
  std::atomic<std::size_t> calls = 0;
  request.parallel_for = [&](std::size_t tasks, const std::function<void(std::size_t)>& run) {
    for (std::size_t task = tasks; task-- > 0;) run(task);
    calls += tasks;
  };
  const std::vector<TunedBudget> backwards = TuneBudget(request).value();
  const std::vector<TunedBudget> forwards = Tune();
  ASSERT_EQ(backwards.size(), forwards.size());
  for (std::size_t i = 0; i < forwards.size(); ++i) EXPECT_EQ(backwards[i].budget, forwards[i].budget);
  EXPECT_GT(calls, 20u);
}

TEST_F(BudgetTuningTest, ComparesTheBestOfALongSplitOnTheWholeOfIt) {
  Draw((1u << 18) + 1);
  spec_.order = wire::Order::kNone;
  const std::vector<TunedBudget> frontier = Tune();
  for (const TunedBudget& tuned : frontier) EXPECT_EQ(tuned.summary.graphs, n_node_.size());
  EXPECT_GT(frontier.front().SmallerFill(), 0.9);
}

TEST_F(BudgetTuningTest, GraphsWithoutEdgesGoByTheirNodes) {
  std::fill(n_edge_.begin(), n_edge_.end(), 0u);
  const std::vector<TunedBudget> frontier = Tune();
  EXPECT_EQ(frontier.front().budget.edges, 8u);
  EXPECT_EQ(frontier.front().SmallerFill(), frontier.front().summary.fill_nodes);
}

TEST_F(BudgetTuningTest, RefusesWhatLeavesNothingToTune) {
  spec_.nodes = 300;
  ExpectRefused(absl::StatusCode::kInvalidArgument, "--nodes does not go with --tune");
  spec_.nodes = std::nullopt;
  spec_.edges = 300;
  ExpectRefused(absl::StatusCode::kInvalidArgument, "--edges does not go with --tune");
  spec_.edges = std::nullopt;
  spec_.budget_sample = 300;
  ExpectRefused(absl::StatusCode::kInvalidArgument, "--budget-sample does not go with --tune");
  spec_ = {.policy = wire::Policy::kStatic, .graphs = 15};
  ExpectRefused(absl::StatusCode::kInvalidArgument, "--tune does not go with --policy static");
  spec_ = {.policy = wire::Policy::kDynamic, .graphs = 0};
  ExpectRefused(absl::StatusCode::kInvalidArgument, "--graphs 0");
}

TEST_F(BudgetTuningTest, SaysWhyThereIsNoSuchBudget) {
  spec_.max_graphs = 10;  // so no batch holds nearly 15
  ExpectRefused(
      absl::StatusCode::kFailedPrecondition,
      "no budget within a twelfth of 16 mean graphs (--graphs 15 and the padding graph) gives batches of 15");
  spec_.max_graphs = 20;
  n_node_[1000] = 5000;
  ExpectRefused(absl::StatusCode::kFailedPrecondition, "graph 1000 with 5000 nodes");
  spec_.oversize = wire::Oversize::kSkip;
  EXPECT_EQ(Tune().front().summary.oversize, 1u);
}

}  // namespace
}  // namespace packtrain::batching
