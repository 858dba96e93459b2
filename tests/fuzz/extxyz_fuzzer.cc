// The import of extended xyz takes any bytes, plain or as gzip, and ends in graphs or refusals.
#include <cstddef>
#include <cstdint>

#include "client/ingest/extxyz_import.h"
#include "tests/fuzz/memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const packtrain::fuzz::MemoryFile file({reinterpret_cast<const char*>(data), size});
  packtrain::ingest::ExtxyzImportOptions options;
  options.files = {file.path()};
  options.limits.max_unpacked_bytes = 1 << 20;
  options.limits.max_line_bytes = 1 << 16;
  options.skip_refused = true;
  auto import = packtrain::ingest::ExtxyzImport::Create(options);
  if (!import.ok() || !(*import)->Begin().ok()) return 0;
  packtrain::v1::GraphBlock block;
  for (absl::StatusOr<bool> more = true; more.ok() && *more;) more = (*import)->Next(&block);
  return 0;
}
