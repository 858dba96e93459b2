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

}  // namespace

CLI::Validator NumberBetween(double min, double max) { return Within("number", min, max); }

CLI::Validator CountBetween(std::uint64_t min, std::uint64_t max) { return Within("whole number", min, max); }

CLI::Validator CountFrom(std::uint64_t min) { return CountBetween(min, kLargestCount); }

void RefuseFlagsWithoutValue(int argc, const char* const* argv) {
  for (const std::string_view word : std::span(argv, static_cast<std::size_t>(argc))) {
    if (word.starts_with("--") && word.find('=') == word.size() - 1) {
      throw CLI::ValidationError(std::string(word), "nothing stands behind the '='");
    }
  }
}

}  // namespace packtrain::base
