#include "tests/server/batching/scenario.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

namespace packtrain::batching {
namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  // In least .. most; the bias does not matter here.
  std::uint32_t Between(std::uint32_t least, std::uint32_t most) {
    return least + static_cast<std::uint32_t>(engine_() % (most - least + 1));
  }
  bool OneIn(std::uint32_t n) { return Between(1, n) == 1; }
  template <typename T>
  T One(std::initializer_list<T> of) {
    return of.begin()[Between(0, static_cast<std::uint32_t>(of.size()) - 1)];
  }

 private:
  std::mt19937_64 engine_;
};

enum class Sizes { kUniform, kEqual, kGiantFirst, kGiantInside, kGiantLast, kHeavyTail, kNoEdges, kOneGraph };

void FillUniform(Dice& dice, Scenario& scenario, std::uint32_t graphs) {
  for (std::uint32_t graph = 0; graph < graphs; ++graph) {
    scenario.n_node.push_back(dice.Between(1, 30));
    scenario.n_edge.push_back(dice.Between(0, 100));
  }
}

void MakeGiant(Scenario& scenario, std::size_t graph) {
  scenario.n_node[graph] = 5000;
  scenario.n_edge[graph] = 100000;
}

// Powers of two up to 2^10, each half as frequent as the one before.
void FillHeavyTail(Dice& dice, Scenario& scenario) {
  for (std::uint32_t& n_node : scenario.n_node) {
    n_node = 1;
    while (n_node < 1024 && dice.OneIn(2)) n_node *= 2;
  }
  for (std::size_t k = 0; k < scenario.n_edge.size(); ++k) scenario.n_edge[k] = 3 * scenario.n_node[k];
}

void DrawSizes(Dice& dice, Scenario& scenario) {
  const Sizes kind = dice.One({Sizes::kUniform, Sizes::kEqual, Sizes::kGiantFirst, Sizes::kGiantInside,
                               Sizes::kGiantLast, Sizes::kHeavyTail, Sizes::kNoEdges, Sizes::kOneGraph});
  const std::uint32_t graphs = kind == Sizes::kOneGraph ? 1 : dice.Between(1, dice.One({8u, 300u}));
  FillUniform(dice, scenario, graphs);
  switch (kind) {
    case Sizes::kUniform:
    case Sizes::kOneGraph:
      break;
    case Sizes::kEqual:
      std::fill(scenario.n_node.begin(), scenario.n_node.end(), scenario.n_node[0]);
      std::fill(scenario.n_edge.begin(), scenario.n_edge.end(), scenario.n_edge[0]);
      break;
    case Sizes::kGiantFirst:
      MakeGiant(scenario, 0);
      break;
    case Sizes::kGiantInside:
      MakeGiant(scenario, graphs / 2);
      break;
    case Sizes::kGiantLast:
      MakeGiant(scenario, graphs - 1);
      break;
    case Sizes::kHeavyTail:
      FillHeavyTail(dice, scenario);
      break;
    case Sizes::kNoEdges:
      std::fill(scenario.n_edge.begin(), scenario.n_edge.end(), 0u);
      break;
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
void DrawLimits(Dice& dice, BatchSpec& spec) {
  if (dice.OneIn(3)) spec.max_graphs = dice.Between(1, 2 * spec.graphs);
  if (dice.OneIn(3)) spec.nodes = dice.Between(2, dice.One({5u, 40u, 500u}));
  if (dice.OneIn(3)) spec.edges = dice.Between(1, dice.One({10u, 120u, 2000u}));
  if (dice.OneIn(3) && !(spec.nodes && spec.edges)) spec.budget_sample = dice.Between(1, 50);
}

void DrawSpec(Dice& dice, BatchSpec& spec) {
  spec.policy = dice.One({Policy::kStatic, Policy::kDynamic});
  spec.graphs = dice.Between(1, dice.One({2u, 20u, 400u}));
  spec.order = dice.One({Order::kFull, Order::kNone});
  spec.seed = dice.Between(0, 5);
  spec.oversize = dice.One({Oversize::kError, Oversize::kAlone, Oversize::kSkip});
  spec.drop_last = dice.OneIn(4);
  if (spec.policy == Policy::kDynamic) {
    DrawLimits(dice, spec);
  } else if (!dice.OneIn(5)) {
    spec.pad = dice.One({Pad::kNone, Pad::kMultiple, Pad::kPow2, Pad::kConstant});
  }
}

}  // namespace

Scenario DrawScenario(std::uint64_t seed) {
  Dice dice(seed);
  Scenario scenario;
  DrawSizes(dice, scenario);
  DrawSplit(dice, scenario);
  DrawSpec(dice, scenario.spec);
  scenario.epoch = dice.Between(0, 3);
  return scenario;
}

}  // namespace packtrain::batching
