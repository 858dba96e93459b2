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
bool IsWithin(const std::string& text, T least, T most) {
  T value{};
  const char* const end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end && value >= least && value <= most;
}

template <typename T>
CLI::Validator Within(const std::string& what, T least, T most) {
  std::ostringstream range;
  range << " is no " << what << " from " << least << " to " << most;
  return CLI::Validator(
      [least, most, wrong = range.str()](const std::string& text) {
        return IsWithin(text, least, most) ? std::string() : "'" + text + "'" + wrong;
      },
      "");
}

}  // namespace

CLI::Validator NumberBetween(double least, double most) { return Within("number", least, most); }

CLI::Validator CountBetween(std::uint64_t least, std::uint64_t most) {
  return Within("whole number", least, most);
}

CLI::Validator CountFrom(std::uint64_t least) { return CountBetween(least, kLargestCount); }

void RefuseFlagsWithoutValue(int argc, const char* const* argv) {
  for (const std::string_view word : std::span(argv, static_cast<std::size_t>(argc))) {
    if (word.starts_with("--") && word.find('=') == word.size() - 1) {
      throw CLI::ValidationError(std::string(word), "nothing stands behind the '='");
    }
  }
}

}  // namespace packtrain::base
