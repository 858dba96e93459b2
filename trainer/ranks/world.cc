#include "trainer/ranks/world.h"

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace packtrain::trainer {
namespace {

// Reads `name` into `value` where it is set.
absl::Status ReadNumber(const Environment& environment, const char* name, std::uint32_t min, std::uint32_t max,
                        std::uint32_t& value) {
  const char* text = environment(name);
  if (text == nullptr) return absl::OkStatus();
  if (!absl::SimpleAtoi(text, &value) || value < min || value > max) {
    return absl::InvalidArgumentError(
        absl::StrCat("environment variable ", name, "='", text, "' is not a number from ", min, " to ", max));
  }
  return absl::OkStatus();
}

absl::Status ReadRanks(const Environment& environment, World& world) {
  constexpr std::uint32_t kMaxRanks = 1 << 20;
  ABSL_RETURN_IF_ERROR(ReadNumber(environment, "WORLD_SIZE", 1, kMaxRanks, world.size));
  ABSL_RETURN_IF_ERROR(ReadNumber(environment, "RANK", 0, world.size - 1, world.rank));
  world.local_rank = world.rank;
  world.local_size = world.size;
  ABSL_RETURN_IF_ERROR(ReadNumber(environment, "LOCAL_WORLD_SIZE", 1, kMaxRanks, world.local_size));
  return ReadNumber(environment, "LOCAL_RANK", 0, kMaxRanks, world.local_rank);
}

}  // namespace

absl::StatusOr<World> WorldFromEnvironment(const Environment& environment) {
  if ((environment("RANK") == nullptr) != (environment("WORLD_SIZE") == nullptr)) {
    return absl::InvalidArgumentError("of the environment variables RANK and WORLD_SIZE only one is set");
  }
  World world;
  if (environment("RANK") == nullptr) return world;
  ABSL_RETURN_IF_ERROR(ReadRanks(environment, world));
  std::uint32_t port = world.master_port;
  const std::uint32_t max = std::numeric_limits<std::uint16_t>::max();
  ABSL_RETURN_IF_ERROR(ReadNumber(environment, "MASTER_PORT", 1, max, port));
  world.master_port = static_cast<std::uint16_t>(port);
  if (const char* address = environment("MASTER_ADDR")) {
    world.master_address = address;
  } else if (world.size > world.local_size) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the environment variable MASTER_ADDR, the host of rank 0, is not set, and of WORLD_SIZE=", world.size,
        " ranks only ", world.local_size, " are on this host (LOCAL_WORLD_SIZE)"));
  }
  return world;
}

absl::StatusOr<std::uint32_t> CardOf(std::uint32_t local_rank, std::uint32_t visible) {
  if (visible == 1) return 0;
  if (local_rank < visible) return local_rank;
  return absl::FailedPreconditionError(absl::StrCat(
      "--device cuda: LOCAL_RANK is ", local_rank, " and ", visible,
      " GPUs are visible (CUDA_VISIBLE_DEVICES): a process takes that of its LOCAL_RANK, or the only one"));
}

int ThreadsPerProcess(const World& world, unsigned cores) {
  return std::max(1, static_cast<int>(cores / world.local_size));
}

}  // namespace packtrain::trainer
