#include "client/flag_checks.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace packtrain::client {
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

CLI::Validator WordOrCounted(const std::vector<std::string>& words, const CountedWord& counted) {
  const std::string known = absl::StrJoin(words, ", ");
  return CLI::Validator(
      [words, counted, known](const std::string& text) {
        if (std::find(words.begin(), words.end(), text) != words.end() || CountIn(text, counted))
          return std::string();
        return absl::StrCat("'", text, "' is none of ", known, " and ", Describe(counted));
      },
      absl::StrCat("{", absl::StrJoin(words, ","), ",", counted.word, ":K}"));
}

}  // namespace packtrain::client
