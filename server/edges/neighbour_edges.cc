#include "server/edges/neighbour_edges.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace packtrain::edges {
namespace {

// Up to this many nodes, looking at all of them is faster.
constexpr std::size_t kFewNodes = 64;
// Angstrom. For specs without a radius, whose cells become as narrow as the number of nodes allows.
constexpr double kNarrowest = 1e-3;

}  // namespace

absl::Status NeighbourEdges::Build(std::span<const Point> nodes, std::uint64_t max_edges) {
  edges_.senders.clear();
  edges_.receivers.clear();
  ABSL_RETURN_IF_ERROR(MakeRoomFor(nodes.size()));
  const bool few = nodes.size() <= kFewNodes;
  cell_width_ = few ? 0 : cells_.Sort(nodes, std::max(spec_.radius, kNarrowest));
  for (std::uint32_t receiver = 0; receiver < nodes.size(); ++receiver) {
    Find(nodes, receiver);
    Select();
    if (edges_.senders.size() + neighbours_.size() > max_edges) {
      return absl::InvalidArgumentError(absl::StrCat("--edges ", wire::ToText(spec_), " gives a graph of ",
                                                     nodes.size(), " nodes more than ", max_edges, " edges"));
    }
    ABSL_RETURN_IF_ERROR(Append(receiver));
  }
  return absl::OkStatus();
}

absl::Status NeighbourEdges::MakeRoomFor(std::size_t nodes) {
  constexpr std::uint64_t kBytesOfANode =
      CellList::kBytesOfANode + sizeof(candidates_[0]) + sizeof(neighbours_[0]);
  ABSL_RETURN_IF_ERROR(memory_.Raise(node_bytes_, nodes * kBytesOfANode));
  MakeRoom(candidates_, nodes);
  MakeRoom(neighbours_, nodes);
  return absl::OkStatus();
}

void NeighbourEdges::Find(std::span<const Point> nodes, std::uint32_t receiver) {
  if (spec_.builder == wire::EdgeBuilder::kKnn) {
    FindNearest(nodes, receiver);
  } else {
    FindWithin(nodes, receiver, spec_.radius);
  }
}

void NeighbourEdges::FindAll(std::span<const Point> nodes, std::uint32_t receiver) {
  neighbours_.clear();
  for (std::uint32_t sender = 0; sender < nodes.size(); ++sender) {
    if (sender != receiver) neighbours_.push_back({SquaredDistance(nodes[sender], nodes[receiver]), sender});
  }
}

bool NeighbourEdges::FindWithin(std::span<const Point> nodes, std::uint32_t receiver, double radius) {
  const double most = CountOf(radius * radius);
  if (cell_width_ == 0) {
    FindAll(nodes, receiver);
    std::erase_if(neighbours_, [most](const Neighbour& neighbour) { return neighbour.distance > most; });
    return true;
  }
  neighbours_.clear();
  candidates_.clear();
  const bool all = cells_.FindAround(nodes[receiver], radius, candidates_);
  for (const std::uint32_t sender : candidates_) {
    const double distance = SquaredDistance(nodes[sender], nodes[receiver]);
    if (sender != receiver && distance <= most) neighbours_.push_back({distance, sender});
  }
  return all;
}

void NeighbourEdges::FindNearest(std::span<const Point> nodes, std::uint32_t receiver) {
  if (cell_width_ == 0) return FindAll(nodes, receiver);
  for (double radius = cell_width_;; radius *= 2) {
    const bool all = FindWithin(nodes, receiver, radius);
    if (neighbours_.size() >= spec_.neighbours) return;
    if (all) return FindAll(nodes, receiver);
  }
}

void NeighbourEdges::Select() {
  if (spec_.neighbours != 0 && neighbours_.size() > spec_.neighbours) {
    std::nth_element(neighbours_.begin(), neighbours_.begin() + spec_.neighbours, neighbours_.end());
    neighbours_.resize(spec_.neighbours);
  }
  std::sort(neighbours_.begin(), neighbours_.end(),
            [](const Neighbour& a, const Neighbour& b) { return a.sender < b.sender; });
}

absl::Status NeighbourEdges::Append(std::uint32_t receiver) {
  const std::size_t edges = edges_.senders.size() + neighbours_.size();
  ABSL_RETURN_IF_ERROR(memory_.Grow(edges_.senders, edges));
  ABSL_RETURN_IF_ERROR(memory_.Grow(edges_.receivers, edges));
  for (const Neighbour& neighbour : neighbours_) edges_.senders.push_back(neighbour.sender);
  edges_.receivers.resize(edges, receiver);
  return absl::OkStatus();
}

}  // namespace packtrain::edges
