#include "server/edges/image_list.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "proto/wire/edge_spec.h"
#include "server/edges/working_memory.h"

namespace packtrain::edges {
namespace {

constexpr double kMaxBinsAlong = 1 << 20;

absl::Status CheckPlaces(std::span<const Point> nodes) {
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const double farthest = std::max({std::abs(nodes[k].x), std::abs(nodes[k].y), std::abs(nodes[k].z)});
    if (farthest <= wire::kMaxRadius) continue;
    return absl::OutOfRangeError(absl::StrCat("node ", k, " of a periodic cell lies ", farthest,
                                              " angstrom from the origin, the limit is ", wire::kMaxRadius));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ImageList::Sort(std::span<const Point> nodes, const Lattice& lattice, double width) {
  if (absl::Status status = CheckPlaces(nodes); !status.ok()) return status;
  lattice_ = &lattice;
  Wrap(nodes);
  ChooseBins(width);
  Fill();
  return absl::OkStatus();
}

void ImageList::Wrap(std::span<const Point> nodes) {
  MakeRoom(coordinates_, nodes.size());
  MakeRoom(home_shifts_, nodes.size());
  coordinates_.clear();
  home_shifts_.clear();
  rounding_ = std::max(1e-9, lattice_->rounding());
  for (const Point& node : nodes) {
    std::array<double, 3> at = lattice_->CoordinatesOf(node);
    std::array<double, 3> counts = {};
    for (std::size_t k = 0; k < 3; ++k) {
      rounding_ = std::max(rounding_, std::abs(at[k]) * lattice_->Height(k) * 1e-12);
      if (k >= lattice_->periodic_axes()) continue;
      counts[k] = std::floor(at[k]);
      at[k] -= counts[k];
    }
    coordinates_.push_back(at);
    home_shifts_.push_back(lattice_->ShiftOf(counts));
  }
}

void ImageList::ChooseBins(double width) {
  for (std::size_t k = 0; k < 3; ++k) {
    if (k < lattice_->periodic_axes()) {
      axes_[k] = {0, 1, 1};
      continue;
    }
    const auto [low, high] = std::minmax_element(coordinates_.begin(), coordinates_.end(),
                                                 [k](const auto& a, const auto& b) { return a[k] < b[k]; });
    axes_[k] = {(*low)[k], (*high)[k] - (*low)[k], 1};
  }
  const double most = 2.0 * static_cast<double>(coordinates_.size());
  for (double bins = most + 1; bins > most; width *= 1.25) {
    bins = 1;
    for (std::size_t k = 0; k < 3; ++k) {
      const double length = axes_[k].extent * lattice_->Height(k);
      axes_[k].bins = std::clamp(std::floor(length / width), 1.0, kMaxBinsAlong);
      bins *= axes_[k].bins;
    }
  }
}

double ImageList::BinOf(std::size_t axis, double coordinate) const {
  const auto& [low, extent, bins] = axes_[axis];
  return extent == 0 ? 0 : std::floor((coordinate - low) / extent * bins);
}

std::size_t ImageList::Index(const std::array<double, 3>& bins) const {
  return static_cast<std::size_t>((bins[2] * axes_[1].bins + bins[1]) * axes_[0].bins + bins[0]);
}

void ImageList::Fill() {
  const auto bin_of = [&](const std::array<double, 3>& at) {
    std::array<double, 3> bins;
    for (std::size_t k = 0; k < 3; ++k) bins[k] = std::clamp(BinOf(k, at[k]), 0.0, axes_[k].bins - 1);
    return Index(bins);
  };
  const auto bins = static_cast<std::size_t>(axes_[0].bins * axes_[1].bins * axes_[2].bins);
  MakeRoom(begins_, bins + 2);
  begins_.assign(bins + 2, 0);
  for (const auto& at : coordinates_) ++begins_[bin_of(at) + 2];
  for (std::size_t bin = 2; bin < begins_.size(); ++bin) begins_[bin] += begins_[bin - 1];
  MakeRoom(nodes_, coordinates_.size());
  nodes_.resize(coordinates_.size());
  // Each entry of begins_ moves on from where its bin begins to where it ends, which is where the next begins.
  for (std::uint32_t node = 0; node < nodes_.size(); ++node)
    nodes_[begins_[bin_of(coordinates_[node]) + 1]++] = node;
  begins_.pop_back();
}

std::array<ImageList::Range, 3> ImageList::RangesAround(std::uint32_t receiver, double radius) const {
  // Wide enough to cover the rounding of counts and of places.
  const double reach = std::sqrt(radius * radius + 1e-8) * (1 + 1e-9) + rounding_;
  std::array<Range, 3> ranges;
  for (std::size_t k = 0; k < 3; ++k) {
    const double at = coordinates_[receiver][k], along = reach / lattice_->Height(k);
    ranges[k] = {BinOf(k, at - along), BinOf(k, at + along)};
    if (k < lattice_->periodic_axes()) continue;
    ranges[k] = {std::clamp(ranges[k].first, 0.0, axes_[k].bins - 1),
                 std::clamp(ranges[k].last, 0.0, axes_[k].bins - 1)};
  }
  return ranges;
}

absl::Status ImageList::ForEachAround(std::uint32_t receiver, double radius, Visit visit) const {
  const std::array<Range, 3> ranges = RangesAround(receiver, radius);
  double images = static_cast<double>(nodes_.size());
  for (std::size_t k = 0; k < 3; ++k) images *= (ranges[k].last - ranges[k].first + 1) / axes_[k].bins;
  if (!(images <= kMaxImages)) {
    return absl::InvalidArgumentError(absl::StrCat("about ", images, " images of nodes lie within ", radius,
                                                   " angstrom of a node, the limit is ", kMaxImages));
  }
  // Whole numbers, of which there are no more than kMaxImages.
  const auto count = [&](std::size_t k) { return static_cast<int>(ranges[k].last - ranges[k].first) + 1; };
  for (int z = 0; z < count(2); ++z) {
    for (int y = 0; y < count(1); ++y) {
      for (int x = 0; x < count(0); ++x) {
        if (!VisitBin(receiver, {ranges[0].first + x, ranges[1].first + y, ranges[2].first + z}, visit)) {
          return absl::OkStatus();
        }
      }
    }
  }
  return absl::OkStatus();
}

bool ImageList::VisitBin(std::uint32_t receiver, std::array<double, 3> bins, Visit visit) const {
  std::array<double, 3> counts = {};
  for (std::size_t k = 0; k < lattice_->periodic_axes(); ++k) {
    counts[k] = std::floor(bins[k] / axes_[k].bins);
    bins[k] -= counts[k] * axes_[k].bins;
  }
  const Shift of_bin = lattice_->ShiftOf(counts);
  const std::size_t bin = Index(bins);
  for (std::uint32_t at = begins_[bin]; at < begins_[bin + 1]; ++at) {
    Shift shift;
    for (std::size_t k = 0; k < 3; ++k) {
      shift[k] = of_bin[k] - home_shifts_[nodes_[at]][k] + home_shifts_[receiver][k];
    }
    if (!visit(nodes_[at], shift)) return false;
  }
  return true;
}

}  // namespace packtrain::edges
