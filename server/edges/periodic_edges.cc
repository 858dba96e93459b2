#include "server/edges/periodic_edges.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace packtrain::edges {
namespace {

// A node beside itself, not an image of it.
bool IsZero(const Shift& shift) { return shift == Shift{}; }

// How much a search that has found too few widens.
constexpr double kWider = 1.3;

}  // namespace

bool PeriodicEdges::Neighbour::operator<(const Neighbour& other) const {
  return std::tie(distance, sender, shift) < std::tie(other.distance, other.sender, other.shift);
}

absl::Status PeriodicEdges::Build(std::span<const Point> nodes, const Lattice& lattice,
                                  std::uint64_t max_edges) {
  edges_.senders.clear();
  edges_.receivers.clear();
  shifts_.clear();
  if (nodes.empty()) return absl::OkStatus();
  ABSL_RETURN_IF_ERROR(memory_.Raise(node_bytes_, nodes.size() * ImageList::kBytesOfANode));
  const bool unlimited = spec_.neighbours == 0;
  likely_radius_ = unlimited ? spec_.radius : LikelyRadius(nodes, lattice);
  if (spec_.builder == wire::EdgeBuilder::kRadius) likely_radius_ = std::min(likely_radius_, spec_.radius);
  ABSL_RETURN_IF_ERROR(images_.Sort(nodes, lattice, likely_radius_));
  for (std::uint32_t receiver = 0; receiver < nodes.size(); ++receiver) {
    const std::uint64_t most = std::min(max_edges - edges_.senders.size(), kMaxPeriodicNeighbours);
    const bool knn = spec_.builder == wire::EdgeBuilder::kKnn;
    if (knn && spec_.neighbours > most) return TooMany(nodes.size(), max_edges);
    const absl::Status found = Find(nodes, lattice, receiver, most);
    if (absl::IsInvalidArgument(found)) return TooMany(nodes.size(), max_edges);
    ABSL_RETURN_IF_ERROR(found);
    Select();
    if (neighbours_.size() > most) return TooMany(nodes.size(), max_edges);
    ABSL_RETURN_IF_ERROR(Append(receiver));
  }
  return absl::OkStatus();
}

double PeriodicEdges::LikelyRadius(std::span<const Point> nodes, const Lattice& lattice) const {
  double volume = lattice.volume();
  for (std::size_t k = lattice.periodic_axes(); k < 3; ++k) {
    const auto along = [&](const Point& place) { return lattice.CoordinatesOf(place)[k]; };
    const auto [low, high] = std::minmax_element(
        nodes.begin(), nodes.end(), [&](const Point& a, const Point& b) { return along(a) < along(b); });
    volume *= along(*high) - along(*low) + 1;
  }
  const double wanted = 1.5 * (spec_.neighbours + 1.0) / static_cast<double>(nodes.size()) * volume;
  return std::cbrt(wanted * 3 / (4 * std::numbers::pi));
}

absl::Status PeriodicEdges::FindWithin(std::span<const Point> nodes, const Lattice& lattice,
                                       std::uint32_t receiver, double radius, std::uint64_t most) {
  const double farthest = CountOf(radius * radius);
  // Where the spec limits them, the nearest are chosen later among all that were found.
  const std::uint64_t enough = spec_.neighbours == 0 ? most + 1 : std::numeric_limits<std::uint64_t>::max();
  neighbours_.clear();
  absl::Status grown;
  const absl::Status visited =
      images_.ForEachAround(receiver, radius, [&](std::uint32_t sender, const Shift& shift) {
        const double distance = lattice.SquaredDistanceOf(nodes[sender], shift, nodes[receiver]);
        if (distance > farthest || (sender == receiver && IsZero(shift))) return true;
        grown = memory_.Grow(neighbours_, neighbours_.size() + 1);
        if (!grown.ok()) return false;
        neighbours_.push_back({distance, sender, shift});
        return neighbours_.size() < enough;
      });
  return visited.ok() ? grown : visited;
}

absl::Status PeriodicEdges::Find(std::span<const Point> nodes, const Lattice& lattice, std::uint32_t receiver,
                                 std::uint64_t most) {
  const bool knn = spec_.builder == wire::EdgeBuilder::kKnn;
  for (double radius = likely_radius_;; radius *= kWider) {
    if (!knn) radius = std::min(radius, spec_.radius);
    ABSL_RETURN_IF_ERROR(FindWithin(nodes, lattice, receiver, radius, most));
    const bool enough = spec_.neighbours != 0 && neighbours_.size() >= spec_.neighbours;
    if (enough || (!knn && radius == spec_.radius)) return absl::OkStatus();
  }
}

void PeriodicEdges::Select() {
  if (spec_.neighbours != 0 && neighbours_.size() > spec_.neighbours) {
    std::nth_element(neighbours_.begin(), neighbours_.begin() + spec_.neighbours, neighbours_.end());
    neighbours_.resize(spec_.neighbours);
  }
  std::sort(neighbours_.begin(), neighbours_.end(), [](const Neighbour& a, const Neighbour& b) {
    return std::tie(a.sender, a.shift) < std::tie(b.sender, b.shift);
  });
}

absl::Status PeriodicEdges::Append(std::uint32_t receiver) {
  const std::size_t edges = edges_.senders.size() + neighbours_.size();
  ABSL_RETURN_IF_ERROR(memory_.Grow(edges_.senders, edges));
  ABSL_RETURN_IF_ERROR(memory_.Grow(edges_.receivers, edges));
  ABSL_RETURN_IF_ERROR(memory_.Grow(shifts_, edges));
  for (const Neighbour& neighbour : neighbours_) {
    std::array<std::int32_t, 3> shift;
    for (std::size_t k = 0; k < 3; ++k) {
      if (std::abs(neighbour.shift[k]) > std::numeric_limits<std::int32_t>::max()) {
        return absl::OutOfRangeError(absl::StrCat("an edge from node ", neighbour.sender, " to node ", receiver,
                                                  " spans more than 2^31 cells"));
      }
      shift[k] = static_cast<std::int32_t>(neighbour.shift[k]);
    }
    shifts_.push_back(shift);
    edges_.senders.push_back(neighbour.sender);
  }
  edges_.receivers.resize(edges, receiver);
  return absl::OkStatus();
}

absl::Status PeriodicEdges::TooMany(std::uint64_t nodes, std::uint64_t max_edges) const {
  return absl::InvalidArgumentError(absl::StrCat("--edges ", wire::ToText(spec_), " gives a periodic graph of ",
                                                 nodes, " nodes more than ", max_edges,
                                                 " edges, or a node more than ", kMaxPeriodicNeighbours));
}

}  // namespace packtrain::edges
