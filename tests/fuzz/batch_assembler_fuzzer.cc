// The decoder of batches takes any messages, in fragments of any size, and ends in a batch or an error.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "proto/wire/batch_assembler.h"

namespace {

constexpr std::uint64_t kMaxBodyBytes = 1 << 20;
constexpr std::size_t kMaxMessageBytes = 1 << 16;

std::vector<packtrain::wire::Fragment> Cut(const std::string& message, std::size_t fragment_bytes) {
  std::vector<packtrain::wire::Fragment> fragments;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(message));
  for (std::size_t at = 0; at < bytes.size(); at += fragment_bytes) {
    fragments.push_back(bytes.subspan(at, std::min(fragment_bytes, bytes.size() - at)));
  }
  return fragments;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  const auto fragment_bytes = input.ConsumeIntegralInRange<std::size_t>(1, 64);
  packtrain::wire::BatchAssembler assembler(kMaxBodyBytes);
  while (input.remaining_bytes() > 0) {
    const std::string message = input.ConsumeRandomLengthString(kMaxMessageBytes);
    (void)assembler.Add(Cut(message, fragment_bytes));
  }
  return 0;
}
