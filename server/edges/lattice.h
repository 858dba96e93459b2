// The cell of a periodic structure, in a form in which images are easy to count.
#ifndef PACKTRAIN_SERVER_EDGES_LATTICE_H_
#define PACKTRAIN_SERVER_EDGES_LATTICE_H_

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/status/statusor.h"
#include "server/edges/squared_distance.h"

namespace packtrain::edges {

// The cell as it was stored.
struct PeriodicCell {
  std::array<Point, 3> vectors = {};  // angstrom
  std::array<bool, 3> repeats = {};   // along which of them; the others have no meaning

  bool IsPeriodic() const { return std::find(repeats.begin(), repeats.end(), true) != repeats.end(); }
};

// Nodes that repeat at a shorter distance than this, in angstrom, are no structure; nor is what is longer than
// wire::kMaxRadius.
inline constexpr double kShortestRepeat = 1e-3;
// The vectors that repeat have no volume where they span less than this part of the product of their lengths:
// below it, nothing is left of stored coordinates of seven digits.
inline constexpr double kSmallestVolumePart = 1e-6;

// Whole multiples of the vectors of a cell. A double holds each exactly up to 2^53.
using Shift = std::array<double, 3>;

// The same lattice as a cell, spanned by vectors that are short and nearly orthogonal, however flat or skewed
// the cell is. Axes come first that repeat; the other ones are orthogonal to them and of length 1. Immutable.
class Lattice {
 public:
  // The cell must repeat along some vector. INVALID_ARGUMENT: it cannot be what it says: a vector that repeats
  // is not finite or longer than wire::kMaxRadius, they span no volume, or the structure repeats at less than
  // kShortestRepeat.
  static absl::StatusOr<Lattice> Create(const PeriodicCell& cell);

  std::size_t periodic_axes() const { return axes_; }
  // Distance of two neighbouring planes of places with a whole coordinate `axis`, in angstrom.
  double Height(std::size_t axis) const { return heights_[axis]; }
  // Volume of the axes, in cubic angstrom, with those of length 1.
  double volume() const { return volume_; }
  // What rounding may make of the distance to an image, in angstrom.
  double rounding() const { return rounding_; }

  // Coordinates of a place along the axes.
  std::array<double, 3> CoordinatesOf(const Point& place) const;
  // As a shift by the cell's own vectors; `counts` has 0 where the lattice does not repeat.
  Shift ShiftOf(const std::array<double, 3>& counts) const;

  // CountOf the squared distance from `receiver` to the image of `sender` that is shifted by `shift`; the same
  // in the opposite direction with the opposite shift, and SquaredDistance where the shift is 0.
  double SquaredDistanceOf(const Point& sender, const Shift& shift, const Point& receiver) const;

 private:
  Lattice() = default;
  void Reduce();
  // Takes whole multiples of other axes off an axis; false where that makes none shorter.
  bool Shorten();
  bool Replace(std::size_t axis, const std::array<double, 3>& counts);
  void Complete();

  std::array<Point, 3> cell_ = {};     // its vectors, 0 where they do not repeat
  std::size_t axes_ = 0;               // that repeat
  std::array<Point, 3> vectors_ = {};  // of the axes
  std::array<Shift, 3> shifts_ = {};   // vectors_ of axes that repeat, in vectors of the cell
  std::array<Point, 3> normals_ = {};  // CoordinatesOf by a scalar product each
  std::array<double, 3> heights_ = {};
  double volume_ = 0;
  double rounding_ = 0;
};

}  // namespace packtrain::edges

#endif  // PACKTRAIN_SERVER_EDGES_LATTICE_H_
