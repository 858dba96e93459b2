#include "server/edges/lattice.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "proto/wire/edge_spec.h"

namespace packtrain::edges {
namespace {

constexpr const char* kVectorNames[] = {"first", "second", "third"};

// Lengths must fall by more than rounding could make them.
constexpr double kShorter = 1 - 1e-9;

Point Scaled(double by, const Point& a) { return {by * a.x, by * a.y, by * a.z}; }

Point Sum(const Point& a, const Point& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }

double Dot(const Point& a, const Point& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

double Length(const Point& a) { return std::sqrt(Dot(a, a)); }

Point Cross(const Point& a, const Point& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

Point Normalised(const Point& a) { return Scaled(1 / Length(a), a); }

// Any vector of length 1 that is orthogonal to `a`.
Point OrthogonalTo(const Point& a) {
  const bool along_x = std::abs(a.x) > std::abs(a.y) && std::abs(a.x) > std::abs(a.z);
  return Normalised(Cross(a, along_x ? Point{0, 1, 0} : Point{1, 0, 0}));
}

// The part of the product of their lengths that vectors span.
double VolumePart(const std::array<Point, 3>& vectors, std::size_t count) {
  if (count == 1) return 1;
  const Point across = Cross(Normalised(vectors[0]), Normalised(vectors[1]));
  return count == 2 ? Length(across) : std::abs(Dot(across, Normalised(vectors[2])));
}

absl::Status CheckLength(const Point& vector, std::size_t axis) {
  const double length = Length(vector);
  if (length >= kShortestRepeat && length <= wire::kMaxRadius) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the cell repeats along its ", kVectorNames[axis], " vector, whose length is ", length,
                   " angstrom; it must be from ", kShortestRepeat, " to ", wire::kMaxRadius));
}

}  // namespace

absl::StatusOr<Lattice> Lattice::Create(const PeriodicCell& cell) {
  Lattice lattice;
  for (std::size_t k = 0; k < 3; ++k) {
    if (!cell.repeats[k]) continue;
    if (absl::Status status = CheckLength(cell.vectors[k], k); !status.ok()) return status;
    lattice.cell_[k] = cell.vectors[k];
    lattice.vectors_[lattice.axes_] = cell.vectors[k];
    lattice.shifts_[lattice.axes_++][k] = 1;
  }
  if (!(VolumePart(lattice.vectors_, lattice.axes_) >= kSmallestVolumePart)) {
    return absl::InvalidArgumentError(
        "the vectors along which the cell repeats lie in one plane or on one line: "
        "the cell has no volume");
  }
  lattice.Reduce();
  for (std::size_t k = 0; k < lattice.axes_; ++k) {
    if (Length(lattice.vectors_[k]) >= kShortestRepeat) continue;
    return absl::InvalidArgumentError(absl::StrCat("the cell repeats every ", Length(lattice.vectors_[k]),
                                                   " angstrom; the limit is ", kShortestRepeat));
  }
  lattice.Complete();
  return lattice;
}

void Lattice::Reduce() {
  while (Shorten()) {
  }
}

bool Lattice::Shorten() {
  for (std::size_t k = 0; k < axes_; ++k) {
    for (std::size_t other = 0; other < axes_; ++other) {
      if (other == k) continue;
      std::array<double, 3> counts = {};
      counts[other] = -std::round(Dot(vectors_[k], vectors_[other]) / Dot(vectors_[other], vectors_[other]));
      if (Replace(k, counts)) return true;
    }
    if (axes_ < 3) continue;
    for (const double first : {-1.0, 1.0}) {
      for (const double second : {-1.0, 1.0}) {
        std::array<double, 3> counts = {};
        counts[(k + 1) % 3] = first;
        counts[(k + 2) % 3] = second;
        if (Replace(k, counts)) return true;
      }
    }
  }
  return false;
}

bool Lattice::Replace(std::size_t axis, const std::array<double, 3>& counts) {
  Point vector = vectors_[axis];
  for (std::size_t k = 0; k < axes_; ++k) vector = Sum(vector, Scaled(counts[k], vectors_[k]));
  if (!(Length(vector) < Length(vectors_[axis]) * kShorter)) return false;
  vectors_[axis] = vector;
  for (std::size_t k = 0; k < axes_; ++k) {
    for (std::size_t j = 0; j < 3; ++j) shifts_[axis][j] += counts[k] * shifts_[k][j];
  }
  return true;
}

void Lattice::Complete() {
  if (axes_ == 1) vectors_[1] = OrthogonalTo(vectors_[0]);
  if (axes_ < 3) vectors_[2] = Normalised(Cross(vectors_[0], vectors_[1]));
  const double determinant = Dot(vectors_[0], Cross(vectors_[1], vectors_[2]));
  for (std::size_t k = 0; k < 3; ++k) {
    normals_[k] = Scaled(1 / determinant, Cross(vectors_[(k + 1) % 3], vectors_[(k + 2) % 3]));
    heights_[k] = 1 / Length(normals_[k]);
  }
  volume_ = std::abs(determinant);
  for (const Shift& shift : shifts_) {
    for (std::size_t k = 0; k < 3; ++k) {
      rounding_ = std::max(rounding_, 1e-14 * std::abs(shift[k]) * Length(cell_[k]));
    }
  }
}

std::array<double, 3> Lattice::CoordinatesOf(const Point& place) const {
  return {Dot(place, normals_[0]), Dot(place, normals_[1]), Dot(place, normals_[2])};
}

Shift Lattice::ShiftOf(const std::array<double, 3>& counts) const {
  Shift shift = {};
  for (std::size_t k = 0; k < axes_; ++k) {
    for (std::size_t j = 0; j < 3; ++j) shift[j] += counts[k] * shifts_[k][j];
  }
  return shift;
}

double Lattice::SquaredDistanceOf(const Point& sender, const Shift& shift, const Point& receiver) const {
  const auto& [a, b, c] = cell_;
  const double x = (sender.x - receiver.x) + ((shift[0] * a.x + shift[1] * b.x) + shift[2] * c.x);
  const double y = (sender.y - receiver.y) + ((shift[0] * a.y + shift[1] * b.y) + shift[2] * c.y);
  const double z = (sender.z - receiver.z) + ((shift[0] * a.z + shift[1] * b.z) + shift[2] * c.z);
  return CountOf((x * x + y * y) + z * z);
}

}  // namespace packtrain::edges
