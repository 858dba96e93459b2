#include "proto/wire/words.h"

#include <charconv>
#include <system_error>

namespace packtrain::wire {

std::optional<std::uint32_t> ParseNumbered(std::string_view text, std::string_view word, NumberRange range) {
  if (!text.starts_with(word)) return std::nullopt;
  text.remove_prefix(word.size());
  if (!text.starts_with(':')) return std::nullopt;
  text.remove_prefix(1);
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  if (number < range.min || number > range.max) return std::nullopt;
  return number;
}

std::string WithNumber(std::string word, std::optional<std::uint32_t> number) {
  return number ? std::move(word) + ":" + std::to_string(*number) : word;
}

std::string DescribeNumbered(std::string_view word, NumberRange range) {
  return std::string(word) + ":K with K from " + std::to_string(range.min) + " to " + std::to_string(range.max);
}

}  // namespace packtrain::wire
