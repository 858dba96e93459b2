// The guarantees that only the bytes of a stream can show, over drawn specs and worlds. A failure names the
// seed that drew it. Those of the plan alone: tests/server/batching/plan_guarantees_test.cc.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <latch>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/batches/batch_sequence.h"
#include "tests/server/batches/scenario.h"
#include "tests/server/batching/dice.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::batches {
namespace {

using ::packtrain::testing::BodyOf;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::kPlenty;
using ::packtrain::testing::NextBuilt;
using ::packtrain::testing::Scenario;
using ::testing::SizeIs;

constexpr std::uint64_t kSeeds = 60;
constexpr std::uint32_t kGraphs = 40;

// The narrow limits leave out most graphs, none of them all.
void DrawSlice(batching::Dice& dice, v1::BatchSpec& spec) {
  if (!dice.OneIn(3)) return;
  const bool has_bandwidths = spec.policy() == v1::POLICY_SUPERGRAPH;
  spec.set_skip_above(has_bandwidths && dice.OneIn(2) ? v1::SKIP_ABOVE_BANDWIDTH : v1::SKIP_ABOVE_NODES);
  spec.set_skip_above_limit(dice.Between(1, 6));
}

v1::BatchSpec DrawSpec(batching::Dice& dice) {
  v1::BatchSpec spec;
  spec.set_policy(dice.One(
      {v1::POLICY_STATIC, v1::POLICY_DYNAMIC, v1::POLICY_PACKED, v1::POLICY_TUPLE, v1::POLICY_SUPERGRAPH}));
  if (spec.policy() == v1::POLICY_STATIC) {
    spec.set_pad(dice.One({v1::PAD_NONE, v1::PAD_MULTIPLE, v1::PAD_POW2, v1::PAD_CONSTANT, v1::PAD_LADDER}));
    if (spec.pad() == v1::PAD_LADDER) spec.set_ladder_rungs(dice.Between(1, 4));
  }
  if (spec.policy() == v1::POLICY_SUPERGRAPH) {
    spec.set_blocks(dice.Between(2, 6));
    spec.set_block_nodes(dice.Between(1, 8));
    spec.set_oversize(v1::OVERSIZE_ALONE);
  } else {
    spec.set_graphs(dice.Between(1, 7));
  }
  spec.set_order(dice.One({v1::ORDER_FULL, v1::ORDER_NONE, v1::ORDER_WINDOW}));
  if (spec.order() == v1::ORDER_WINDOW) spec.set_order_window(dice.Between(1, 50));
  spec.set_seed(dice.Between(0, 1000));
  spec.set_balance(dice.One({v1::BALANCE_NONE, v1::BALANCE_COST}));
  DrawSlice(dice, spec);
  return spec;
}

// The header's place, checksum and shape with the body.
std::string Text(const BuiltBatch& batch) {
  const wire::BatchHeader& header = batch.header;
  return absl::StrCat(header.epoch, ".", header.index, " ", header.body_crc32c, " ", header.padded.graphs, " ",
                      header.padded.nodes, " ", header.padded.edges, " ", header.padded.block_nodes, " ",
                      header.fingerprint, BodyOf(batch));
}

// Section "graph_index", the first one.
std::vector<std::uint64_t> GraphsOf(const BuiltBatch& batch) {
  std::vector<std::uint64_t> graphs(batch.header.real.graphs);
  if (graphs.empty()) return graphs;
  std::memcpy(graphs.data(), batch.body.get() + batch.header.sections[0].offset_bytes,
              graphs.size() * sizeof(graphs[0]));
  return graphs;
}

using Place = std::pair<std::uint64_t, std::uint64_t>;  // epoch, index
using Batches = std::map<Place, std::string>;

// A server as far as a stream needs one; its own caches and threads.
class Streams {
 public:
  Streams(Scenario& scenario, ResolvedSpec source, int builders)
      : scenario_(scenario),
        source_(std::move(source)),
        plans_(kPlenty, scenario.memory()),
        background_(builders) {}

  std::unique_ptr<BatchSequence> Open(const SequenceRange& range) {
    const auto builder = BatchBuilder::Create(source_.dataset, kPlenty, scenario_.body_memory());
    EXPECT_THAT(builder, IsOk());
    auto sequence = BatchSequence::Open(source_, range, *builder, plans_, shared_, background_);
    EXPECT_THAT(sequence, IsOk());
    return sequence.ok() ? *std::move(sequence) : nullptr;
  }

  // The next `count` batches, fewer where the stream ends.
  static std::vector<BuiltBatch> Read(BatchSequence& sequence, std::uint64_t count) {
    std::vector<BuiltBatch> batches;
    while (batches.size() < count) {
      auto next = NextBuilt(sequence);
      EXPECT_THAT(next, IsOk());
      if (!next.ok() || !next->has_value()) break;
      batches.push_back(**std::move(next));
    }
    return batches;
  }

  // The whole epochs of one rank of one.
  Batches ReadAlone(std::uint64_t epochs) {
    Batches batches;
    for (const BuiltBatch& batch : Read(*Open({.epochs = epochs}), ~std::uint64_t{0})) {
      batches[{batch.header.epoch, batch.header.index}] = Text(batch);
    }
    return batches;
  }

  // Waits until what was posted has run; for one builder.
  void AwaitBackground() {
    std::latch done(1);
    background_.Post([&done] { done.count_down(); });
    done.wait();
  }

  std::uint64_t planned() const { return plans_.planned(); }

 private:
  Scenario& scenario_;
  const ResolvedSpec source_;
  PlanCache plans_;
  SharedBatches shared_{kPlenty, *scenario_.memory()};
  WorkerPool background_;
};

class StreamPropertyTest : public ::testing::Test {
 protected:
  Scenario scenario_{kGraphs};
};

// Guarantee 3.
TEST_F(StreamPropertyTest, NeitherThreadsNorWhatWasAskedBeforeShowInABatch) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    batching::Dice dice(seed);
    const v1::BatchSpec spec = DrawSpec(dice);
    Streams one(scenario_, scenario_.Resolved(spec), 1);
    const Batches expected = one.ReadAlone(2);
    ASSERT_FALSE(expected.empty());
    ASSERT_EQ(one.ReadAlone(2), expected);
    Scenario copy(kGraphs);
    ASSERT_EQ(Streams(copy, copy.Resolved(spec), 8).ReadAlone(2), expected);
  }
}

// Of the slice.
std::vector<std::uint64_t> EveryGraph(const ResolvedSpec& resolved) {
  const storage::Dataset& dataset = *resolved.dataset;
  const bool by_nodes = resolved.spec.skip_above == wire::SkipAbove::kNodes;
  const std::span<const std::uint32_t> measure = by_nodes ? dataset.n_node() : dataset.bandwidth();
  std::vector<std::uint64_t> graphs;
  for (std::uint32_t graph = 0; graph < kGraphs; ++graph) {
    if (!resolved.spec.skip_above || measure[graph] <= resolved.spec.skip_above_limit) graphs.push_back(graph);
  }
  return graphs;
}

// What a run reads: `steps` steps of every rank of `world`, from a position on.
void ReadSteps(Streams& streams, const wire::World& world, std::uint64_t start_step, std::uint64_t steps,
               Batches& batches, std::vector<std::uint64_t>& graphs, std::uint64_t& empty) {
  for (std::uint32_t rank = 0; rank < world.size; ++rank) {
    const auto sequence = streams.Open({.rank = rank, .world = world, .start_step = start_step, .epochs = 1});
    ASSERT_NE(sequence, nullptr);
    const std::vector<BuiltBatch> read = Streams::Read(*sequence, steps);
    ASSERT_THAT(read, SizeIs(steps));
    for (std::size_t k = 0; k < steps; ++k) {
      const wire::BatchHeader& header = read[k].header;
      EXPECT_EQ(header.step, start_step + k);
      EXPECT_EQ(header.rank, rank);
      EXPECT_EQ(header.world_size, world.size);
      std::ranges::copy(GraphsOf(read[k]), std::back_inserter(graphs));
      if (header.empty) {
        ++empty;
      } else {
        EXPECT_TRUE(batches.insert({{header.epoch, header.index}, Text(read[k])}).second);
      }
    }
  }
}

// Steps of an epoch in a world: what its first batch says; those of the segments where nothing is left.
std::uint64_t StepsOfEpoch(Streams& streams, const wire::World& world, std::uint64_t start_step) {
  const auto sequence = streams.Open({.world = world, .start_step = start_step, .epochs = 1});
  const std::vector<BuiltBatch> first = Streams::Read(*sequence, 1);
  return first.empty() ? start_step : first[0].header.epoch_steps;
}

// Guarantees 1, 2, 4 and 5: killed twice in one epoch, each time at a drawn step and with drawn ranks after.
TEST_F(StreamPropertyTest, ARunKilledTwiceInAnEpochGetsTheBatchesOfAnUnbrokenOne) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    batching::Dice dice(seed);
    const v1::BatchSpec spec = DrawSpec(dice);
    Streams streams(scenario_, scenario_.Resolved(spec), 1);
    Batches batches;
    std::vector<std::uint64_t> graphs;
    std::uint64_t empty = 0;
    std::uint64_t step = 0;
    wire::World world;
    for (int attempt = 0; attempt < 3; ++attempt) {
      world.size = dice.Between(1, 5);
      const std::uint64_t left = StepsOfEpoch(streams, world, step) - step;
      if (left == 0) break;
      const std::uint64_t steps = attempt == 2 ? left : dice.Between(1, static_cast<std::uint32_t>(left));
      ReadSteps(streams, world, step, steps, batches, graphs, empty);
      if (HasFatalFailure()) return;
      world.segments.push_back({world.size, steps});
      step += steps;
    }
    std::ranges::sort(graphs);
    ASSERT_EQ(graphs, EveryGraph(scenario_.Resolved(spec)));
    EXPECT_LT(empty, 5u);
    if (spec.balance() == v1::BALANCE_COST) continue;  // made for the ranks
    ASSERT_EQ(batches, streams.ReadAlone(1));
  }
}

// One batch of a rank: where it stands, and its graphs.
struct Delivered {
  std::uint64_t epoch = 0;
  std::uint64_t step = 0;
  std::uint64_t index = 0;
  std::vector<std::uint64_t> graphs;
  friend bool operator==(const Delivered&, const Delivered&) = default;
};

std::vector<Delivered> DeliveredOf(const std::vector<BuiltBatch>& batches) {
  std::vector<Delivered> delivered;
  for (const BuiltBatch& batch : batches) {
    delivered.push_back({batch.header.epoch, batch.header.step, batch.header.index, GraphsOf(batch)});
  }
  return delivered;
}

// What a rank of `world_size` is due in an epoch: every world_size-th batch of a plan that is made for this
// epoch alone.
std::vector<Delivered> DueOf(const ResolvedSpec& resolved, std::uint64_t epoch, std::uint32_t world_size,
                             std::uint32_t rank) {
  std::vector<std::uint32_t> split(kGraphs);
  std::iota(split.begin(), split.end(), 0u);
  batching::PlanRequest request;
  request.spec = resolved.spec;
  request.sizes = {.n_node = resolved.dataset->n_node(),
                   .n_edge = resolved.dataset->n_edge(),
                   .bandwidth = resolved.dataset->bandwidth()};
  request.split = split;
  request.epoch = epoch;
  request.world = {.size = world_size};
  const auto plan = batching::Plan::Create(request);
  EXPECT_THAT(plan, IsOk());
  std::vector<Delivered> due;
  for (std::uint64_t index = rank;; index += world_size) {
    const auto batch = (*plan)->BatchAt(index);
    if (!batch.ok()) return due;
    due.push_back({epoch, due.size(), index, {batch->graphs.begin(), batch->graphs.end()}});
  }
}

// A drawn spec and rank, and what this rank is due in each of kEpochs epochs.
struct Walk {
  static constexpr std::uint64_t kEpochs = 3;
  static constexpr std::uint64_t kFirstEpoch = 5;

  Walk(Scenario& scenario, std::uint64_t seed) : dice(seed), resolved(scenario.Resolved(DrawSpec(dice))) {
    for (std::uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
      due.push_back(DueOf(resolved, kFirstEpoch + epoch, world_size, rank));
    }
  }

  // From a step of one of the epochs to the end.
  std::vector<Delivered> From(std::uint64_t epoch, std::uint64_t step) const {
    std::vector<Delivered> rest(due[epoch].begin() + static_cast<std::ptrdiff_t>(step), due[epoch].end());
    for (std::uint64_t later = epoch + 1; later < kEpochs; ++later)
      std::ranges::copy(due[later], std::back_inserter(rest));
    return rest;
  }

  SequenceRange RangeFrom(std::uint64_t epoch, std::uint64_t step) const {
    return {.rank = rank,
            .world = {.size = world_size},
            .start_epoch = kFirstEpoch + epoch,
            .start_step = step,
            .epochs = kEpochs - epoch};
  }

  batching::Dice dice;
  const std::uint32_t world_size = dice.Between(1, 5);
  const std::uint32_t rank = dice.Between(0, world_size - 1);
  const ResolvedSpec resolved;
  std::vector<std::vector<Delivered>> due;
};

// Guarantee 4, at the edges of epochs as within them.
TEST_F(StreamPropertyTest, AStreamThatBeginsAtAStepGivesWhatThePlansHaveFromThere) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Walk walk(scenario_, seed);
    Streams streams(scenario_, walk.resolved, 1);
    for (std::uint64_t epoch = 0; epoch < Walk::kEpochs; ++epoch) {
      const auto steps = static_cast<std::uint32_t>(walk.due[epoch].size());
      ASSERT_GT(steps, 0u);
      for (const std::uint32_t step : {0u, walk.dice.Between(0, steps), steps - 1, steps}) {
        SCOPED_TRACE(absl::StrCat("seed ", seed, ", epoch ", epoch, ", step ", step, " of ", steps, "; rank ",
                                  walk.rank, " of ", walk.world_size));
        const auto sequence = streams.Open(walk.RangeFrom(epoch, step));
        ASSERT_NE(sequence, nullptr);
        ASSERT_EQ(DeliveredOf(Streams::Read(*sequence, ~std::uint64_t{0})), walk.From(epoch, step));
      }
    }
  }
}

// Guarantee 4, as a run is killed: each attempt begins behind the batch that the one before got last.
TEST_F(StreamPropertyTest, AStreamThatIsCutAgainAndAgainGivesEachBatchOnce) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Walk walk(scenario_, seed);
    Streams streams(scenario_, walk.resolved, 1);
    const std::vector<Delivered> due = walk.From(0, 0);
    std::vector<Delivered> got;
    while (got.size() < due.size()) {
      const std::uint64_t epoch = got.empty() ? 0 : got.back().epoch - Walk::kFirstEpoch;
      const auto sequence = streams.Open(walk.RangeFrom(epoch, got.empty() ? 0 : got.back().step + 1));
      ASSERT_NE(sequence, nullptr);
      const auto next = DeliveredOf(Streams::Read(*sequence, walk.dice.Between(1, 20)));
      ASSERT_FALSE(next.empty());
      std::ranges::copy(next, std::back_inserter(got));
    }
    ASSERT_EQ(got, due);
  }
}

// Guarantee 7.
TEST_F(StreamPropertyTest, TheNextEpochsPlanIsMadeBeforeThisOneEnds) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    batching::Dice dice(seed);
    Streams streams(scenario_, scenario_.Resolved(DrawSpec(dice)), 1);
    const std::uint32_t world_size = dice.Between(1, 4);
    const std::uint64_t epochs = dice.Between(2, 4);
    const auto sequence = streams.Open({.world = {.size = world_size}, .epochs = epochs});
    ASSERT_NE(sequence, nullptr);
    for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
      const std::vector<BuiltBatch> first = Streams::Read(*sequence, 1);
      ASSERT_THAT(first, SizeIs(1));
      EXPECT_EQ(first[0].header.epoch, epoch);
      streams.AwaitBackground();
      EXPECT_EQ(streams.planned(), std::min(epoch + 2, epochs));
      EXPECT_THAT(Streams::Read(*sequence, first[0].header.epoch_steps - 1),
                  SizeIs(first[0].header.epoch_steps - 1));
    }
    EXPECT_THAT(Streams::Read(*sequence, 1), SizeIs(0));
  }
}

}  // namespace
}  // namespace packtrain::batches
