#include "server/edges/edge_spec.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace packtrain::edges {

absl::StatusOr<EdgeBuilder> ParseEdgeSpec(std::string_view text) {
  if (text == "full") return EdgeBuilder::kFull;
  return absl::InvalidArgumentError(absl::StrCat("unknown edges '", std::string(text), "'; known: full"));
}

}  // namespace packtrain::edges
