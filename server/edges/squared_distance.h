// The distance between nodes that all edge builders compare.
#ifndef PACKTRAIN_SERVER_EDGES_SQUARED_DISTANCE_H_
#define PACKTRAIN_SERVER_EDGES_SQUARED_DISTANCE_H_

#include <cstdint>

namespace packtrain::edges {

// Coordinates of one node, in angstrom.
struct Point {
  double x, y, z;
};

// Whole counts of 1e-8 square angstrom. A double holds them exactly up to 2^53 (a distance of 9,490 angstrom)
// and as the nearest double beyond, up to infinity. The same on every compiler and machine: products and sums
// of doubles, each rounded, in a fixed order, halves rounded away from zero.
double CountOf(double square_angstrom);

// CountOf of the squared distance; symmetric. Coordinates must be finite.
double SquaredDistance(const Point& a, const Point& b);

}  // namespace packtrain::edges

#endif  // PACKTRAIN_SERVER_EDGES_SQUARED_DISTANCE_H_
