#include "tests/server/batching/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "absl/strings/str_cat.h"
#include "server/batching/step_windows.h"

namespace packtrain::batching {
namespace {

void Resize(Scenario& scenario, std::size_t graphs) {
  scenario.n_node.resize(graphs);
  scenario.n_edge.resize(graphs);
}

void FillUniform(Dice& dice, Scenario& scenario) {
  Resize(scenario, dice.Between(1, dice.One({8u, 300u})));
  for (std::uint32_t& n_node : scenario.n_node) n_node = dice.Between(1, 30);
  for (std::uint32_t& n_edge : scenario.n_edge) n_edge = dice.Between(0, 100);
}

void FillAllEqual(Dice& dice, Scenario& scenario) {
  FillUniform(dice, scenario);
  std::fill(scenario.n_node.begin(), scenario.n_node.end(), scenario.n_node[0]);
  std::fill(scenario.n_edge.begin(), scenario.n_edge.end(), scenario.n_edge[0]);
}

void FillTwoSizes(Dice& dice, Scenario& scenario) {
  FillAllEqual(dice, scenario);
  for (std::size_t graph = 1; graph < scenario.n_node.size(); ++graph) {
    if (!dice.OneIn(2)) continue;
    scenario.n_node[graph] = 97;
    scenario.n_edge[graph] = 500;
  }
}

void MakeGiant(Scenario& scenario, std::size_t graph) {
  scenario.n_node[graph] = 5000;
  scenario.n_edge[graph] = 100000;
}

void FillGiantFirst(Dice& dice, Scenario& scenario) {
  FillUniform(dice, scenario);
  MakeGiant(scenario, 0);
}

void FillGiantInside(Dice& dice, Scenario& scenario) {
  FillUniform(dice, scenario);
  MakeGiant(scenario, scenario.n_node.size() / 2);
}

void FillGiantLast(Dice& dice, Scenario& scenario) {
  FillUniform(dice, scenario);
  MakeGiant(scenario, scenario.n_node.size() - 1);
}

// Pareto with exponent 1: a graph has at least n nodes with probability 1/n, up to 10,000.
void FillHeavyTail(Dice& dice, Scenario& scenario) {
  FillUniform(dice, scenario);
  for (std::size_t graph = 0; graph < scenario.n_node.size(); ++graph) {
    scenario.n_node[graph] = 1'000'000 / dice.Between(100, 1'000'000);
    scenario.n_edge[graph] = 3 * scenario.n_node[graph];
  }
}

std::vector<std::uint32_t> Sorted(std::vector<std::uint32_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

void FillAscending(Dice& dice, Scenario& scenario) {
  FillHeavyTail(dice, scenario);
  scenario.n_node = Sorted(scenario.n_node);
  scenario.n_edge = Sorted(scenario.n_edge);
}

void FillDescending(Dice& dice, Scenario& scenario) {
  FillAscending(dice, scenario);
  std::reverse(scenario.n_node.begin(), scenario.n_node.end());
  std::reverse(scenario.n_edge.begin(), scenario.n_edge.end());
}

// Two graphs in a row fill a batch that neither fills alone, or break its budget.
void FillAlternating(Dice& dice, Scenario& scenario) {
  FillAllEqual(dice, scenario);
  for (std::size_t graph = 0; graph < scenario.n_node.size(); graph += 2) {
    std::swap(scenario.n_node[graph], scenario.n_edge[graph]);
    ++scenario.n_node[graph];
  }
}

// None has a single node, so a budget of two node slots holds none.
void FillAboveBudget(Dice& dice, Scenario& scenario) {
  FillUniform(dice, scenario);
  for (std::uint32_t& n_node : scenario.n_node) ++n_node;
}

void FillNoEdges(Dice& dice, Scenario& scenario) {
  FillUniform(dice, scenario);
  std::fill(scenario.n_edge.begin(), scenario.n_edge.end(), 0u);
}

void FillOneGraph(Dice& dice, Scenario& scenario) {
  FillUniform(dice, scenario);
  Resize(scenario, 1);
}

void FillFewerThanRanks(Dice& dice, Scenario& scenario) {
  FillUniform(dice, scenario);
  Resize(scenario, std::min<std::size_t>(scenario.n_node.size(), dice.Between(2, 7)));
}

void FillRealList(Dice& dice, Scenario& scenario) {
  const char* list = dice.One({"great", "hiv", "mp_knn12", "pcqm4mv2_heavy", "qm9_full", "qm9_import_order"});
  absl::StrAppend(&scenario.name, " ", list);
  std::ifstream file(absl::StrCat(PACKTRAIN_TEST_DATA "/sizes/", list, "_sizes.txt"));
  for (std::uint32_t n_node = 0, n_edge = 0; file >> n_node >> n_edge;) {
    scenario.n_node.push_back(n_node);
    scenario.n_edge.push_back(n_edge);
  }
  EXPECT_GE(scenario.n_node.size(), 300u) << list;
}

struct SizeKind {
  const char* name;
  void (*fill)(Dice& dice, Scenario& scenario);
};
constexpr wire::Policy kPolicies[] = {wire::Policy::kStatic, wire::Policy::kDynamic, wire::Policy::kPacked,
                                      wire::Policy::kTuple, wire::Policy::kSupergraph};
constexpr wire::Order kOrders[] = {wire::Order::kFull, wire::Order::kNone, wire::Order::kWindow};
constexpr SizeKind kSizeKinds[] = {
    {"uniform", FillUniform},
    {"all equal", FillAllEqual},
    {"two sizes", FillTwoSizes},
    {"giant first", FillGiantFirst},
    {"giant inside", FillGiantInside},
    {"giant last", FillGiantLast},
    {"heavy tail", FillHeavyTail},
    {"heavy tail, ascending", FillAscending},
    {"heavy tail, descending", FillDescending},
    {"alternating", FillAlternating},
    {"all above the budget", FillAboveBudget},
    {"no edges", FillNoEdges},
    {"one graph", FillOneGraph},
    {"fewer graphs than ranks", FillFewerThanRanks},
    {"real list", FillRealList},
};
constexpr std::uint64_t kKinds = std::size(kSizeKinds);
// Of sizes, policy and order. The seed counts them through.
constexpr std::uint64_t kCombinations = kKinds * std::size(kPolicies) * std::size(kOrders);
static_assert(kScenarios >= kCombinations);

// Of graphs of n nodes at most n - 1: narrow ones, any, or the widest.
void DrawBandwidths(Dice& dice, Scenario& scenario) {
  const std::uint32_t kind = dice.Between(0, 2);
  for (const std::uint32_t n_node : scenario.n_node) {
    const std::uint32_t max = n_node - 1;
    scenario.bandwidth.push_back(kind == 2 ? max : dice.Between(0, kind == 0 ? std::min(max, 8u) : max));
  }
}

// All graphs, or about two thirds of them, at least one.
void DrawSplit(Dice& dice, Scenario& scenario) {
  const bool all = dice.OneIn(2);
  for (std::uint32_t graph = 0; graph < scenario.n_node.size(); ++graph) {
    if (all || !dice.OneIn(3)) scenario.split.push_back(graph);
  }
  if (scenario.split.empty()) scenario.split.push_back(0);
}

// Small budgets too, which few or none of the graphs fit.
void DrawLimits(Dice& dice, wire::BatchSpec& spec) {
  if (dice.OneIn(3)) spec.max_graphs = dice.Between(1, 2 * spec.graphs);
  if (dice.OneIn(3)) spec.nodes = dice.Between(2, dice.One({5u, 40u, 500u}));
  if (dice.OneIn(3)) spec.edges = dice.Between(1, dice.One({10u, 120u, 2000u}));
  if (dice.OneIn(3) && !(spec.nodes && spec.edges)) spec.budget_sample = dice.Between(1, 50);
}

// Seldom, since a ladder's sample costs more than the plan of a small split.
void DrawLadder(Dice& dice, wire::BatchSpec& spec) {
  spec.pad = wire::Pad::kLadder;
  spec.ladder_rungs = dice.Between(1, dice.One({3u, 64u}));
}

// Small blocks too, which few or none of the graphs fit.
void DrawBlocks(Dice& dice, wire::BatchSpec& spec) {
  if (dice.OneIn(2)) spec.graphs = 0;  // which decides nothing
  spec.blocks = dice.Between(1, dice.One({1u, 4u, 30u}));
  spec.block_nodes = dice.Between(2, dice.One({5u, 40u, 500u}));
  if (dice.OneIn(3)) spec.max_graphs = dice.Between(1, 20);
}

void DrawSpec(Dice& dice, wire::BatchSpec& spec) {
  spec.graphs = dice.Between(1, dice.One({2u, 20u, 400u}));
  if (spec.order == wire::Order::kWindow) spec.order_window = dice.Between(1, dice.One({1u, 30u, 5000u}));
  spec.seed = dice.Between(0, 5);
  const auto oversize = dice.One({wire::Oversize::kError, wire::Oversize::kAlone, wire::Oversize::kSkip});
  spec.drop_last = dice.OneIn(4);
  if (spec.policy == wire::Policy::kStatic) {
    if (!dice.OneIn(5))
      spec.pad = dice.One({wire::Pad::kNone, wire::Pad::kMultiple, wire::Pad::kPow2, wire::Pad::kConstant});
    if (dice.OneIn(20)) DrawLadder(dice, spec);
    return;
  }
  spec.oversize = oversize;
  if (spec.policy == wire::Policy::kSupergraph) return DrawBlocks(dice, spec);
  DrawLimits(dice, spec);
  if (spec.policy == wire::Policy::kPacked && dice.OneIn(2))
    spec.lookahead = dice.Between(1, dice.One({3u, 100u, 1000u}));
}

void DrawBalance(Dice& dice, wire::BatchSpec& spec) {
  spec.balance = dice.One({wire::Balance::kNone, wire::Balance::kCost});
  if (spec.balance == wire::Balance::kNone || dice.OneIn(2)) return;
  spec.cost = {dice.Between(0, 5), dice.Between(0, 3), dice.One({1u, wire::kMaxCostCoefficient})};
}

// Of a third of the scenarios, up to one of the graphs of the split.
void DrawSlice(Dice& dice, Scenario& scenario) {
  if (!dice.OneIn(3)) return;
  scenario.spec.skip_above = dice.One({wire::SkipAbove::kNodes, wire::SkipAbove::kBandwidth});
  const auto& measure =
      scenario.spec.skip_above == wire::SkipAbove::kNodes ? scenario.n_node : scenario.bandwidth;
  const std::uint32_t at = dice.Between(0, static_cast<std::uint32_t>(scenario.split.size() - 1));
  scenario.spec.skip_above_limit = std::max(1u, measure[scenario.split[at]]);
}

void PutAllAboveBudget(wire::BatchSpec& spec) {
  if (spec.policy == wire::Policy::kStatic) spec.policy = wire::Policy::kDynamic;
  spec.pad = std::nullopt;
  spec.ladder_rungs = std::nullopt;
  spec.budget_sample = std::nullopt;
  spec.oversize = wire::Oversize::kAlone;
  const std::uint32_t nodes = 2;  // of which one may be real
  if (spec.policy != wire::Policy::kSupergraph) {
    spec.nodes = nodes;
    return;
  }
  spec.blocks = 1;
  spec.block_nodes = nodes;
}

std::uint32_t DrawWorldSize(Dice& dice) { return dice.One({1u, 2u, 3u, 8u, dice.Between(1, 40)}); }

std::string Text(const wire::World& world) {
  std::string text;
  for (const wire::Segment& segment : world.segments) {
    absl::StrAppend(&text, segment.steps, " steps of ", segment.world_size, ", then ");
  }
  return absl::StrCat(text, world.size, " ranks");
}

std::vector<wire::World> WorldsFor(std::uint64_t seed, const Plan& plan, bool drop_last) {
  std::vector<wire::World> worlds = {{1}, {2}, {3}, {8}};
  Dice dice(seed);
  worlds.push_back(DrawWorld(dice, plan.Summarize().batches, drop_last));
  return worlds;
}

}  // namespace

Scenario DrawScenario(std::uint64_t seed) {
  const SizeKind& kind = kSizeKinds[seed % kKinds];
  Dice dice(seed);
  Scenario scenario;
  scenario.name = absl::StrCat("seed ", seed, ": ", kind.name);
  kind.fill(dice, scenario);
  DrawBandwidths(dice, scenario);
  DrawSplit(dice, scenario);
  scenario.spec.policy = kPolicies[seed / kKinds % std::size(kPolicies)];
  scenario.spec.order = kOrders[seed / kKinds / std::size(kPolicies) % std::size(kOrders)];
  DrawSpec(dice, scenario.spec);
  if (kind.fill == FillAboveBudget) PutAllAboveBudget(scenario.spec);
  scenario.epoch = dice.Between(0, 3);
  DrawBalance(dice, scenario.spec);
  DrawSlice(dice, scenario);
  return scenario;
}

namespace {

// As many as a balanced window holds, or several of these, where that fits.
std::uint32_t DrawSteps(Dice& dice, std::uint32_t most) {
  constexpr auto kWindow = static_cast<std::uint32_t>(kWindowSteps);
  if (most >= kWindow && dice.OneIn(2)) return kWindow * dice.Between(1, most / kWindow);
  return dice.Between(1, most);
}

}  // namespace

wire::World DrawWorld(Dice& dice, std::uint64_t batches, bool drop_last) {
  wire::World world;
  for (std::uint32_t changes = dice.Between(1, 4); changes > 0; --changes) {
    const std::uint32_t world_size = DrawWorldSize(dice);
    const std::uint64_t steps = (batches + (drop_last ? 0 : world_size - 1)) / world_size;
    if (steps == 0) continue;
    world.segments.push_back({world_size, DrawSteps(dice, static_cast<std::uint32_t>(steps))});
    batches -= std::min(batches, world.segments.back().steps * world_size);
  }
  world.size = DrawWorldSize(dice);
  return world;
}

void ForEachPlan(const PlanCheck& check) {
  std::set<std::uint64_t> combinations;
  for (std::uint64_t seed = 0; seed < kScenarios; ++seed) {
    const Scenario scenario = DrawScenario(seed);
    const auto one_rank = Plan::Create(scenario.Request({}));
    if (!one_rank.ok()) continue;
    for (const wire::World& world : WorldsFor(seed, **one_rank, scenario.spec.drop_last)) {
      SCOPED_TRACE(absl::StrCat(scenario.name, "; ", Text(world)));
      const auto plan = Plan::Create(scenario.Request(world));
      if (!plan.ok()) continue;
      check(scenario, world, **plan);
      if (::testing::Test::HasFailure()) return;
      combinations.insert(seed % kCombinations);
    }
  }
  EXPECT_EQ(combinations.size(), kCombinations);
}

std::vector<PlannedBatch> AllBatches(const Plan& plan) {
  std::vector<PlannedBatch> batches;
  for (std::uint64_t index = 0; index < plan.FirstOfStep(plan.steps()); ++index) {
    const absl::StatusOr<PlannedBatch> batch = plan.BatchAt(index);
    EXPECT_TRUE(batch.ok()) << batch.status();
    if (!batch.ok()) break;
    batches.push_back(*batch);
  }
  return batches;
}

}  // namespace packtrain::batching
