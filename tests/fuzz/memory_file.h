// A file in memory, read by its path.
#ifndef PACKTRAIN_TESTS_FUZZ_MEMORY_FILE_H_
#define PACKTRAIN_TESTS_FUZZ_MEMORY_FILE_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace packtrain::fuzz {

class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content) : descriptor_(memfd_create("input", MFD_CLOEXEC)) {
    const auto size = static_cast<ssize_t>(content.size());
    if (descriptor_ < 0 || write(descriptor_, content.data(), content.size()) != size) std::abort();
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  // Opened anew, it is read from the beginning.
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  const int descriptor_;
};

}  // namespace packtrain::fuzz

#endif  // PACKTRAIN_TESTS_FUZZ_MEMORY_FILE_H_
