#include "server/batching/padding.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
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
    case Pad::kPow2:
      return UpToPowerOf2(edges);
    case Pad::kNone:
    case Pad::kConstant:
      return edges;
  }
  std::abort();
}

absl::Status CheckSlots(std::uint64_t slots, const char* what, Pad pad, std::uint32_t graphs) {
  if (slots <= kMaxSlots) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("--graphs ", graphs, " with --pad ", PadName(pad).data(),
                                                    " can give a batch of ", slots, " ", what,
                                                    " slots; the most is ", kMaxSlots, ": lower --graphs"));
}

struct Slots {
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
};

Slots ConstantSlots(std::uint64_t graphs, const SizeTotals& totals) {
  return {NextMultipleOf64(totals.max_node * (graphs + 1)) + 1,
          NextMultipleOf64(totals.max_edge * (graphs + 1))};
}

// Slots of a batch that no batch of the split exceeds.
Slots MostSlots(Pad pad, std::uint32_t graphs, const GraphSizes& sizes, std::span<const std::uint32_t> split) {
  const SizeTotals totals = MeasureSizes(sizes, split);
  if (pad == Pad::kConstant) return ConstantSlots(graphs, totals);
  const std::uint64_t count = std::min<std::uint64_t>(graphs, split.size());
  const Slots bound = {PadNodes(pad, totals.max_node * count), PadEdges(pad, totals.max_edge * count)};
  if (std::max(bound.nodes, bound.edges) <= kMaxSlots) return bound;
  return {PadNodes(pad, SumOfLargest(sizes.n_node, split, graphs)),
          PadEdges(pad, SumOfLargest(sizes.n_edge, split, graphs))};
}

}  // namespace

std::string_view PadName(Pad pad) {
  switch (pad) {
    case Pad::kNone:
      return "none";
    case Pad::kMultiple:
      return "multiple";
    case Pad::kPow2:
      return "pow2";
    case Pad::kConstant:
      return "constant";
  }
  std::abort();
}

absl::StatusOr<Padding> Padding::Create(Pad pad, std::uint32_t graphs, const GraphSizes& sizes,
                                        std::span<const std::uint32_t> split) {
  const Slots most = MostSlots(pad, graphs, sizes, split);
  if (absl::Status status = CheckSlots(most.nodes, "node", pad, graphs); !status.ok()) return status;
  if (absl::Status status = CheckSlots(most.edges, "edge", pad, graphs); !status.ok()) return status;
  Padding padding(pad, graphs);
  padding.constant_ = {padding.graph_slots_, static_cast<std::uint32_t>(most.nodes),
                       static_cast<std::uint32_t>(most.edges)};
  return padding;
}

Shape Padding::PaddedShape(const Shape& real) const {
  if (pad_ == Pad::kNone) return real;
  if (pad_ == Pad::kConstant) return constant_;
  return {graph_slots_, static_cast<std::uint32_t>(PadNodes(pad_, real.nodes)),
          static_cast<std::uint32_t>(PadEdges(pad_, real.edges))};
}

}  // namespace packtrain::batching
