#include "server/batching/padding.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <span>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/batching/batch_sample.h"
#include "server/batching/size_totals.h"
#include "server/batching/slot_rounding.h"

namespace packtrain::batching {
namespace {

std::uint64_t SumOfLargest(std::span<const std::uint32_t> sizes, std::span<const std::uint32_t> split,
                           std::size_t count) {
  std::vector<std::uint32_t> values;
  values.reserve(split.size());
  for (const std::uint32_t graph : split) values.push_back(sizes[graph]);
  const auto end = values.begin() + static_cast<std::ptrdiff_t>(std::min(count, values.size()));
  std::nth_element(values.begin(), end, values.end(), std::greater<>());
  return std::accumulate(values.begin(), end, std::uint64_t{0});
}

std::uint64_t PadNodes(wire::Pad pad, std::uint64_t nodes) {
  switch (pad) {
    case wire::Pad::kMultiple:
      return UpTo64(nodes + 1);
    case wire::Pad::kLadder:
      return UpTo8(nodes + 1);
    case wire::Pad::kPow2:
      return UpToPowerOf2(nodes + 1);
    case wire::Pad::kNone:
    case wire::Pad::kConstant:
      return nodes;
  }
  std::abort();
}

std::uint64_t PadEdges(wire::Pad pad, std::uint64_t edges) {
  switch (pad) {
    case wire::Pad::kMultiple:
      return UpTo64(edges);
    case wire::Pad::kLadder:
      return UpTo8(edges);
    case wire::Pad::kPow2:
      return UpToPowerOf2(edges);
    case wire::Pad::kNone:
    case wire::Pad::kConstant:
      return edges;
  }
  std::abort();
}

struct SlotSums {
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
};

SlotSums ConstantSlots(std::uint64_t graphs, const SizeTotals& totals) {
  return {NextMultipleOf64(totals.max_node * (graphs + 1)) + 1,
          NextMultipleOf64(totals.max_edge * (graphs + 1))};
}

// SlotSums that hold the G largest graphs of the split, by nodes and by edges.
SlotSums LargestSlots(wire::Pad pad, const PlanRequest& request) {
  return {PadNodes(pad, SumOfLargest(request.sizes.n_node, request.split, request.spec.graphs)),
          PadEdges(pad, SumOfLargest(request.sizes.n_edge, request.split, request.spec.graphs))};
}

// SlotSums of a batch that no batch of the split exceeds.
SlotSums MostSlots(wire::Pad pad, const PlanRequest& request) {
  if (pad == wire::Pad::kLadder) return LargestSlots(pad, request);
  const SizeTotals totals = MeasureSizes(request.sizes, request.split);
  if (pad == wire::Pad::kConstant) return ConstantSlots(request.spec.graphs, totals);
  const std::uint64_t count = std::min<std::uint64_t>(request.spec.graphs, request.split.size());
  const SlotSums bound = {PadNodes(pad, totals.max_node * count), PadEdges(pad, totals.max_edge * count)};
  return std::max(bound.nodes, bound.edges) <= wire::kMaxSlots ? bound : LargestSlots(pad, request);
}

// SlotSums that hold the largest graph.
SlotSums SlotsOfOne(wire::Pad pad, const SizeTotals& totals) {
  if (pad == wire::Pad::kConstant) return ConstantSlots(1, totals);
  return {PadNodes(pad, totals.max_node), PadEdges(pad, totals.max_edge)};
}

bool TooMany(const SlotSums& slots) { return std::max(slots.nodes, slots.edges) > wire::kMaxSlots; }

// What helps where a batch can be too large.
const char* AdviceFor(wire::Pad pad, const SizeTotals& totals) {
  if (!TooMany(SlotsOfOne(pad, totals))) return "lower --graphs";
  if (!TooMany(SlotsOfOne(wire::Pad::kNone, totals)))
    return "the largest graph alone takes more; take --pad none";
  return "the largest graph alone takes more; leave it out with --policy dynamic, --nodes, --edges and "
         "--oversize "
         "skip";
}

absl::Status CheckSlots(const SlotSums& most, wire::Pad pad, const PlanRequest& request) {
  if (!TooMany(most)) return absl::OkStatus();
  const bool nodes = most.nodes > wire::kMaxSlots;
  return absl::FailedPreconditionError(absl::StrCat(
      "--graphs ", request.spec.graphs, " with --pad ", PadTextOrDefault(request.spec), " can give a batch of ",
      nodes ? most.nodes : most.edges, nodes ? " node" : " edge", " slots; the most is ", wire::kMaxSlots, ": ",
      AdviceFor(pad, MeasureSizes(request.sizes, request.split))));
}

wire::Pad PadOf(const wire::BatchSpec& spec) { return spec.pad.value_or(wire::Pad::kMultiple); }

std::vector<wire::Shape> LadderOf(const PlanRequest& request, const SlotPair& top) {
  std::vector<SlotPair> needs;
  for (const wire::Shape& sum : SampleBatches(request)) {
    needs.push_back({static_cast<std::uint32_t>(PadNodes(wire::Pad::kLadder, sum.nodes)),
                     static_cast<std::uint32_t>(PadEdges(wire::Pad::kLadder, sum.edges))});
  }
  std::vector<wire::Shape> shapes;
  for (const SlotPair& rung : BuildLadder(needs, top, *request.spec.ladder_rungs, SlotCostsOf(request.spec))) {
    shapes.push_back({request.spec.graphs + 1, rung.nodes, rung.edges});
  }
  return shapes;
}

}  // namespace

absl::Status CheckPad(const wire::BatchSpec& spec) {
  if ((spec.pad == wire::Pad::kLadder) != spec.ladder_rungs.has_value()) {
    return absl::InvalidArgumentError("--pad ladder:K and its number K go together");
  }
  const wire::NumberRange range = wire::kLadderRungs;
  const std::uint32_t rungs = spec.ladder_rungs.value_or(range.min);
  if (rungs >= range.min && rungs <= range.max) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--pad ladder:", rungs, " is out of range: ladder:K takes K from ", range.min, " to ", range.max));
}

SlotCosts SlotCostsOf(const wire::BatchSpec& spec) {
  const wire::CostCoefficients cost = spec.cost.value_or(wire::CostCoefficients());
  if (cost.node == 0 && cost.edge == 0) return {};
  return {cost.node, cost.edge};
}

std::string PadTextOrDefault(const wire::BatchSpec& spec) {
  return wire::WithNumber(wire::WordOf(PadOf(spec), wire::kPadWords), spec.ladder_rungs);
}

absl::StatusOr<Padding> Padding::Create(const PlanRequest& request) {
  const wire::Pad pad = PadOf(request.spec);
  const SlotSums most = MostSlots(pad, request);
  ABSL_RETURN_IF_ERROR(CheckSlots(most, pad, request));
  const SlotPair top = {static_cast<std::uint32_t>(most.nodes), static_cast<std::uint32_t>(most.edges)};
  Padding padding(pad, request.spec.graphs);
  if (pad == wire::Pad::kConstant) padding.settled_ = {{padding.graph_slots_, top.nodes, top.edges}};
  if (pad == wire::Pad::kLadder) padding.settled_ = LadderOf(request, top);
  return padding;
}

wire::Shape Padding::PaddedShape(const wire::Shape& real) const {
  if (pad_ == wire::Pad::kNone) return real;
  if (!settled_.empty()) {
    return *std::ranges::find_if(settled_, [&](const wire::Shape& shape) {
      return real.nodes < shape.nodes && real.edges <= shape.edges;
    });
  }
  return {graph_slots_, static_cast<std::uint32_t>(PadNodes(pad_, real.nodes)),
          static_cast<std::uint32_t>(PadEdges(pad_, real.edges))};
}

}  // namespace packtrain::batching
