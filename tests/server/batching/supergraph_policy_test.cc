// Plans of supergraphs. Numbers of blocks and node slots are those of arXiv 1906.11786: K blocks of S slots.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "server/batching/plan.h"
#include "server/batching/supergraph_table.h"

#include "tests/server/batching/plan_fixture.h"

namespace packtrain::batching {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

// Graphs with bandwidths.
class SupergraphTest : public PlanTest {
 protected:
  void SetGraphs(Sizes n_node, Sizes n_edge, Sizes bandwidth) {
    SetSizes(std::move(n_node), std::move(n_edge));
    bandwidth_ = std::move(bandwidth);
  }

  PlanRequest RequestFor(const wire::BatchSpec& spec) const {
    PlanRequest request = Request(spec);
    request.sizes.bandwidth = bandwidth_;
    return request;
  }

  std::unique_ptr<const Plan> Make(const wire::BatchSpec& spec) const {
    absl::StatusOr<std::unique_ptr<const Plan>> plan = Plan::Create(RequestFor(spec));
    EXPECT_TRUE(plan.ok()) << plan.status();
    return *std::move(plan);
  }

  void ExpectImpossible(const wire::BatchSpec& spec, const std::string& message) const {
    ExpectRefused(RequestFor(spec), absl::StatusCode::kFailedPrecondition, message);
  }

  Sizes bandwidth_;
};

// In the order of the data set.
wire::BatchSpec Supergraph(std::uint32_t blocks, std::uint32_t block_nodes,
                           wire::Oversize oversize = wire::Oversize::kError) {
  return {.policy = wire::Policy::kSupergraph,
          .order = wire::Order::kNone,
          .oversize = oversize,
          .blocks = blocks,
          .block_nodes = block_nodes};
}

TEST_F(SupergraphTest, GraphsFollowOneAnotherUntilTheNodesAreFull) {
  SetGraphs({5, 6, 4, 11, 7}, {10, 12, 9, 30, 8}, {2, 1, 3, 4, 4});
  const auto plan = Make(Supergraph(4, 4));  // 16 node slots, one of them padding
  EXPECT_THAT(GraphsAt(*plan, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(GraphsAt(*plan, 1), ElementsAre(3));
  EXPECT_THAT(GraphsAt(*plan, 2), ElementsAre(4));
  EXPECT_EQ(plan->steps(), 3u);
  for (std::uint64_t index = 0; index < 3; ++index) {
    EXPECT_EQ(plan->BatchAt(index)->padded, (wire::Shape{17, 16, 31, 4}));  // 31 edges: the first batch
  }
  const wire::PlanSummary summary = plan->Summarize();
  EXPECT_EQ(summary.budget, (wire::Shape{16, 16, 31, 4}));
  EXPECT_EQ(summary.bound_batches, 3u);  // of 33 nodes, 15 a batch
}

TEST_F(SupergraphTest, HoldsAtMostMaxGraphs) {
  SetGraphs({1, 1, 1, 1}, {0, 0, 0, 0}, {0, 0, 0, 0});
  wire::BatchSpec spec = Supergraph(4, 4);
  spec.max_graphs = 3;
  const auto plan = Make(spec);
  EXPECT_THAT(GraphsAt(*plan, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(GraphsAt(*plan, 1), ElementsAre(3));
  EXPECT_EQ(plan->BatchAt(0)->padded, (wire::Shape{4, 16, 0, 4}));
  EXPECT_EQ(plan->Summarize().bound_batches, 2u);
}

TEST_F(SupergraphTest, AGraphAsWideAsABlockIsWithinTheBudgetAndAWiderOneIsNot) {
  SetGraphs({10, 10}, {9, 9}, {4, 5});
  ExpectImpossible(
      Supergraph(4, 4),
      "graphs above a supergraph of --blocks 4 --block-nodes 4 (15 nodes, bandwidth 4): 1 of 2; the "
      "largest is graph 1 with 10 nodes, 9 edges and bandwidth 5; --blocks 4 --block-nodes 5 would "
      "hold every graph; or choose --oversize alone or --oversize skip");
  EXPECT_EQ(Make(Supergraph(4, 5))->Summarize().oversize, 0u);
}

TEST_F(SupergraphTest, AGraphThatLeavesNoSlotForPaddingIsAboveTheBudget) {
  SetGraphs({15, 16}, {9, 9}, {1, 1});
  ExpectImpossible(Supergraph(4, 4),
                   "1 of 2; the largest is graph 1 with 16 nodes, 9 edges and bandwidth 1; "
                   "--blocks 5 --block-nodes 4 would hold every graph");
  EXPECT_EQ(Make(Supergraph(5, 4))->Summarize().oversize, 0u);
}

TEST_F(SupergraphTest, AloneHasBlocksOfItsOwnWidth) {
  SetGraphs({3, 200, 4, 128, 17, 2}, {4, 900, 6, 300, 20, 2}, {2, 70, 3, 64, 0, 1});
  const auto plan = Make(Supergraph(4, 4, wire::Oversize::kAlone));
  EXPECT_THAT(GraphsAt(*plan, 0), ElementsAre(0, 2, 5));
  EXPECT_FALSE(plan->BatchAt(0)->oversize);
  EXPECT_EQ(plan->BatchAt(0)->padded, (wire::Shape{17, 16, 12, 4}));
  EXPECT_THAT(GraphsAt(*plan, 1), ElementsAre(1));
  EXPECT_TRUE(plan->BatchAt(1)->oversize);
  EXPECT_EQ(plan->BatchAt(1)->padded, (wire::Shape{2, 256, 960, 128}));  // 2 blocks of up64(70)
  EXPECT_EQ(plan->BatchAt(2)->padded, (wire::Shape{2, 128, 300, 64}));   // full blocks: no padding edge
  EXPECT_EQ(plan->BatchAt(3)->padded, (wire::Shape{2, 64, 64, 64}));     // narrow, and too long
  EXPECT_EQ(plan->steps(), 4u);
  EXPECT_THAT(plan->Summarize().oversize_graphs, ElementsAre(1, 3, 4));
}

TEST_F(SupergraphTest, SkipLeavesOutTheWideAndCounts) {
  SetGraphs({3, 5, 3}, {4, 9, 4}, {2, 4, 2});
  const auto plan = Make(Supergraph(4, 3, wire::Oversize::kSkip));
  EXPECT_THAT(GraphsAt(*plan, 0), ElementsAre(0, 2));
  EXPECT_EQ(plan->steps(), 1u);
  EXPECT_EQ(plan->Summarize().oversize, 1u);
  EXPECT_EQ(plan->Summarize().graphs, 2u);
  ExpectImpossible(Supergraph(4, 1, wire::Oversize::kSkip), "--oversize skip would leave no graph");
}

TEST_F(SupergraphTest, BandwidthsAreNeeded) {
  ExpectImpossible(Supergraph(4, 4), "import or derive the data set with --renumber rcm");
  bandwidth_ = {1, 1};  // of two of five graphs
  ExpectImpossible(Supergraph(4, 4), "--renumber rcm");
}

TEST_F(SupergraphTest, BalanceMovesWholeBatches) {
  Sizes n_node, n_edge;
  for (std::uint32_t graph = 0; graph < 1000; ++graph) {
    n_node.push_back(1 + graph * 7 % 13);
    n_edge.push_back(graph * 11 % 50);
  }
  SetGraphs(n_node, n_edge, Sizes(1000, 1));
  wire::BatchSpec spec = Supergraph(8, 4);
  const auto cut = Make(spec);
  spec.balance = wire::Balance::kCost;
  PlanRequest request = RequestFor(spec);
  request.world = {.size = 4};
  const auto balanced = *Plan::Create(request);
  std::vector<Sizes> expected, batches;
  for (std::uint64_t index = 0; index < cut->Summarize().batches; ++index) {
    expected.push_back(GraphsAt(*cut, index));
    batches.push_back(GraphsAt(*balanced, index));
  }
  EXPECT_NE(batches, expected);
  EXPECT_THAT(batches, ::testing::UnorderedElementsAreArray(expected));
  request.spec.balance = wire::Balance::kNone;
  EXPECT_GT(balanced->Summarize().rank_load_mean_over_max,
            (*Plan::Create(request))->Summarize().rank_load_mean_over_max);
}

std::vector<std::string> Texts(const std::vector<SupergraphRow>& rows) {
  std::vector<std::string> texts;
  for (const SupergraphRow& row : rows) {
    const char* by = row.by == LimitBy::kNodes ? "nodes" : row.by == LimitBy::kBandwidth ? "narrow" : "as read";
    texts.push_back(absl::StrCat(by, " ", row.limit, ": ", row.share, " ", row.graphs_per_supergraph));
  }
  return texts;
}

TEST_F(SupergraphTest, TheTableHasALineForEachLimit) {
  SetGraphs({2, 5, 5, 9, 20}, {2, 8, 8, 16, 40}, {1, 2, 4, 3, 8});
  wire::BatchSpec spec = Supergraph(3, 4);  // 12 node slots, one of them padding
  const Sizes as_read = {1, 4, 4, 8, 19};
  EXPECT_THAT(
      Texts(*TabulateSupergraphs(RequestFor(spec), as_read)),
      ElementsAreArray({"nodes 2: 0.2 1", "nodes 4: 0.2 1", "nodes 8: 0.6 1.5", "nodes 9: 0.8 1.33333",
                        "nodes 16: 0.8 1.33333", "nodes 32: 0.8 1.33333",  //
                        "narrow 1: 0.2 1", "narrow 2: 0.4 2", "narrow 4: 0.8 1.33333",
                        "narrow 8: 0.8 1.33333",  // the graph of 20 nodes fits no supergraph
                        "as read 1: 0.2 1", "as read 2: 0.2 1", "as read 4: 0.6 1.5", "as read 8: 0.8 1.33333",
                        "as read 16: 0.8 1.33333", "as read 32: 0.8 1.33333"}));
  EXPECT_THAT(Texts(*TabulateSupergraphs(RequestFor(spec), {})), ::testing::SizeIs(10));
  spec.policy = wire::Policy::kDynamic;
  EXPECT_EQ(TabulateSupergraphs(RequestFor(spec), {}).status().code(), absl::StatusCode::kInvalidArgument);
  bandwidth_.clear();
  EXPECT_EQ(TabulateSupergraphs(RequestFor(Supergraph(3, 4)), {}).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(SupergraphTest, ATableOfASliceHasSharesOfTheSlice) {
  SetGraphs({2, 5, 5, 9, 20}, {2, 8, 8, 16, 40}, {1, 2, 4, 3, 8});
  wire::BatchSpec spec = Supergraph(3, 4);
  spec.skip_above = wire::SkipAbove::kNodes;
  spec.skip_above_limit = 5;
  EXPECT_THAT(
      Texts(*TabulateSupergraphs(RequestFor(spec), {})),
      ElementsAreArray({"nodes 2: 0.333333 1", "nodes 4: 0.333333 1", "nodes 5: 1 1.5", "nodes 8: 1 1.5",
                        "narrow 1: 0.333333 1", "narrow 2: 0.666667 2", "narrow 4: 1 1.5"}));
}

TEST_F(SupergraphTest, TheLineOfTheBlocksIsThePlanThatSkipsTheWide) {
  Sizes n_node, n_edge, bandwidth;
  for (std::uint32_t graph = 0; graph < 2000; ++graph) {
    n_node.push_back(1 + graph * 7919 % 101);
    n_edge.push_back(2 * n_node.back());
    bandwidth.push_back(graph * 104729 % n_node.back());
  }
  SetGraphs(n_node, n_edge, bandwidth);
  wire::BatchSpec spec = Supergraph(20, 23, wire::Oversize::kSkip);
  spec.order = wire::Order::kFull;
  const wire::PlanSummary summary = Make(spec)->Summarize();
  const std::vector<SupergraphRow> rows = *TabulateSupergraphs(RequestFor(spec), {});
  const auto line = std::ranges::find_if(
      rows, [](const SupergraphRow& row) { return row.by == LimitBy::kBandwidth && row.limit == 23; });
  ASSERT_NE(line, rows.end());
  EXPECT_EQ(line->graphs_per_supergraph, summary.mean_graphs);
  EXPECT_EQ(line->share, static_cast<double>(summary.graphs) / 2000);
  const auto as_many = std::ranges::find_if(
      rows, [&](const SupergraphRow& row) { return row.by == LimitBy::kNodes && row.share >= line->share; });
  ASSERT_NE(as_many, rows.end());
  EXPECT_LT(as_many->share, line->share + 0.02);  // a limit of one node less keeps fewer
}

// Of tests/golden/supergraph_plan.txt. The first lines say what a line holds.
class GoldenPlans : public SupergraphTest {
 protected:
  void SetUp() override {
    std::ifstream golden(PACKTRAIN_GOLDEN "/supergraph_plan.txt");
    for (std::string line; std::getline(golden, line);) {
      if (!line.starts_with('#')) lines_.push_back(absl::StrSplit(line, ": "));
    }
    ASSERT_GT(lines_.size(), 10u);
    Sizes n_node, n_edge, bandwidth;
    for (const absl::string_view graph : absl::StrSplit(lines_[0][1], ", ")) {
      const std::vector<std::string> words = absl::StrSplit(graph, ' ');
      n_node.push_back(NumberOf(words[0]));
      n_edge.push_back(NumberOf(words[1]));
      bandwidth.push_back(NumberOf(words[2]));
    }
    SetGraphs(n_node, n_edge, bandwidth);
  }

  static std::uint32_t NumberOf(const std::string& word) {
    return static_cast<std::uint32_t>(std::stoul(word));
  }

  // The words before the colons of the lines that begin with `kind`, and what stands behind.
  std::vector<std::pair<std::vector<std::string>, std::string>> Lines(const std::string& kind) const {
    std::vector<std::pair<std::vector<std::string>, std::string>> found;
    for (const std::vector<std::string>& line : lines_) {
      if (line[0].starts_with(kind + " ")) found.push_back({absl::StrSplit(line[0], ' '), line[1]});
    }
    return found;
  }

 private:
  std::vector<std::vector<std::string>> lines_;
};

TEST_F(GoldenPlans, PlansAreThoseOfOtherCode) {
  EXPECT_THAT(Lines("plan"), ::testing::SizeIs(7));
  for (const auto& [words, expected] : Lines("plan")) {
    wire::BatchSpec spec = Supergraph(NumberOf(words[3]), NumberOf(words[4]));
    spec.oversize = words[6] == "skip" ? wire::Oversize::kSkip : wire::Oversize::kAlone;
    if (words[1] != "-") {
      spec.order = wire::Order::kFull;
      spec.seed = NumberOf(words[1]);
    }
    if (words[5] != "-") spec.max_graphs = NumberOf(words[5]);
    PlanRequest request = RequestFor(spec);
    request.epoch = NumberOf(words[2]);
    const auto plan = Plan::Create(request).value();
    std::vector<std::string> batches;
    for (std::uint64_t index = 0; index < plan->steps(); ++index) {
      const wire::Shape padded = plan->BatchAt(index)->padded;
      batches.push_back(absl::StrCat(absl::StrJoin(GraphsAt(*plan, index), " "), " / ", padded.graphs, " ",
                                     padded.nodes, " ", padded.edges, " ", padded.block_nodes));
    }
    EXPECT_EQ(absl::StrJoin(batches, "; "), expected) << absl::StrJoin(words, " ");
  }
}

TEST_F(GoldenPlans, TablesAreThoseOfOtherCode) {
  const std::vector<SupergraphRow> rows = TabulateSupergraphs(RequestFor(Supergraph(5, 9)), {}).value();
  for (const auto& [kind, by] :
       {std::pair("nodes", LimitBy::kNodes), std::pair("bandwidth", LimitBy::kBandwidth)}) {
    EXPECT_THAT(Lines(kind), ::testing::SizeIs(6));
    for (const auto& [words, expected] : Lines(kind)) {
      const std::vector<std::string> counts = absl::StrSplit(expected, ' ');
      const std::uint32_t limit = NumberOf(words[3]);
      const auto row = std::ranges::find_if(
          rows, [&, its_by = by](const SupergraphRow& one) { return one.by == its_by && one.limit == limit; });
      ASSERT_NE(row, rows.end()) << limit;
      EXPECT_EQ(row->share, NumberOf(counts[0]) / 60.0);
      EXPECT_EQ(row->graphs_per_supergraph, static_cast<double>(NumberOf(counts[0])) / NumberOf(counts[1]));
    }
  }
}

}  // namespace
}  // namespace packtrain::batching
