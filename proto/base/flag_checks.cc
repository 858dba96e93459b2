#include "proto/base/flag_checks.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstddef>
#include <limits>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

namespace packtrain::base {
namespace {

constexpr std::uint64_t kLargestCount = std::numeric_limits<std::int64_t>::max();

template <typename T>
bool IsWithin(const std::string& text, T min, T max) {
  T value{};
  const char* const end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end && value >= min && value <= max;
}

template <typename T>
CLI::Validator Within(const std::string& what, T min, T max) {
  std::ostringstream range;
  range << " is no " << what << " from " << min << " to " << max;
  return CLI::Validator(
      [min, max, wrong = range.str()](const std::string& text) {
        return IsWithin(text, min, max) ? std::string() : "'" + text + "'" + wrong;
      },
      "");
}

// The power of two that a suffix stands for; 0: it is none.
int ShiftOf(char suffix) {
  switch (suffix) {
    case 'K':
      return 10;
    case 'M':
      return 20;
    case 'G':
      return 30;
    default:
      return 0;
  }
}

// `text`, digits and maybe a suffix, in plain digits; empty: it is no number of bytes from `min` to `max`.
std::string PlainBytes(std::string text, std::uint64_t min, std::uint64_t max) {
  const int shift = text.empty() ? 0 : ShiftOf(text.back());
  if (shift > 0) text.pop_back();
  if (!IsWithin<std::uint64_t>(text, 0, max >> shift)) return "";
  const std::uint64_t bytes = std::stoull(text) << shift;
  return bytes < min ? "" : std::to_string(bytes);
}

}  // namespace

CLI::Validator NumberBetween(double min, double max) { return Within("number", min, max); }

CLI::Validator CountBetween(std::uint64_t min, std::uint64_t max) { return Within("whole number", min, max); }

CLI::Validator BytesBetween(std::uint64_t min, std::uint64_t max) {
  return CLI::Validator(
      [min, max](std::string& text) {
        const std::string plain = PlainBytes(text, min, max);
        if (plain.empty()) {
          return "'" + text + "' is no number of bytes from " + std::to_string(min) + " to " +
                 std::to_string(max) + "; it may end in K, M or G";
        }
        text = plain;
        return std::string();
      },
      "");
}

CLI::Validator CountFrom(std::uint64_t min) { return CountBetween(min, kLargestCount); }

void RefuseFlagsWithoutValue(int argc, const char* const* argv) {
  for (const std::string_view word : std::span(argv, static_cast<std::size_t>(argc))) {
    if (word.starts_with("--") && word.find('=') == word.size() - 1) {
      throw CLI::ValidationError(std::string(word), "nothing stands behind the '='");
    }
  }
}

}  // namespace packtrain::base
