#include "server/records/utf8.h"

#include <algorithm>
#include <cstddef>

namespace packtrain::records {
namespace {

// By the first byte of a character: its bytes, and the range of the second one. The others are 80..BF.
struct Form {
  std::size_t bytes = 0;  // 0: no character begins so
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
};

Form FormOf(unsigned char first) {
  if (first >= 0xC2 && first <= 0xDF) return {.bytes = 2};
  if (first == 0xE0) return {.bytes = 3, .low = 0xA0};
  if (first == 0xED) return {.bytes = 3, .high = 0x9F};
  if (first >= 0xE1 && first <= 0xEF) return {.bytes = 3};
  if (first == 0xF0) return {.bytes = 4, .low = 0x90};
  if (first == 0xF4) return {.bytes = 4, .high = 0x8F};
  if (first >= 0xF1 && first <= 0xF3) return {.bytes = 4};
  return {};
}

bool IsIn(char c, unsigned char low, unsigned char high) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= low && byte <= high;
}

// The bytes of the character, of two or more, that `text` begins with; 0 where it begins with none.
std::size_t CharacterBytes(std::string_view text) {
  const Form form = FormOf(static_cast<unsigned char>(text.front()));
  if (form.bytes == 0 || text.size() < form.bytes || !IsIn(text[1], form.low, form.high)) return 0;
  const std::string_view rest = text.substr(2, form.bytes - 2);
  return std::ranges::all_of(rest, [](char c) { return IsIn(c, 0x80, 0xBF); }) ? form.bytes : 0;
}

}  // namespace

bool IsUtf8(std::string_view text) {
  while (true) {
    const auto wide =
        std::ranges::find_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0x80) != 0; });
    text.remove_prefix(static_cast<std::size_t>(wide - text.begin()));
    if (text.empty()) return true;
    const std::size_t bytes = CharacterBytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
}

}  // namespace packtrain::records
