#include "proto/wire/batch_spec_convert.h"

#include <algorithm>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/enum_check.h"
#include "proto/base/error_details.h"
#include "proto/base/status_macros.h"

namespace packtrain::wire {
namespace {

// Nullopt for a field that is absent, which is 0.
template <typename Enum>
std::optional<Enum> EnumOf(int number) {
  if (number == 0) return std::nullopt;
  return static_cast<Enum>(number);
}

std::optional<std::uint32_t> NumberOf(bool present, std::uint32_t value) {
  return present ? std::optional(value) : std::nullopt;
}

v1::CostCoefficients ToMessage(const CostCoefficients& cost) {
  v1::CostCoefficients message;
  message.set_graph(cost.graph);
  message.set_node(cost.node);
  message.set_edge(cost.edge);
  return message;
}

absl::Status CheckKnown(const v1::BatchSpec& message) {
  ABSL_RETURN_IF_ERROR(base::CheckEnums("spec", message));
  if (message.policy() != v1::POLICY_UNSPECIFIED) return absl::OkStatus();
  return base::WithField(absl::InvalidArgumentError(absl::StrCat("spec.policy is missing: choose one of ",
                                                                 KnownWords(kPolicyWords), " (--policy)")),
                         "spec.policy");
}

}  // namespace

absl::StatusOr<v1::BatchSpec> ToMessage(const BatchSpec& spec) {
  ABSL_RETURN_IF_ERROR(CheckPolicyGiven(spec));
  v1::BatchSpec message;
  message.set_policy(static_cast<v1::Policy>(*spec.policy));
  if (spec.pad) message.set_pad(static_cast<v1::Pad>(*spec.pad));
  if (spec.ladder_rungs) message.set_ladder_rungs(*spec.ladder_rungs);
  message.set_graphs(spec.graphs);
  if (spec.max_graphs) message.set_max_graphs(*spec.max_graphs);
  if (spec.nodes) message.set_nodes(*spec.nodes);
  if (spec.edges) message.set_edges(*spec.edges);
  message.set_order(static_cast<v1::Order>(spec.order));
  if (spec.order_window) message.set_order_window(*spec.order_window);
  message.set_seed(spec.seed);
  message.set_split(spec.split);
  message.set_oversize(static_cast<v1::Oversize>(spec.oversize));
  message.set_drop_last(spec.drop_last);
  if (spec.budget_sample) message.set_budget_sample(*spec.budget_sample);
  message.set_balance(static_cast<v1::Balance>(spec.balance));
  if (spec.cost) *message.mutable_cost() = ToMessage(*spec.cost);
  if (spec.lookahead) message.set_lookahead(*spec.lookahead);
  if (spec.blocks) message.set_blocks(*spec.blocks);
  if (spec.block_nodes) message.set_block_nodes(*spec.block_nodes);
  if (spec.skip_above) message.set_skip_above(static_cast<v1::SkipAbove>(*spec.skip_above));
  if (spec.skip_above_limit) message.set_skip_above_limit(*spec.skip_above_limit);
  return message;
}

absl::StatusOr<BatchSpec> FromMessage(const v1::BatchSpec& message) {
  ABSL_RETURN_IF_ERROR(CheckKnown(message));
  BatchSpec spec;
  spec.policy = EnumOf<Policy>(message.policy());
  spec.pad = EnumOf<Pad>(message.pad());
  spec.ladder_rungs = NumberOf(message.has_ladder_rungs(), message.ladder_rungs());
  spec.graphs = message.graphs();
  spec.max_graphs = NumberOf(message.has_max_graphs(), message.max_graphs());
  spec.nodes = NumberOf(message.has_nodes(), message.nodes());
  spec.edges = NumberOf(message.has_edges(), message.edges());
  spec.order = EnumOf<Order>(message.order()).value_or(spec.order);
  spec.order_window = NumberOf(message.has_order_window(), message.order_window());
  spec.seed = message.seed();
  spec.split = message.split();
  spec.oversize = EnumOf<Oversize>(message.oversize()).value_or(spec.oversize);
  spec.drop_last = message.drop_last();
  spec.budget_sample = NumberOf(message.has_budget_sample(), message.budget_sample());
  spec.balance = EnumOf<Balance>(message.balance()).value_or(spec.balance);
  const v1::CostCoefficients& cost = message.cost();
  if (message.has_cost()) spec.cost = CostCoefficients{cost.graph(), cost.node(), cost.edge()};
  spec.lookahead = NumberOf(message.has_lookahead(), message.lookahead());
  spec.blocks = NumberOf(message.has_blocks(), message.blocks());
  spec.block_nodes = NumberOf(message.has_block_nodes(), message.block_nodes());
  spec.skip_above = EnumOf<SkipAbove>(message.skip_above());
  spec.skip_above_limit = NumberOf(message.has_skip_above_limit(), message.skip_above_limit());
  return spec;
}

v1::Shape ToMessage(const Shape& shape) {
  v1::Shape message;
  message.set_graphs(shape.graphs);
  message.set_nodes(shape.nodes);
  message.set_edges(shape.edges);
  if (shape.block_nodes > 0) message.set_block_nodes(shape.block_nodes);
  return message;
}

Shape FromMessage(const v1::Shape& message) {
  return {message.graphs(), message.nodes(), message.edges(), message.block_nodes()};
}

v1::Segment ToMessage(const Segment& segment) {
  v1::Segment message;
  message.set_world_size(segment.world_size);
  message.set_steps(segment.steps);
  return message;
}

std::uint32_t WorldSizeOrDefault(std::uint32_t requested) { return std::max(requested, 1u); }

World WorldOf(const v1::StreamBatchesRequest& request) {
  World world = {.size = WorldSizeOrDefault(request.world_size())};
  for (const v1::Segment& segment : request.segments()) {
    world.segments.push_back({segment.world_size(), segment.steps()});
  }
  return world;
}

absl::StatusOr<bool> SkipsCorrupt(const v1::StreamBatchesRequest& request) {
  if (v1::OnCorrupt_IsValid(request.on_corrupt())) return request.on_corrupt() == v1::ON_CORRUPT_SKIP;
  return base::WithField(
      absl::InvalidArgumentError(absl::StrCat("on_corrupt = ", static_cast<int>(request.on_corrupt()),
                                              " is not known to this server; it may be older than the client")),
      "on_corrupt");
}

v1::GetPlanResponse ToMessage(const PlanSummary& summary, const BatchSpec& spec, std::uint32_t plan_version) {
  v1::GetPlanResponse plan;
  plan.set_batches(summary.batches);
  plan.set_steps(summary.steps);
  plan.set_graphs(summary.graphs);
  plan.set_dropped_graphs(summary.dropped_graphs);
  plan.set_skipped_graphs(summary.skipped_graphs);
  if (summary.budget) *plan.mutable_budget() = ToMessage(*summary.budget);
  plan.mutable_fill()->set_graphs(summary.fill_graphs);
  plan.mutable_fill()->set_nodes(summary.fill_nodes);
  plan.mutable_fill()->set_edges(summary.fill_edges);
  for (const ShapeCount& shape : summary.shapes) {
    v1::ShapeCount& count = *plan.add_shapes();
    *count.mutable_shape() = ToMessage(shape.shape);
    count.set_batches(shape.batches);
  }
  plan.set_mean_graphs(summary.mean_graphs);
  plan.set_min_graphs(summary.min_graphs);
  plan.set_max_graphs(summary.max_graphs);
  plan.mutable_oversize()->set_action(static_cast<v1::Oversize>(spec.oversize));
  plan.mutable_oversize()->set_count(summary.oversize);
  plan.mutable_oversize()->set_truncated(summary.oversize > summary.oversize_graphs.size());
  plan.set_rank_load_mean_over_max(summary.rank_load_mean_over_max);
  plan.set_bound_batches(summary.bound_batches);
  plan.set_plan_version(plan_version);
  return plan;
}

std::string PolicyName(const v1::BatchSpec& spec) {
  std::string policy = WordOf(static_cast<Policy>(spec.policy()), kPolicyWords);
  if (spec.policy() != v1::POLICY_STATIC) return policy;
  const Pad pad = EnumOf<Pad>(spec.pad()).value_or(Pad::kMultiple);
  const std::optional<std::uint32_t> rungs = NumberOf(pad == Pad::kLadder, spec.ladder_rungs());
  return policy + "-" + WithNumber(WordOf(pad, kPadWords), rungs);
}

std::string SkipAboveName(const v1::BatchSpec& spec) {
  if (spec.skip_above() == v1::SKIP_ABOVE_UNSPECIFIED) return "none";
  const auto skip_above = static_cast<SkipAbove>(spec.skip_above());
  return WithNumber(WordOf(skip_above, kSkipAboveWords), spec.skip_above_limit());
}

}  // namespace packtrain::wire
