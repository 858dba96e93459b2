// A file, plain or gzip, gives the same lines and digest however it is read.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "client/ingest/byte_source.h"
#include "client/ingest/line_reader.h"
#include "tests/fuzz/fact.h"
#include "tests/fuzz/memory_file.h"

namespace {

using packtrain::fuzz::Expect;
using packtrain::ingest::ByteSource;

constexpr std::uint64_t kMaxUnpackedBytes = 1 << 17;

struct Unpacked {
  std::string bytes;
  absl::Status end;
};

Unpacked ReadBy(const std::string& path, std::size_t step) {
  Unpacked unpacked;
  auto source = ByteSource::Open(path, kMaxUnpackedBytes);
  Expect(source.ok(), "a file that is there opens");
  std::vector<char> buffer(step);
  while (true) {
    const absl::StatusOr<std::size_t> count = (*source)->Read(buffer);
    unpacked.end = count.status();
    if (!count.ok() || *count == 0) return unpacked;
    unpacked.bytes.append(buffer.data(), *count);
    Expect(unpacked.bytes.size() <= kMaxUnpackedBytes, "no more is unpacked than the limit says");
  }
}

void ReadLines(const std::string& path) {
  auto lines = packtrain::ingest::LineReader::Open(path, {kMaxUnpackedBytes, 1 << 12});
  std::string_view line;
  for (absl::StatusOr<bool> more = true; more.ok() && *more;) more = (*lines)->Next(&line);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const packtrain::fuzz::MemoryFile file({reinterpret_cast<const char*>(data), size});
  const Unpacked whole = ReadBy(file.path(), 1 << 16);
  const Unpacked pieces = ReadBy(file.path(), 1000);
  Expect(whole.end.ok() == pieces.end.ok(), "the size of the reads does not decide whether a file is sound");
  if (whole.end.ok()) Expect(whole.bytes == pieces.bytes, "the size of the reads does not change the bytes");
  ReadLines(file.path());
  return 0;
}
