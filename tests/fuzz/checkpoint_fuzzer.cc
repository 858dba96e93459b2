// A checkpoint is any file, and what one rank tells another of its unsent records any bytes. The first byte
// says which; with the greatest it is a checkpoint whose frame is made true, without which little gets past its
// checksum.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "proto/base/crc32c.h"
#include "tests/fuzz/fact.h"
#include "tests/fuzz/input.h"
#include "trainer/run/checkpoint.h"

namespace {

using packtrain::fuzz::Expect;
namespace trainer = packtrain::trainer;

template <typename T>
void Append(T number, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&number), sizeof(number));
}

std::string Framed(std::string_view content) {
  std::string file = "PTRAINCK";
  Append(std::uint32_t{1}, &file);
  Append(std::uint64_t{content.size()}, &file);
  file.append(content);
  Append(packtrain::base::Crc32c(std::as_bytes(std::span(file))), &file);
  return file;
}

void Decode(std::string_view file) {
  const absl::StatusOr<trainer::Checkpoint> checkpoint = trainer::DecodeCheckpoint(file);
  if (checkpoint.ok()) Expect(trainer::EncodeCheckpoint(*checkpoint) == file, "a checkpoint has one spelling");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  packtrain::fuzz::Input input(data, size);
  const std::uint8_t kind = input.Byte() % 3;
  const std::string_view bytes = input.Rest();
  if (kind == 0) trainer::DecodeUnsent(bytes).status().IgnoreError();
  if (kind == 1) Decode(bytes);
  if (kind == 2) Decode(Framed(bytes));
  return 0;
}
