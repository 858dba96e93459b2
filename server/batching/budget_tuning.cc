#include "server/batching/budget_tuning.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/batching/policy_kind.h"
#include "server/batching/size_totals.h"
#include "server/batching/sliced_request.h"
#include "server/batching/slot_pair.h"
#include "server/batching/slot_rounding.h"
#include "server/batching/split_order.h"

namespace packtrain::batching {
namespace {

constexpr std::int64_t kStep = 8;
constexpr std::int64_t kCoarseNodes = 24;
constexpr std::int64_t kCoarseEdges = 4;  // to either side
constexpr std::size_t kBest = 6;
constexpr std::size_t kFinalists = 16;
constexpr std::size_t kTriedWhole = std::size_t{1} << 18;
constexpr std::size_t kStretches = 16;
constexpr std::size_t kStretchGraphs = std::size_t{1} << 13;

using Summaries = std::map<SlotPair, wire::PlanSummary>;

// Multiples of 8, both ends included.
struct Range {
  std::int64_t min = 0;
  std::int64_t max = 0;
  bool Holds(std::int64_t value) const { return min <= value && value <= max; }
};

Range AroundMeanBatch(std::uint64_t total, std::uint64_t slots, std::uint64_t graphs) {
  const auto min = static_cast<std::int64_t>(MulDiv(total, 11 * slots, 12 * graphs));
  const auto max = static_cast<std::int64_t>(MulDiv(total, 13 * slots, 12 * graphs));
  return {std::max(kStep, (min + kStep - 1) / kStep * kStep),
          std::min<std::int64_t>(std::max(kStep, max / kStep * kStep), wire::kMaxSlots)};
}

// The budgets to try, and how they lie: along the ridge, N nodes and E edges fill alike.
class BudgetField {
 public:
  BudgetField(const SizeTotals& totals, std::uint64_t slots)
      : totals_(totals),
        nodes_(AroundMeanBatch(totals.nodes, slots, totals.graphs)),
        edges_(AroundMeanBatch(totals.edges, slots, totals.graphs)) {}

  // A first look over the whole field.
  std::vector<SlotPair> Coarse() const;
  std::int64_t coarse_node_step() const {
    return RoundUp(std::max<std::int64_t>(1, (nodes_.max - nodes_.min) / (kCoarseNodes - 1)));
  }
  std::int64_t coarse_edge_step() const {
    return RoundUp(std::max<std::int64_t>(1, Ridge(nodes_.max) * 3 / 400));
  }

  // Those up to a step away in each direction, along and across the ridge.
  void AppendNeighbours(const SlotPair& centre, std::int64_t node_step, std::int64_t edge_step,
                        std::vector<SlotPair>& neighbours) const;

 private:
  static std::int64_t RoundUp(std::int64_t value) { return (value + kStep - 1) / kStep * kStep; }
  std::int64_t Ridge(std::int64_t nodes) const {
    const std::uint64_t edges = MulDiv(static_cast<std::uint64_t>(nodes), totals_.edges, totals_.nodes);
    return std::max(kStep, RoundUp(static_cast<std::int64_t>(edges)));
  }
  void AppendWithin(std::int64_t nodes, std::int64_t edges, std::vector<SlotPair>& budgets) const;

  SizeTotals totals_;
  Range nodes_;
  Range edges_;
};

void BudgetField::AppendWithin(std::int64_t nodes, std::int64_t edges, std::vector<SlotPair>& budgets) const {
  if (!nodes_.Holds(nodes) || !edges_.Holds(edges)) return;
  budgets.push_back({static_cast<std::uint32_t>(nodes), static_cast<std::uint32_t>(edges)});
}

std::vector<SlotPair> BudgetField::Coarse() const {
  std::vector<SlotPair> budgets;
  for (std::int64_t nodes = nodes_.min; nodes <= nodes_.max; nodes += coarse_node_step()) {
    for (std::int64_t side = -kCoarseEdges; side <= kCoarseEdges; ++side) {
      AppendWithin(nodes, Ridge(nodes) + side * coarse_edge_step(), budgets);
    }
  }
  return budgets;
}

void BudgetField::AppendNeighbours(const SlotPair& centre, std::int64_t node_step, std::int64_t edge_step,
                                   std::vector<SlotPair>& neighbours) const {
  const std::int64_t beside = centre.edges - Ridge(centre.nodes);
  for (const std::int64_t along : {-node_step, std::int64_t{0}, node_step}) {
    const std::int64_t nodes = centre.nodes + along;
    if (!nodes_.Holds(nodes)) continue;
    for (const std::int64_t across : {-edge_step, std::int64_t{0}, edge_step}) {
      AppendWithin(nodes, Ridge(nodes) + beside + across, neighbours);
    }
  }
}

// Plans one walk under many budgets.
class Trials {
 public:
  // The graphs of the request in the order of `walk`. Borrows the request.
  Trials(const PlanRequest& request, std::span<const std::uint32_t> walk)
      : request_(request), walk_(walk.begin(), walk.end()), indices_(walk.size()) {
    for (const std::uint32_t graph : walk) {
      n_node_.push_back(request.sizes.n_node[graph]);
      n_edge_.push_back(request.sizes.n_edge[graph]);
    }
    std::iota(indices_.begin(), indices_.end(), 0u);
  }

  // Plans under those of the budgets that it has not tried yet.
  void Try(std::vector<SlotPair> budgets);

  // Under the budgets tried that could be planned with.
  const Summaries& planned() const { return planned_; }
  // Why one of the others could not.
  const absl::Status& refusal() const { return refusal_; }

 private:
  absl::StatusOr<wire::PlanSummary> Summarize(const SlotPair& budget) const;

  const PlanRequest& request_;
  std::vector<std::uint32_t> walk_;
  std::vector<std::uint32_t> n_node_;
  std::vector<std::uint32_t> n_edge_;
  std::vector<std::uint32_t> indices_;
  std::set<SlotPair> tried_;
  Summaries planned_;
  absl::Status refusal_;
};

absl::StatusOr<wire::PlanSummary> Trials::Summarize(const SlotPair& budget) const {
  PlanRequest request;
  request.spec = request_.spec;
  request.spec.nodes = budget.nodes;
  request.spec.edges = budget.edges;
  request.spec.order = wire::Order::kNone;  // the sizes stand in the order of the walk
  request.spec.order_window = std::nullopt;
  request.sizes = {n_node_, n_edge_};
  request.split = indices_;
  request.epoch = request_.epoch;
  request.world = request_.world;
  request.graph_name = [this](std::uint32_t at) {
    return request_.graph_name ? request_.graph_name(walk_[at]) : absl::StrCat("graph ", walk_[at]);
  };
  ABSL_ASSIGN_OR_RETURN(const auto plan, Plan::Create(request));
  return plan->Summarize();
}

void Trials::Try(std::vector<SlotPair> budgets) {
  std::erase_if(budgets, [&](const SlotPair& budget) { return !tried_.insert(budget).second; });
  std::vector<absl::StatusOr<wire::PlanSummary>> summaries(budgets.size());
  request_.parallel_for(budgets.size(), [&](std::size_t i) { summaries[i] = Summarize(budgets[i]); });
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    if (summaries[i].ok()) {
      planned_.emplace(budgets[i], *std::move(summaries[i]));
    } else {
      refusal_ = summaries[i].status();
    }
  }
}

// G graphs a batch on average, give or take 5 %.
bool IsNearEnough(const wire::PlanSummary& summary, std::uint32_t graphs) {
  const double mean_of_aim = summary.mean_graphs / graphs;
  return 0.95 <= mean_of_aim && mean_of_aim <= 1.05;
}

// Of the budgets under which batches are near enough to G, the fullest first; ties: the smallest.
std::vector<TunedBudget> Ranked(const Trials& trials, const wire::BatchSpec& spec) {
  std::vector<TunedBudget> ranked;
  for (const auto& [budget, summary] : trials.planned()) {
    if (IsNearEnough(summary, spec.graphs)) ranked.push_back({*summary.budget, summary});
  }
  std::ranges::stable_sort(ranked, std::greater<>(), &TunedBudget::SmallerFill);
  return ranked;
}

std::vector<SlotPair> BudgetsOf(std::span<const TunedBudget> tuned, std::size_t max_budgets) {
  std::vector<SlotPair> budgets;
  for (const TunedBudget& one : tuned.first(std::min(max_budgets, tuned.size()))) {
    budgets.push_back({one.budget.nodes, one.budget.edges});
  }
  return budgets;
}

// Of budgets in their rank, those with smaller batches than every better one.
std::vector<TunedBudget> FrontierOf(std::vector<TunedBudget> ranked) {
  std::vector<TunedBudget> frontier;
  for (TunedBudget& one : ranked) {
    if (frontier.empty() || one.summary.mean_graphs < frontier.back().summary.mean_graphs) {
      frontier.push_back(std::move(one));
    }
  }
  return frontier;
}

// Tries what the header says.
void Search(const BudgetField& field, const wire::BatchSpec& spec, Trials& trials) {
  trials.Try(field.Coarse());
  std::int64_t node_step = field.coarse_node_step();
  std::int64_t edge_step = field.coarse_edge_step();
  std::vector<SlotPair> before;
  for (bool finest = false; !finest || BudgetsOf(Ranked(trials, spec), kBest) != before;) {
    finest = node_step == kStep && edge_step == kStep;
    node_step = std::max(kStep, node_step / 2 / kStep * kStep);
    edge_step = std::max(kStep, edge_step / 2 / kStep * kStep);
    before = BudgetsOf(Ranked(trials, spec), kBest);
    std::vector<SlotPair> neighbours;
    for (const SlotPair& centre : before) field.AppendNeighbours(centre, node_step, edge_step, neighbours);
    trials.Try(std::move(neighbours));
  }
}

// Stretches of a long walk, at equal distances.
std::vector<std::uint32_t> Thin(const std::vector<std::uint32_t>& walk) {
  std::vector<std::uint32_t> thinned;
  for (std::size_t stretch = 0; stretch < kStretches; ++stretch) {
    const auto begin = walk.begin() + static_cast<std::ptrdiff_t>(stretch * (walk.size() / kStretches));
    thinned.insert(thinned.end(), begin, begin + kStretchGraphs);
  }
  return thinned;
}

Trials TryBudgets(const PlanRequest& request, const BudgetField& field) {
  const std::vector<std::uint32_t> walk = OrderSplit(request.spec, request.epoch, request.split);
  if (walk.size() <= kTriedWhole) {
    Trials trials(request, walk);
    Search(field, request.spec, trials);
    return trials;
  }
  Trials part(request, Thin(walk));
  Search(field, request.spec, part);
  std::vector<TunedBudget> ranked = Ranked(part, request.spec);
  std::vector<SlotPair> finalists = BudgetsOf(ranked, kFinalists);
  for (const SlotPair& budget : BudgetsOf(FrontierOf(std::move(ranked)), kFinalists))
    finalists.push_back(budget);
  Trials whole(request, walk);
  whole.Try(std::move(finalists));
  return whole;
}

absl::Status Refuse(const char* flag) {
  return absl::InvalidArgumentError(absl::StrCat(flag, " does not go with --tune, which chooses the budget"));
}

absl::Status CheckTunable(const wire::BatchSpec& spec) {
  ABSL_RETURN_IF_ERROR(wire::CheckPolicyGiven(spec));
  if (spec.nodes) return Refuse("--nodes");
  if (spec.edges) return Refuse("--edges");
  if (spec.budget_sample) return Refuse("--budget-sample");
  if (!KindOf(spec).refused_options.empty()) return Refuse("--policy supergraph");
  if (KindOf(spec).has_budget) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--tune does not go with --policy ", wire::PolicyText(spec), ": it has no budget"));
}

absl::Status NothingFits(const Trials& trials, const wire::BatchSpec& spec) {
  const std::string none = absl::StrCat("no budget within a twelfth of ", std::uint64_t{spec.graphs} + 1,
                                        " mean graphs (--graphs ", spec.graphs, " and the padding graph) ");
  if (trials.planned().empty() && !trials.refusal().ok()) {
    return {trials.refusal().code(), absl::StrCat(none, "will do: ", trials.refusal().message())};
  }
  return absl::FailedPreconditionError(
      absl::StrCat(none, "gives batches of ", spec.graphs, " graphs on average, give or take 5 %"));
}

}  // namespace

double TunedBudget::SmallerFill() const {
  // Edges of which there are none fill nothing under any budget.
  return summary.fill_edges == 0 ? summary.fill_nodes : std::min(summary.fill_nodes, summary.fill_edges);
}

absl::StatusOr<std::vector<TunedBudget>> TuneBudget(const PlanRequest& request) {
  ABSL_RETURN_IF_ERROR(CheckTunable(request.spec));
  if (const auto plan = Plan::Create(request); !plan.ok()) return plan.status();
  ABSL_ASSIGN_OR_RETURN(const SlicedRequest sliced, SlicedRequest::Create(request));
  const SizeTotals totals = MeasureSizes(sliced.get().sizes, sliced.get().split);
  const BudgetField field(totals, std::uint64_t{request.spec.graphs} + 1);
  const Trials trials = TryBudgets(sliced.get(), field);
  std::vector<TunedBudget> frontier = FrontierOf(Ranked(trials, request.spec));
  if (frontier.empty()) return NothingFits(trials, request.spec);
  return frontier;
}

}  // namespace packtrain::batching
