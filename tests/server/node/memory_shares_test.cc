#include "server/node/memory_shares.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "server/node/machine_memory.h"
#include "tests/testing/temp_file.h"

namespace packtrain::node {
namespace {

using limits::MemoryBudget;
using limits::MemoryPart;

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

void Write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

TEST(MachineMemoryTest, TheLeastLimitOfTheGroupsAroundTheProcessCounts) {
  const testing::TempFolder folder;
  const std::filesystem::path root = folder.PathOf("groups");
  Write(root / "a" / "b" / "memory.max", "max\n");
  Write(root / "a" / "memory.max", "1000\n");
  Write(root / "memory" / "c" / "memory.limit_in_bytes", "700\n");
  EXPECT_EQ(GroupMemoryBytes("0::/a/b\n", root), 1000);
  EXPECT_EQ(GroupMemoryBytes("0::/a\n", root), 1000);
  EXPECT_EQ(GroupMemoryBytes("0::/elsewhere\n", root), kUnlimited);
  EXPECT_EQ(GroupMemoryBytes("5:cpu,memory:/c\n4:pids:/a\n", root), 700);
  EXPECT_EQ(GroupMemoryBytes("", root), kUnlimited);
}

TEST(MachineMemoryTest, ThereIsSome) { EXPECT_GT(MachineMemoryBytes(), 64 << 20); }

TEST(MemorySharesTest, EveryPartHasWhatItIsPromisedAtAnySize) {
  for (const std::uint64_t bytes : {kMinMemoryBytes, std::uint64_t{512} << 20, std::uint64_t{64} << 30}) {
    const auto budget = MemoryBudget::Create(bytes, MemorySharesOf({}, bytes));
    const auto fixed = TakeFixedParts(*budget);
    EXPECT_EQ(fixed.size(), 4);
    EXPECT_LE(budget->used_bytes(), bytes / 8 * 5) << bytes;
    std::vector<MemoryBudget::Reservation> taken;
    for (const MemoryPart part :
         {MemoryPart::kImports, MemoryPart::kPlans, MemoryPart::kListings, MemoryPart::kSizes}) {
      for (auto more = budget->TryReserve(part, bytes / 512); more;
           more = budget->TryReserve(part, bytes / 512)) {
        taken.push_back(*std::move(more));
      }
    }
    EXPECT_TRUE(budget->TryReserve(MemoryPart::kStreams, bytes / 8).has_value());
    EXPECT_TRUE(budget->TryReserve(MemoryPart::kReports, bytes / 16).has_value());
    EXPECT_TRUE(budget->TryReserve(MemoryPart::kPlannedBatches, bytes / 64).has_value());
    EXPECT_TRUE(budget->TryReserve(MemoryPart::kResidentDatasets, bytes / 64).has_value());
    EXPECT_LE(budget->peak_bytes(), bytes);
  }
}

}  // namespace
}  // namespace packtrain::node
