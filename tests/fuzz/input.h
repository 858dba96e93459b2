// Cuts the bytes of a fuzzer's input into numbers and messages.
#ifndef PACKTRAIN_TESTS_FUZZ_INPUT_H_
#define PACKTRAIN_TESTS_FUZZ_INPUT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace packtrain::fuzz {

// Any bytes are an input: where they end early, numbers are 0 and messages short.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  bool empty() const { return rest_.empty(); }

  std::uint8_t Byte() {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }

  // A length, u16 little-endian, and as many bytes.
  std::string_view Message() {
    const std::size_t low = Byte();
    const std::size_t high = Byte();
    const std::size_t size = std::min(rest_.size(), low | high << 8);
    const std::string_view message = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return message;
  }

  std::string_view Rest() { return std::exchange(rest_, {}); }

 private:
  std::string_view rest_;
};

}  // namespace packtrain::fuzz

#endif  // PACKTRAIN_TESTS_FUZZ_INPUT_H_
