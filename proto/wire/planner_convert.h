// Batch specs, shapes and plans between the protocol's messages and the planner's structs. The planner is
// server/batching, which server and client/cli each bring and this folder may not include: so its types are
// parameters. Their members are named as the messages' fields, save for `rungs` and `window`, and their enums
// are numbered as the protocol's, without the 0 of a field that is absent.
#ifndef PACKTRAIN_PROTO_WIRE_PLANNER_CONVERT_H_
#define PACKTRAIN_PROTO_WIRE_PLANNER_CONVERT_H_

#include <cstdint>
#include <optional>

#include "packtrain/v1/batch.pb.h"

namespace packtrain::wire {

// Sets `field` to the value of this number, which is a known one; leaves it at its default for 0.
template <typename Enum>
void SetKnown(int number, Enum& field) {
  if (number != 0) field = static_cast<Enum>(number);
}
template <typename Enum>
void SetKnown(int number, std::optional<Enum>& field) {
  if (number != 0) field = static_cast<Enum>(number);
}

inline std::optional<std::uint32_t> Optional(bool present, std::uint32_t value) {
  return present ? std::optional(value) : std::nullopt;
}

// The planner's form of a spec that names a policy and has known enum values alone (enum_check.h). Whether the
// numbers fit together is the planner's to say. Leaves `split` out.
template <typename Spec>
Spec ToPlanner(const v1::BatchSpec& message) {
  Spec spec;
  SetKnown(message.policy(), spec.policy);
  SetKnown(message.pad(), spec.pad);
  SetKnown(message.order(), spec.order);
  SetKnown(message.oversize(), spec.oversize);
  SetKnown(message.balance(), spec.balance);
  spec.rungs = Optional(message.has_ladder_rungs(), message.ladder_rungs());
  spec.graphs = message.graphs();
  spec.max_graphs = Optional(message.has_max_graphs(), message.max_graphs());
  spec.nodes = Optional(message.has_nodes(), message.nodes());
  spec.edges = Optional(message.has_edges(), message.edges());
  spec.window = Optional(message.has_order_window(), message.order_window());
  spec.seed = message.seed();
  spec.drop_last = message.drop_last();
  spec.budget_sample = Optional(message.has_budget_sample(), message.budget_sample());
  const v1::CostCoefficients& cost = message.cost();
  if (message.has_cost()) spec.cost = {cost.graph(), cost.node(), cost.edge()};
  spec.lookahead = Optional(message.has_lookahead(), message.lookahead());
  return spec;
}

template <typename Shape>
v1::Shape ToShape(const Shape& shape) {
  v1::Shape message;
  message.set_graphs(shape.graphs);
  message.set_nodes(shape.nodes);
  message.set_edges(shape.edges);
  return message;
}

// All that the planner says of an epoch of `spec`: what a data set is called, ids of graphs, fingerprint and
// time are left to who knows them.
template <typename Summary, typename Spec>
v1::GetPlanResponse ToPlanResponse(const Summary& summary, const Spec& spec, std::uint32_t plan_version) {
  v1::GetPlanResponse plan;
  plan.set_batches(summary.batches);
  plan.set_steps(summary.steps);
  plan.set_graphs(summary.graphs);
  if (summary.budget.has_value()) *plan.mutable_budget() = ToShape(*summary.budget);
  plan.mutable_fill()->set_graphs(summary.fill_graphs);
  plan.mutable_fill()->set_nodes(summary.fill_nodes);
  plan.mutable_fill()->set_edges(summary.fill_edges);
  for (const auto& shape : summary.shapes) {
    v1::ShapeCount& count = *plan.add_shapes();
    *count.mutable_shape() = ToShape(shape.shape);
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

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_PLANNER_CONVERT_H_
