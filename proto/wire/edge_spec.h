// How edges are named on the command line, in requests and in schemas: "full", "radius:R[:MAX]", "knn:K".
#ifndef PACKTRAIN_PROTO_WIRE_EDGE_SPEC_H_
#define PACKTRAIN_PROTO_WIRE_EDGE_SPEC_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace packtrain::wire {

// In angstrom: larger than any structure, while its square can still be counted in units of 1e-8.
inline constexpr double kMaxRadius = 1e9;
inline constexpr std::uint32_t kMaxNeighbours = 0x7fffffff;

enum class EdgeBuilder : std::uint8_t { kFull, kRadius, kKnn };

struct EdgeSpec {
  EdgeBuilder builder = EdgeBuilder::kFull;
  double radius = 0;  // angstrom, above 0; of kRadius
  // Most edges into a node, the nearest: K of kKnn, MAX of kRadius; 0 is no limit, for kRadius only.
  std::uint32_t neighbours = 0;

  bool operator==(const EdgeSpec&) const = default;
};

// INVALID_ARGUMENT: the text names no builder, or a number is missing, in excess or out of range; the message
// names --edges, the text and what is allowed.
absl::StatusOr<EdgeSpec> ParseEdgeSpec(std::string_view text);

// The one spelling of a spec: "radius:5.0" is "radius:5". Parses back to the same spec.
std::string ToText(const EdgeSpec& spec);

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_EDGE_SPEC_H_
