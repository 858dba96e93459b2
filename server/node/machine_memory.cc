#include "server/node/machine_memory.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"

namespace packtrain::node {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
constexpr int kMaxArenas = 8;
constexpr int kMmapBytes = 4 << 20;
constexpr int kTrimBytes = 16 << 20;

// The number in a file; unlimited where there is none, such as "max".
std::uint64_t NumberIn(const std::filesystem::path& file) {
  std::ifstream text(file);
  std::uint64_t number = 0;
  return text >> number ? number : kUnlimited;
}

// Of a group and those around it.
std::uint64_t LeastUpTo(const std::filesystem::path& root, std::filesystem::path group, const char* file) {
  std::uint64_t least = NumberIn(root / file);
  for (; !group.empty() && group != group.parent_path(); group = group.parent_path()) {
    least = std::min(least, NumberIn(root / group.relative_path() / file));
  }
  return least;
}

}  // namespace

std::uint64_t GroupMemoryBytes(std::string_view memberships, const std::filesystem::path& root) {
  std::uint64_t least = kUnlimited;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(std::string(memberships), '\n'))) {
    const std::vector<std::string> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    const std::vector<std::string> controllers = absl::StrSplit(fields[1], ',');
    if (fields[1].empty()) least = std::min(least, LeastUpTo(root, fields[2], "memory.max"));
    if (std::find(controllers.begin(), controllers.end(), "memory") != controllers.end()) {
      least = std::min(least, LeastUpTo(root / "memory", fields[2], "memory.limit_in_bytes"));
    }
  }
  return least;
}

std::uint64_t MachineMemoryBytes() {
  const auto pages = static_cast<std::uint64_t>(std::max(sysconf(_SC_PHYS_PAGES), 0L));
  const auto page_bytes = static_cast<std::uint64_t>(std::max(sysconf(_SC_PAGESIZE), 0L));
  std::stringstream memberships;
  memberships << std::ifstream("/proc/self/cgroup").rdbuf();
  return std::min(pages * page_bytes, GroupMemoryBytes(memberships.str(), "/sys/fs/cgroup"));
}

void LimitAllocator() {
  mallopt(M_ARENA_MAX, kMaxArenas);
  mallopt(M_MMAP_THRESHOLD, kMmapBytes);
  mallopt(M_TRIM_THRESHOLD, kTrimBytes);
}

}  // namespace packtrain::node
