#include "server/edges/cell_list.h"

#include <algorithm>
#include <cmath>

#include "server/edges/working_memory.h"

namespace packtrain::edges {
namespace {

constexpr double kMaxCellsAlong = 1 << 20;

// Half of the extent, because the whole may exceed the range of a double.
double HalfExtent(std::span<const Point> nodes, double Point::*along, double& low) {
  const auto [least, most] = std::minmax_element(
      nodes.begin(), nodes.end(), [along](const Point& a, const Point& b) { return a.*along < b.*along; });
  low = *least.*along;
  return *most.*along / 2 - *least.*along / 2;
}

double CellsAlong(double half_extent, double width) {
  return std::clamp(std::floor(half_extent / width * 2), 1.0, kMaxCellsAlong);
}

double CellsOf(const std::array<double, 3>& half_extents, double width) {
  double cells = 1;
  for (const double half : half_extents) cells *= CellsAlong(half, width);
  return cells;
}

}  // namespace

std::uint32_t CellList::Axis::CellOf(double at) const {
  const double cell = (at - low) * cells_per_angstrom;
  if (!(cell > 0)) return 0;
  return cell >= cells ? cells - 1 : static_cast<std::uint32_t>(cell);
}

std::size_t CellList::CellOf(const Point& place) const {
  const std::size_t row =
      static_cast<std::size_t>(axes_[2].CellOf(place.z)) * axes_[1].cells + axes_[1].CellOf(place.y);
  return row * axes_[0].cells + axes_[0].CellOf(place.x);
}

double CellList::Sort(std::span<const Point> nodes, double width) {
  constexpr double Point::*kAlong[] = {&Point::x, &Point::y, &Point::z};
  std::array<double, 3> half_extents;
  for (std::size_t k = 0; k < 3; ++k) half_extents[k] = HalfExtent(nodes, kAlong[k], axes_[k].low);
  while (CellsOf(half_extents, width) > 2.0 * static_cast<double>(nodes.size())) width *= 1.25;
  for (std::size_t k = 0; k < 3; ++k) {
    axes_[k].cells = static_cast<std::uint32_t>(CellsAlong(half_extents[k], width));
    axes_[k].cells_per_angstrom = axes_[k].cells == 1 ? 0 : axes_[k].cells / half_extents[k] / 2;
  }
  const std::size_t cells = static_cast<std::size_t>(axes_[0].cells) * axes_[1].cells * axes_[2].cells;
  MakeRoom(begins_, cells + 1);
  begins_.assign(cells + 1, 0);
  for (const Point& node : nodes) ++begins_[CellOf(node) + 1];
  for (std::size_t cell = 0; cell < cells; ++cell) begins_[cell + 1] += begins_[cell];
  MakeRoom(nodes_, nodes.size());
  nodes_.resize(nodes.size());
  for (std::uint32_t node = nodes.size(); node-- > 0;) nodes_[--begins_[CellOf(nodes[node]) + 1]] = node;
  // Each entry now says where the cell before it begins.
  begins_.erase(begins_.begin());
  begins_.push_back(static_cast<std::uint32_t>(nodes.size()));
  return width;
}

bool CellList::FindAround(const Point& place, double radius, std::vector<std::uint32_t>& found) const {
  const std::array<double, 3> at = {place.x, place.y, place.z};
  std::array<std::uint32_t, 3> first, last;
  bool all = true;
  for (std::size_t k = 0; k < 3; ++k) {
    // Wide enough to cover the rounding of counts and of differences.
    const double reach = std::sqrt(radius * radius + 1e-8) * (1 + 1e-12) + std::abs(at[k]) * 1e-12;
    first[k] = axes_[k].CellOf(at[k] - reach);
    last[k] = axes_[k].CellOf(at[k] + reach);
    all = all && first[k] == 0 && last[k] == axes_[k].cells - 1;
  }
  for (std::uint32_t z = first[2]; z <= last[2]; ++z) {
    for (std::uint32_t y = first[1]; y <= last[1]; ++y) {
      const std::size_t row = (static_cast<std::size_t>(z) * axes_[1].cells + y) * axes_[0].cells;
      found.insert(found.end(), nodes_.begin() + begins_[row + first[0]],
                   nodes_.begin() + begins_[row + last[0] + 1]);
    }
  }
  return all;
}

}  // namespace packtrain::edges
