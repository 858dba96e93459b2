#include "server/batching/chunked_cut.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/batching/policy_kind.h"
#include "server/batching/size_prefetch.h"
#include "tests/server/batching/dice.h"
#include "tests/server/batching/scenario.h"

namespace packtrain::batching {
namespace {

using Graphs = std::vector<std::uint32_t>;
using Task = std::function<void(std::size_t)>;

struct Executor {
  std::string name;
  ParallelFor parallel_for;
};

void RunBackwards(std::size_t tasks, const Task& run) {
  while (tasks > 0) run(--tasks);
}

// Every other task, then those between.
void RunByTurns(std::size_t tasks, const Task& run) {
  for (std::size_t first : {1, 0}) {
    for (std::size_t task = first; task < tasks; task += 2) run(task);
  }
}

ParallelFor OnThreads(int threads) {
  return [threads](std::size_t tasks, const Task& run) {
    std::atomic<std::size_t> next = 0;
    std::vector<std::jthread> workers;
    for (int thread = 0; thread < threads; ++thread) {
      workers.emplace_back([&] {
        for (std::size_t task = next++; task < tasks; task = next++) run(task);
      });
    }
  };
}

const std::vector<Executor>& Executors() {
  static const auto* const executors = new std::vector<Executor>{
      {"in turn", RunInTurn},         {"backwards", RunBackwards},   {"by turns", RunByTurns},
      {"one thread", OnThreads(1)},   {"two threads", OnThreads(2)}, {"three threads", OnThreads(3)},
      {"eight threads", OnThreads(8)}};
  return *executors;
}

using Batch = std::pair<Graphs, wire::Shape>;

std::vector<Batch> BatchesOf(const BatchList& list) {
  std::vector<Batch> batches;
  for (std::size_t batch = 0; batch < list.size(); ++batch) {
    const std::span<const std::uint32_t> graphs = list.Graphs(batch);
    batches.emplace_back(Graphs(graphs.begin(), graphs.end()), list.Real(batch));
  }
  return batches;
}

// What CutInChunks is to give.
std::vector<Batch> CutOneByOne(const BatchPolicy& policy, std::span<const std::uint32_t> order,
                               const GraphSizes& sizes, std::size_t chunk_graphs) {
  std::vector<Batch> batches;
  for (std::size_t begin = 0; begin < order.size(); begin += chunk_graphs) {
    const std::size_t count = std::min(chunk_graphs, order.size() - begin);
    const std::vector<Batch> chunk = BatchesOf(policy.Cut(order.subspan(begin, count), sizes));
    batches.insert(batches.end(), chunk.begin(), chunk.end());
  }
  return batches;
}

// The chunk's edge before, at and behind the end of the order, and chunks that the order holds many of.
std::vector<std::size_t> ChunksFor(std::size_t graphs) {
  return {1, 2, 7, std::max<std::size_t>(graphs - 1, 1), graphs, graphs + 1};
}

TEST(ChunkedCutTest, EveryChunkIsCutByItselfWhoeverRunsIt) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Scenario scenario = DrawScenario(seed);
    const PlanRequest request = scenario.Request({});
    const auto policy = KindOf(request.spec).create(request);
    if (!policy.ok()) continue;
    for (const std::size_t chunk_graphs : ChunksFor(scenario.split.size())) {
      const std::vector<Batch> expected = CutOneByOne(**policy, scenario.split, request.sizes, chunk_graphs);
      const Executor& executor = Executors()[(seed + chunk_graphs) % Executors().size()];
      SCOPED_TRACE(absl::StrCat(scenario.name, "; chunks of ", chunk_graphs, " ", executor.name));
      const BatchList cut =
          CutInChunks(**policy, scenario.split, request.sizes, chunk_graphs, executor.parallel_for);
      ASSERT_EQ(BatchesOf(cut), expected);
      std::size_t graphs = 0;
      for (const Batch& batch : expected) graphs += batch.first.size();
      ASSERT_EQ(cut.graphs().size(), graphs);
    }
  }
}

TEST(ChunkedCutTest, TasksAreAsManyAsTheChunks) {
  const Scenario scenario = DrawScenario(0);
  const PlanRequest request = scenario.Request({});
  const auto policy = KindOf(request.spec).create(request).value();
  const std::size_t graphs = scenario.split.size();
  ASSERT_GE(graphs, 3u);
  std::vector<std::size_t> counts;
  const ParallelFor counting = [&](std::size_t tasks, const Task& run) {
    counts.push_back(tasks);
    RunInTurn(tasks, run);
  };
  for (const std::size_t chunk : {graphs - 1, std::size_t{1}}) {
    CutInChunks(*policy, scenario.split, request.sizes, chunk, counting);
  }
  EXPECT_EQ(counts, (std::vector<std::size_t>{2, graphs}));
}

// Sizes drawn for more graphs than a chunk holds.
class LargePlanTest : public ::testing::Test {
 protected:
  std::unique_ptr<const Plan> Create(const wire::BatchSpec& spec, std::size_t graphs,
                                     const ParallelFor& parallel_for) {
    while (n_node_.size() < graphs) {
      n_node_.push_back(dice_.Between(1, 30));
      n_edge_.push_back(dice_.Between(0, 60));
      bandwidth_.push_back(dice_.Between(0, n_node_.back() - 1));
    }
    split_.resize(graphs);
    std::iota(split_.begin(), split_.end(), 0u);
    PlanRequest request;
    request.spec = spec;
    request.sizes = {.n_node = n_node_, .n_edge = n_edge_, .bandwidth = bandwidth_};
    request.split = split_;
    request.parallel_for = parallel_for;
    return Plan::Create(request).value();
  }

  // The graphs of the epoch's batches before each batch's end, and the graphs in their order.
  static std::pair<std::vector<std::size_t>, Graphs> Walk(const Plan& plan) {
    std::pair<std::vector<std::size_t>, Graphs> walk;
    for (const PlannedBatch& batch : AllBatches(plan)) {
      walk.second.insert(walk.second.end(), batch.graphs.begin(), batch.graphs.end());
      walk.first.push_back(walk.second.size());
    }
    return walk;
  }

  Dice dice_{1};
  Graphs n_node_;
  Graphs n_edge_;
  Graphs bandwidth_;
  Graphs split_;
};

// One for each policy.
std::vector<wire::BatchSpec> EverySpec() {
  std::vector<wire::BatchSpec> specs;
  for (const auto& word : wire::kPolicyWords) {
    wire::BatchSpec& spec = specs.emplace_back(wire::BatchSpec{.policy = word.value, .graphs = 31});
    if (word.value == wire::Policy::kSupergraph) spec.blocks = spec.block_nodes = 30;
  }
  return specs;
}

TEST_F(LargePlanTest, IsTheSameWhoeverRunsItsChunks) {
  for (const wire::BatchSpec& spec : EverySpec()) {
    const auto expected = Walk(*Create(spec, kChunkGraphs + 5, RunInTurn));
    EXPECT_EQ(expected.second.size(), kChunkGraphs + 5);
    for (const ParallelFor& parallel_for : {ParallelFor(RunBackwards), OnThreads(8)}) {
      EXPECT_EQ(Walk(*Create(spec, kChunkGraphs + 5, parallel_for)), expected);
    }
  }
}

TEST_F(LargePlanTest, ABudgetedBatchEndsWhereAChunkDoes) {
  const wire::BatchSpec spec = {.policy = wire::Policy::kDynamic, .graphs = 31, .order = wire::Order::kNone};
  for (const std::size_t graphs : {kChunkGraphs - 1, kChunkGraphs, kChunkGraphs + 1, 3 * kChunkGraphs}) {
    const std::vector<std::size_t> ends = Walk(*Create(spec, graphs, RunInTurn)).first;
    for (std::size_t end = kChunkGraphs; end < graphs; end += kChunkGraphs) {
      EXPECT_TRUE(std::binary_search(ends.begin(), ends.end(), end)) << graphs << ": " << end;
    }
    EXPECT_EQ(ends.back(), graphs);
  }
}

// Many graphs, with and without one whose size no half word holds.
TEST_F(LargePlanTest, CountsAreThoseOfTheGraphsHoweverSizesAreRead) {
  for (const std::uint32_t largest : {65535u, 65536u}) {
    for (const wire::BatchSpec& spec : EverySpec()) {
      Create(spec, 1 << 18, RunInTurn);
      n_edge_[5] = largest;
      const auto plan = Create(spec, 1 << 18, RunInTurn);
      EXPECT_EQ(MakeSizeWords({n_node_, n_edge_}, n_node_.size()).empty(), largest > 65535);
      for (const PlannedBatch& batch : AllBatches(*plan)) {
        wire::Shape sum;
        for (const std::uint32_t graph : batch.graphs) {
          sum = {sum.graphs + 1, sum.nodes + n_node_[graph], sum.edges + n_edge_[graph]};
        }
        ASSERT_EQ(batch.real, sum);
      }
    }
  }
}

TEST(SizeWordsTest, AreMadeWhereAWalkOverMostOfManyGraphsUsesThem) {
  const Graphs n_node((1 << 18) + 1, 3), n_edge((1 << 18) + 1, 4);
  const auto words = [&](std::size_t graphs) { return MakeSizeWords({n_node, n_edge}, graphs); };
  EXPECT_EQ(words(1 << 18), Graphs(n_node.size(), 3 | 4 << 16));
  EXPECT_TRUE(words((1 << 18) - 1).empty());
  const Graphs twice(4 << 18, 1);
  EXPECT_TRUE(MakeSizeWords({twice, twice}, 1 << 18).empty());
}

TEST_F(LargePlanTest, ChunksChangeNoStaticBatch) {
  for (const std::uint32_t graphs : {127u, static_cast<std::uint32_t>(kChunkGraphs) + 3}) {
    const wire::BatchSpec spec = {.policy = wire::Policy::kStatic, .graphs = graphs};
    const std::size_t count = 2 * kChunkGraphs + 1;
    const wire::PlanSummary summary = Create(spec, count, RunInTurn)->Summarize();
    EXPECT_EQ(summary.batches, (count + graphs - 1) / graphs);
    EXPECT_EQ(summary.min_graphs, count % graphs);
  }
}

}  // namespace
}  // namespace packtrain::batching
