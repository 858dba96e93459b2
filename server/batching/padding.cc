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
#include "server/batching/slots.h"

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

std::uint64_t PadNodes(Pad pad, std::uint64_t nodes) {
  switch (pad) {
    case Pad::kMultiple:
      return UpTo64(nodes + 1);
    case Pad::kLadder:
      return UpTo8(nodes + 1);
    case Pad::kPow2:
      return UpToPowerOf2(nodes + 1);
    case Pad::kNone:
    case Pad::kConstant:
      return nodes;
  }
  std::abort();
}

std::uint64_t PadEdges(Pad pad, std::uint64_t edges) {
  switch (pad) {
    case Pad::kMultiple:
      return UpTo64(edges);
    case Pad::kLadder:
      return UpTo8(edges);
    case Pad::kPow2:
      return UpToPowerOf2(edges);
    case Pad::kNone:
    case Pad::kConstant:
      return edges;
  }
  std::abort();
}

struct Slots {
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
};

Slots ConstantSlots(std::uint64_t graphs, const SizeTotals& totals) {
  return {NextMultipleOf64(totals.max_node * (graphs + 1)) + 1,
          NextMultipleOf64(totals.max_edge * (graphs + 1))};
}

// Slots that hold the G largest graphs of the split, by nodes and by edges.
Slots LargestSlots(Pad pad, const PlanRequest& request) {
  return {PadNodes(pad, SumOfLargest(request.sizes.n_node, request.split, request.spec.graphs)),
          PadEdges(pad, SumOfLargest(request.sizes.n_edge, request.split, request.spec.graphs))};
}

// Slots of a batch that no batch of the split exceeds.
Slots MostSlots(Pad pad, const PlanRequest& request) {
  if (pad == Pad::kLadder) return LargestSlots(pad, request);
  const SizeTotals totals = MeasureSizes(request.sizes, request.split);
  if (pad == Pad::kConstant) return ConstantSlots(request.spec.graphs, totals);
  const std::uint64_t count = std::min<std::uint64_t>(request.spec.graphs, request.split.size());
  const Slots bound = {PadNodes(pad, totals.max_node * count), PadEdges(pad, totals.max_edge * count)};
  return std::max(bound.nodes, bound.edges) <= kMaxSlots ? bound : LargestSlots(pad, request);
}

// Slots that hold the largest graph.
Slots SlotsOfOne(Pad pad, const SizeTotals& totals) {
  if (pad == Pad::kConstant) return ConstantSlots(1, totals);
  return {PadNodes(pad, totals.max_node), PadEdges(pad, totals.max_edge)};
}

bool TooMany(const Slots& slots) { return std::max(slots.nodes, slots.edges) > kMaxSlots; }

// What helps where a batch can be too large.
const char* AdviceFor(Pad pad, const SizeTotals& totals) {
  if (!TooMany(SlotsOfOne(pad, totals))) return "lower --graphs";
  if (!TooMany(SlotsOfOne(Pad::kNone, totals))) return "the largest graph alone takes more; take --pad none";
  return "the largest graph alone takes more; leave it out with --policy dynamic, --nodes, --edges and "
         "--oversize "
         "skip";
}

absl::Status CheckSlots(const Slots& most, Pad pad, const PlanRequest& request) {
  if (!TooMany(most)) return absl::OkStatus();
  const bool nodes = most.nodes > kMaxSlots;
  return absl::FailedPreconditionError(absl::StrCat(
      "--graphs ", request.spec.graphs, " with --pad ", PadText(request.spec), " can give a batch of ",
      nodes ? most.nodes : most.edges, nodes ? " node" : " edge", " slots; the most is ", kMaxSlots, ": ",
      AdviceFor(pad, MeasureSizes(request.sizes, request.split))));
}

Pad PadOf(const BatchSpec& spec) { return spec.pad.value_or(Pad::kMultiple); }

std::vector<Shape> LadderOf(const PlanRequest& request, const SlotPair& top) {
  std::vector<SlotPair> needs;
  for (const Shape& sum : SampleBatches(request)) {
    needs.push_back({static_cast<std::uint32_t>(PadNodes(Pad::kLadder, sum.nodes)),
                     static_cast<std::uint32_t>(PadEdges(Pad::kLadder, sum.edges))});
  }
  std::vector<Shape> shapes;
  for (const SlotPair& rung : BuildLadder(needs, top, *request.spec.rungs, SlotCostsOf(request.spec))) {
    shapes.push_back({request.spec.graphs + 1, rung.nodes, rung.edges});
  }
  return shapes;
}

}  // namespace

absl::Status CheckPad(const BatchSpec& spec) {
  if ((spec.pad == Pad::kLadder) != spec.rungs.has_value()) {
    return absl::InvalidArgumentError("--pad ladder:K and its number K go together");
  }
  if (!spec.rungs || (*spec.rungs >= 1 && *spec.rungs <= kMaxRungs)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--pad ladder:", *spec.rungs, " is out of range: ladder:K takes K from 1 to ", kMaxRungs));
}

SlotCosts SlotCostsOf(const BatchSpec& spec) {
  const CostCoefficients cost = spec.cost.value_or(CostCoefficients());
  if (cost.node == 0 && cost.edge == 0) return {};
  return {cost.node, cost.edge};
}

std::string PadText(const BatchSpec& spec) {
  switch (PadOf(spec)) {
    case Pad::kNone:
      return "none";
    case Pad::kMultiple:
      return "multiple";
    case Pad::kPow2:
      return "pow2";
    case Pad::kConstant:
      return "constant";
    case Pad::kLadder:
      return absl::StrCat("ladder:", *spec.rungs);
  }
  std::abort();
}

absl::StatusOr<Padding> Padding::Create(const PlanRequest& request) {
  const Pad pad = PadOf(request.spec);
  const Slots most = MostSlots(pad, request);
  ABSL_RETURN_IF_ERROR(CheckSlots(most, pad, request));
  const SlotPair top = {static_cast<std::uint32_t>(most.nodes), static_cast<std::uint32_t>(most.edges)};
  Padding padding(pad, request.spec.graphs);
  if (pad == Pad::kConstant) padding.settled_ = {{padding.graph_slots_, top.nodes, top.edges}};
  if (pad == Pad::kLadder) padding.settled_ = LadderOf(request, top);
  return padding;
}

Shape Padding::PaddedShape(const Shape& real) const {
  if (pad_ == Pad::kNone) return real;
  if (!settled_.empty()) {
    return *std::ranges::find_if(
        settled_, [&](const Shape& shape) { return real.nodes < shape.nodes && real.edges <= shape.edges; });
  }
  return {graph_slots_, static_cast<std::uint32_t>(PadNodes(pad_, real.nodes)),
          static_cast<std::uint32_t>(PadEdges(pad_, real.edges))};
}

}  // namespace packtrain::batching
