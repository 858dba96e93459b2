#include "server/edges/squared_distance.h"

#include <cmath>

namespace packtrain::edges {

double CountOf(double square_angstrom) { return std::round(square_angstrom * 1e8); }

double SquaredDistance(const Point& a, const Point& b) {
  const double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
  return CountOf((x * x + y * y) + z * z);
}

}  // namespace packtrain::edges
