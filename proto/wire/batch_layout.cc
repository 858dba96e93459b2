#include "proto/wire/batch_layout.h"

#include <limits>

namespace packtrain::wire {

std::size_t SizeOf(DType dtype) {
  switch (dtype) {
    case DType::kU8:
      return 1;
    case DType::kU16:
      return 2;
    case DType::kI32:
    case DType::kF32:
    case DType::kU32:
      return 4;
    case DType::kI64:
    case DType::kF64:
    case DType::kU64:
      return 8;
  }
  return 0;
}

DType EndpointType(std::uint32_t max_n_node) {
  // The largest local index is max_n_node - 1.
  if (max_n_node <= std::numeric_limits<std::uint8_t>::max() + 1u) return DType::kU8;
  if (max_n_node <= std::numeric_limits<std::uint16_t>::max() + 1u) return DType::kU16;
  return DType::kU32;
}

}  // namespace packtrain::wire
