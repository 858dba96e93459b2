// What the command line says of a model.
#ifndef PACKTRAIN_TRAINER_MODELS_MODEL_FLAGS_H_
#define PACKTRAIN_TRAINER_MODELS_MODEL_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace packtrain::trainer {

// Of --adjacency: sums over neighbours as products of blocks, for batches that have blocks.
inline constexpr std::string_view kBanded = "banded";

// Of --filter: filters of distances computed for each edge, or read off a table.
inline constexpr std::string_view kDirect = "direct";
inline constexpr std::string_view kTable = "table";

// Absent: what the model, or the data set, says.
struct ModelFlags {
  std::optional<std::string> readout = {};
  std::optional<std::string> adjacency = {};
  std::optional<std::string> filter = {};
  std::optional<std::int64_t> hidden = {};
  std::optional<std::int64_t> layers = {};
  std::optional<std::int64_t> edge_types = {};  // InputSizes::edge_types
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_MODELS_MODEL_FLAGS_H_
