// Which fields of a batch become which tensors, and what a batch must be before it is expanded: the part of a
// feed that is the same on every device.
#ifndef PACKTRAIN_TRAINER_DATA_INPUT_FIELDS_H_
#define PACKTRAIN_TRAINER_DATA_INPUT_FIELDS_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "proto/wire/batch.h"
#include "trainer/data/device_feed.h"
#include "trainer/data/graph_inputs.h"
#include "trainer/data/graph_tensors.h"

namespace packtrain::trainer {

// How an element of a field becomes one of the tensor. Each of those has 32 bits.
enum class Conversion : std::uint8_t {
  kClass,    // u8, an atomic number, by the class table
  kInteger,  // u8, u16 or i32 to i32
  kFloat,    // f32 as it is
};

// A field that is copied row by row. The graph field `y`, of which a feed takes and normalises columns, is
// none.
struct InputField {
  std::string_view name;
  Input input;
  Conversion conversion;
  at::Tensor GraphTensors::*tensor;
};

// How many fields all inputs have.
inline constexpr std::size_t kInputFields = 11;

inline constexpr std::string_view kTargetField = "y";  // f64 [graphs, columns]
inline constexpr std::string_view kAtomicNumberField = "z";
inline constexpr std::string_view kTokenField = "token";
inline constexpr std::string_view kEdgeTypeField = "edge_type";

// Those of `inputs`.
std::vector<InputField> FieldsOf(InputSet inputs);

// DATA_LOSS, INVALID_ARGUMENT: see DeviceFeed::Expand.
absl::Status CheckExpandable(const wire::Batch& batch, const FeedOptions& options, const GraphTensors& out);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_INPUT_FIELDS_H_
