#include "trainer/ranks/gather_on_first.h"

#include <torch/types.h>

#include <algorithm>

#include "proto/base/status_macros.h"

namespace packtrain::trainer {

// Each part is a sum to which one rank alone adds anything.
absl::StatusOr<std::vector<std::string>> GatherOnFirst(const std::string& bytes, GradientSync& sync,
                                                       std::int64_t part_bytes) {
  const World& world = sync.world();
  const at::Tensor sizes = at::zeros({world.size}, at::kLong);
  sizes[world.rank].fill_(static_cast<std::int64_t>(bytes.size()));
  ABSL_RETURN_IF_ERROR(sync.Sum(sizes));
  const bool is_first = world.rank == 0;
  std::vector<std::string> gathered(is_first ? world.size : 0);
  if (is_first) gathered.front() = bytes;
  for (std::uint32_t rank = 1; rank < world.size; ++rank) {
    const std::int64_t size = sizes[rank].item<std::int64_t>();
    for (std::int64_t offset = 0; offset < size; offset += part_bytes) {
      const at::Tensor part = at::zeros({std::min(part_bytes, size - offset)}, at::kByte);
      auto* data = part.mutable_data_ptr<std::uint8_t>();
      if (world.rank == rank) std::copy_n(bytes.begin() + offset, part.numel(), data);
      ABSL_RETURN_IF_ERROR(sync.Sum(part));
      if (is_first) gathered[rank].append(reinterpret_cast<const char*>(data), part.numel());
    }
  }
  return gathered;
}

}  // namespace packtrain::trainer
