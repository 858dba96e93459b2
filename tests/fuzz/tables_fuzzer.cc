// Tables of targets and lists of splits take any text and end in rows or refusals. The first byte chooses.
#include <cstddef>
#include <cstdint>

#include "client/ingest/split_file.h"
#include "client/ingest/target_table.h"
#include "tests/fuzz/fact.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/memory_file.h"

namespace {

constexpr packtrain::ingest::ReadLimits kLimits = {.max_unpacked_bytes = 1 << 20, .max_line_bytes = 1 << 12};

void ReadTable(const packtrain::ingest::JoinOptions& options) {
  const auto table = packtrain::ingest::TargetTable::Read(options, kLimits);
  if (!table.ok()) return;
  packtrain::fuzz::Expect(!table->names().empty(), "a table that was read has targets");
  const auto row = table->Find("gdb_1");
  packtrain::fuzz::Expect(!row || row->values.size() == table->names().size(),
                          "a row has a value for each target");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  packtrain::fuzz::Input input(data, size);
  const std::uint8_t kind = input.Byte() % 4;
  const packtrain::fuzz::MemoryFile file(input.Rest());
  if (kind == 0) packtrain::ingest::ReadSplitFile(file.path(), kLimits).status().IgnoreError();
  if (kind == 1) ReadTable({.file = file.path(), .key = {}, .targets = {}});
  if (kind == 2) ReadTable({.file = file.path(), .key = "name", .targets = {}});
  if (kind == 3) ReadTable({.file = file.path(), .key = "name", .targets = {"gap", "u0"}});
  return 0;
}
