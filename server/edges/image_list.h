// The nodes of a periodic structure, sorted into bins of its lattice, so that the images near a place are found
// without looking at all of them.
#ifndef PACKTRAIN_SERVER_EDGES_IMAGE_LIST_H_
#define PACKTRAIN_SERVER_EDGES_IMAGE_LIST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "server/edges/lattice.h"

namespace packtrain::edges {

// Images that are looked at for one receiver, at most.
inline constexpr double kMaxImages = 1 << 24;

// Sorts one structure after another and reuses its memory. Used by one thread.
class ImageList {
 public:
  // The image of `sender` by `shift`; false ends the visit.
  using Visit = absl::FunctionRef<bool(std::uint32_t sender, const Shift& shift)>;

  // Makes bins that are at least `width` angstrom wide, and wider where there would be more than about two for
  // each node. `lattice` is borrowed until the next call. At least one node. OUT_OF_RANGE: a node lies further
  // than wire::kMaxRadius from the origin, where its place in the cell is lost in rounding.
  absl::Status Sort(std::span<const Point> nodes, const Lattice& lattice, double width);
  // Of memory that it holds for each node of the largest structure, but for a few bins.
  static constexpr std::uint64_t kBytesOfANode =
      sizeof(std::array<double, 3>) + sizeof(Shift) + 3 * sizeof(std::uint32_t);

  // Visits every image with a squared distance to node `receiver` of at most CountOf(radius squared), the node
  // itself included, and other images around, in any order. INVALID_ARGUMENT: more than kMaxImages.
  absl::Status ForEachAround(std::uint32_t receiver, double radius, Visit visit) const;

 private:
  struct Axis {
    double low = 0;     // the first bin begins here
    double extent = 0;  // of all bins, in the coordinate
    double bins = 1;
  };
  // Bins that a search looks into along an axis, from `first` to `last`; whole numbers, also outside the cell
  // where the axis repeats.
  struct Range {
    double first, last;
  };

  double BinOf(std::size_t axis, double coordinate) const;
  std::size_t Index(const std::array<double, 3>& bins) const;
  void Wrap(std::span<const Point> nodes);
  void ChooseBins(double width);
  void Fill();
  std::array<Range, 3> RangesAround(std::uint32_t receiver, double radius) const;
  bool VisitBin(std::uint32_t receiver, std::array<double, 3> bins, Visit visit) const;

  const Lattice* lattice_ = nullptr;
  std::array<Axis, 3> axes_;
  double rounding_ = 0;                             // of a place, in angstrom
  std::vector<std::array<double, 3>> coordinates_;  // of each node, in the cell that begins at the origin
  std::vector<Shift> home_shifts_;                  // from that place to the node
  std::vector<std::uint32_t> begins_;               // in nodes_, by bin, and the end
  std::vector<std::uint32_t> nodes_;                // by bin
};

}  // namespace packtrain::edges

#endif  // PACKTRAIN_SERVER_EDGES_IMAGE_LIST_H_
