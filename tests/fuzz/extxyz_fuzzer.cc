// The import of extended xyz takes any bytes, plain or as gzip, and ends in graphs or refusals.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "client/ingest/extxyz_import.h"

namespace {

// A file in memory, read by its path under /proc.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : descriptor_(memfd_create("input.xyz", MFD_CLOEXEC)) {
    if (descriptor_ < 0 || write(descriptor_, data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  const int descriptor_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(data, size);
  packtrain::ingest::ExtxyzImportOptions options;
  options.files = {file.path()};
  options.limits.max_unpacked_bytes = 1 << 20;
  options.skip_refused = true;
  auto import = packtrain::ingest::ExtxyzImport::Create(options);
  if (!import.ok() || !(*import)->Begin().ok()) return 0;
  packtrain::v1::GraphBlock block;
  for (absl::StatusOr<bool> more = true; more.ok() && *more;) more = (*import)->Next(&block);
  return 0;
}
