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

std::string Framed(std::uint32_t format, std::string_view content) {
  std::string file = "PTRAINCK";
  Append(format, &file);
  Append(std::uint64_t{content.size()}, &file);
  file.append(content);
  Append(packtrain::base::Crc32c(std::as_bytes(std::span(file))), &file);
  return file;
}

void Decode(std::string_view file) {
  const absl::StatusOr<trainer::Checkpoint> checkpoint = trainer::DecodeCheckpoint(file);
  if (!checkpoint.ok()) return;
  const std::string written = trainer::EncodeCheckpoint(*checkpoint);
  constexpr std::size_t kFormatAt = 8;
  const bool is_current = file[kFormatAt] == written[kFormatAt];
  Expect(!is_current || written == file, "a checkpoint has one spelling");
  Expect(trainer::EncodeCheckpoint(trainer::DecodeCheckpoint(written).value()) == written,
         "an older checkpoint stays what it is once it is written anew");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  packtrain::fuzz::Input input(data, size);
  const std::uint8_t kind = input.Byte() % 6;
  const std::string_view bytes = input.Rest();
  if (kind == 0) trainer::DecodeUnsent(bytes).status().IgnoreError();
  if (kind == 1) Decode(bytes);
  if (kind == 2) Decode(Framed(1, bytes));
  if (kind == 3) Decode(Framed(2, bytes));
  if (kind == 4) Decode(Framed(3, bytes));
  if (kind == 5) Decode(Framed(4, bytes));
  return 0;
}
