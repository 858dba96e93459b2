// The processes of one run, as the launcher's environment names them.
#ifndef PACKTRAIN_TRAINER_RANKS_WORLD_H_
#define PACKTRAIN_TRAINER_RANKS_WORLD_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"

namespace packtrain::trainer {

struct World {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::uint32_t local_rank = 0;  // among the processes of this host
  std::uint32_t local_size = 1;
  std::string master_address = "127.0.0.1";  // of rank 0
  std::uint16_t master_port = 29500;
};

// Value of an environment variable, or null.
using Environment = std::function<const char*(const char* name)>;

// Reads RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun sets them.
// Without RANK and WORLD_SIZE the world is this process. LOCAL_RANK defaults to RANK, LOCAL_WORLD_SIZE to
// WORLD_SIZE. INVALID_ARGUMENT: not a number, out of range, one of the first two without the other, or no
// MASTER_ADDR where ranks are on other hosts.
absl::StatusOr<World> WorldFromEnvironment(const Environment& environment);

// The card of the process with this LOCAL_RANK, where `visible` ones are: that of its number; the only one,
// where there is one, as a launcher shows each process its own alone. FAILED_PRECONDITION: there is none for
// it.
absl::StatusOr<std::uint32_t> CardOf(std::uint32_t local_rank, std::uint32_t visible);

// Threads for one process, so that the processes of a host share its cores; at least 1.
int ThreadsPerProcess(const World& world, unsigned cores);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RANKS_WORLD_H_
