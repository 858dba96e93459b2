// Names of edge builders, as they are given on import and stored with a schema.
#ifndef PACKTRAIN_SERVER_EDGES_EDGE_SPEC_H_
#define PACKTRAIN_SERVER_EDGES_EDGE_SPEC_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace packtrain::edges {

enum class EdgeBuilder : std::uint8_t { kFull };

// "full". INVALID_ARGUMENT for any other text; the message lists what is known.
absl::StatusOr<EdgeBuilder> ParseEdgeSpec(std::string_view text);

}  // namespace packtrain::edges

#endif  // PACKTRAIN_SERVER_EDGES_EDGE_SPEC_H_
