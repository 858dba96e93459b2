// How much memory the machine has for this process.
#ifndef PACKTRAIN_SERVER_NODE_MACHINE_MEMORY_H_
#define PACKTRAIN_SERVER_NODE_MACHINE_MEMORY_H_

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace packtrain::node {

// The machine's memory, or the limit of the process's control group, or of one around it, whichever is least.
std::uint64_t MachineMemoryBytes();

// The least limit of the groups that `memberships`, the text of /proc/self/cgroup, names below `root`, of
// control groups of either version; the largest number where none has one.
std::uint64_t GroupMemoryBytes(std::string_view memberships, const std::filesystem::path& root);

// What goes back to the system when it is freed: the allocator's defaults keep up to 32 MiB of each thread's.
void LimitAllocator();

}  // namespace packtrain::node

#endif  // PACKTRAIN_SERVER_NODE_MACHINE_MEMORY_H_
