#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/batching/plan.h"
#include "server/batching/spec_rules.h"
#include "tests/server/batching/dice.h"
#include "tests/server/batching/exact_packing.h"
#include "tests/server/batching/scenario.h"

namespace packtrain::batching {
namespace {

using ::testing::Each;
using ::testing::SizeIs;

using Sizes = std::vector<std::uint32_t>;
using Batches = std::vector<Sizes>;

wire::BatchSpec Tuple(std::uint32_t graphs, std::uint32_t nodes, std::uint32_t edges,
                      wire::Order order = wire::Order::kFull) {
  return {.policy = wire::Policy::kTuple, .graphs = graphs, .nodes = nodes, .edges = edges, .order = order};
}

class TuplePolicyTest : public ::testing::Test {
 protected:
  // 1 to 30 nodes, and edges that do not tell much about them.
  void DrawSizes(std::uint64_t seed, std::size_t graphs) {
    Dice dice(seed);
    n_node_.resize(graphs);
    n_edge_.resize(graphs);
    for (std::uint32_t& n : n_node_) n = dice.Between(1, 30);
    for (std::uint32_t& n : n_edge_) n = dice.Between(0, 60);
  }

  Batches Plan1(const wire::BatchSpec& spec, std::uint64_t epoch = 0) const {
    Sizes split(n_node_.size());
    std::iota(split.begin(), split.end(), 0u);
    const auto plan = Plan::Create({.spec = spec, .sizes = {n_node_, n_edge_}, .split = split, .epoch = epoch});
    EXPECT_TRUE(plan.ok()) << plan.status();
    Batches batches;
    if (!plan.ok()) return batches;
    for (const PlannedBatch& batch : AllBatches(**plan)) {
      batches.emplace_back(batch.graphs.begin(), batch.graphs.end());
    }
    return batches;
  }

  using Pack = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  // The sizes that each batch holds.
  std::vector<Pack> PacksOf(const Batches& batches) const {
    std::vector<Pack> packs;
    for (const Sizes& batch : batches) {
      Pack& pack = packs.emplace_back();
      for (const std::uint32_t graph : batch) pack.emplace_back(n_node_[graph], n_edge_[graph]);
    }
    return packs;
  }

  Sizes n_node_;
  Sizes n_edge_;
};

TEST_F(TuplePolicyTest, EveryEpochHasTheSamePacksOfSizes) {
  DrawSizes(1, 500);
  const std::vector<Pack> first = PacksOf(Plan1(Tuple(8, 150, 320)));
  for (const std::uint64_t epoch : {1u, 2u, 77u}) {
    const std::vector<Pack> packs = PacksOf(Plan1(Tuple(8, 150, 320), epoch));
    EXPECT_NE(packs, first) << "the order of the packs is drawn anew";
    EXPECT_THAT(packs, ::testing::UnorderedElementsAreArray(first));
  }
}

TEST_F(TuplePolicyTest, WithoutAnOrderEveryEpochIsTheSame) {
  DrawSizes(2, 500);
  const wire::BatchSpec spec = Tuple(8, 150, 320, wire::Order::kNone);
  EXPECT_EQ(Plan1(spec, 0), Plan1(spec, 5));
}

TEST_F(TuplePolicyTest, APacksPlaceInTheEpochIsAnyPlace) {
  // Twenty packs of one graph, each of another size.
  n_node_.resize(20);
  std::iota(n_node_.begin(), n_node_.end(), 51u);
  n_edge_.assign(20, 1);
  std::vector<std::uint64_t> counts(20 * 20);
  for (std::uint64_t epoch = 0; epoch < 4000; ++epoch) {
    const Batches batches = Plan1(Tuple(1, 101, 100), epoch);
    ASSERT_THAT(batches, SizeIs(20));
    for (std::size_t place = 0; place < 20; ++place) ++counts[place * 20 + batches[place][0]];
  }
  // 200 each are expected; the standard deviation is 14.
  EXPECT_THAT(counts, Each(::testing::AllOf(::testing::Ge(140u), ::testing::Le(260u))));
}

TEST_F(TuplePolicyTest, AnyGraphOfASizeMayTakeAnyOfItsPlaces) {
  // Ten packs, each of a large graph of its own size and one of ten equal small ones.
  for (std::uint32_t graph = 0; graph < 10; ++graph) {
    n_node_.insert(n_node_.end(), {90 + graph, 1});
    n_edge_.insert(n_edge_.end(), {10, 1});
  }
  wire::BatchSpec spec = Tuple(2, 101, 100);
  spec.max_graphs = 2;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> counts;
  for (std::uint64_t epoch = 0; epoch < 2000; ++epoch) {
    const Batches batches = Plan1(spec, epoch);
    ASSERT_THAT(batches, SizeIs(10));
    for (const Sizes& batch : batches)
      ++counts[{std::max(n_node_[batch[0]], n_node_[batch[1]]), n_node_[batch[0]] == 1 ? batch[0] : batch[1]}];
  }
  // 200 each are expected; the standard deviation is 13.
  EXPECT_THAT(counts, SizeIs(100));
  for (const auto& [pair, count] : counts) {
    EXPECT_GE(count, 145u);
    EXPECT_LE(count, 255u);
  }
}

TEST_F(TuplePolicyTest, HoldsAQuarterMoreGraphsUnlessTold) {
  n_node_.assign(1000, 1);
  n_edge_.assign(1000, 1);
  EXPECT_THAT(Plan1(Tuple(15, 1000, 1000)).front(), SizeIs(20));
}

TEST_F(TuplePolicyTest, OversizeGraphsAreShuffledAsPacksOfTheirOwn) {
  DrawSizes(3, 200);
  n_node_[17] = 1000;
  n_edge_[100] = 5000;
  wire::BatchSpec spec = Tuple(8, 150, 320);
  spec.oversize = wire::Oversize::kAlone;
  std::set<std::size_t> places;
  for (std::uint64_t epoch = 0; epoch < 10; ++epoch) {
    const Batches batches = Plan1(spec, epoch);
    for (const std::uint32_t graph : {17u, 100u}) {
      const auto alone = std::ranges::find(batches, Sizes{graph});
      ASSERT_NE(alone, batches.end());
      places.insert(static_cast<std::size_t>(alone - batches.begin()));
    }
  }
  EXPECT_GE(places.size(), 8u);
}

TEST_F(TuplePolicyTest, SizesOfSeveralDigitsAreSorted) {
  // Above 2^11 and 2^22: packs of the largest and the smallest that fit.
  n_node_ = {5'000'000, 3, 70'000, 4'990'000, 4'930'000, 2'499'999, 2'500'000, 1};
  n_edge_.assign(8, 0);
  const Batches batches = Plan1(Tuple(4, 5'000'001, 10, wire::Order::kNone));
  EXPECT_THAT(batches, SizeIs(4));  // of 20 million nodes: each pack is full to 10,000 nodes
}

TEST_F(TuplePolicyTest, SaysItsBudgetInTheCanonicalText) {
  EXPECT_EQ(CanonicalText(Tuple(8, 100, 200)),
            absl::StrCat("plan_version=", kPlanVersion,
                         " policy=tuple graphs=8 max_graphs=12 nodes=100 edges=200 budget_sample=all "
                         "oversize=error order=full seed=0 drop_last=0"));
}

// 400 times twelve graphs, of which three or four go into a batch: 2.8 % more batches than are possible.
TEST_F(TuplePolicyTest, NeedsHardlyMoreBatchesThanTheExactOptimum) {
  std::uint64_t batches = 0;
  std::uint64_t fewest = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Dice dice(seed);
    n_node_.assign(12, 0);
    n_edge_.assign(12, 0);
    for (std::uint32_t& n : n_node_) n = dice.Between(1, 40);
    for (std::size_t graph = 0; graph < 12; ++graph) n_edge_[graph] = n_node_[graph] * dice.Between(2, 4);
    const std::uint64_t possible = FewestBatches(n_node_, n_edge_, {15, 81, 240});
    const std::uint64_t planned = Plan1(Tuple(12, 81, 240)).size();
    EXPECT_GE(planned, possible);
    batches += planned;
    fewest += possible;
  }
  EXPECT_EQ(fewest, 1490u);
  EXPECT_LE(batches, 1532u);
}

}  // namespace
}  // namespace packtrain::batching
