#include "client/ingest/text.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <system_error>

namespace packtrain::ingest {
namespace {

constexpr std::size_t kShownBytes = 40;
constexpr std::string_view kMathematicaExponent = "*^";

// from_chars says "out of range" at both ends of the range and gives no value.
template <typename Real>
Real Saturate(std::string_view word) {
  const double value = std::strtod(std::string(word).c_str(), nullptr);
  if (std::abs(value) <= std::numeric_limits<Real>::max()) return static_cast<Real>(value);
  return std::copysign(std::numeric_limits<Real>::infinity(), static_cast<Real>(value < 0 ? -1 : 1));
}

template <typename Real>
std::optional<Real> ParseReal(std::string_view word);

// A word that ParseReal understands no further than `at`, where a foreign exponent may begin.
template <typename Real>
std::optional<Real> ParseForeignExponent(std::string_view word, std::size_t at) {
  const std::string_view exponent = word.substr(at);
  const bool fortran = exponent.starts_with('D') || exponent.starts_with('d');
  if (at == 0 || !(fortran || exponent.starts_with(kMathematicaExponent))) return std::nullopt;
  const std::string_view power = exponent.substr(fortran ? 1 : kMathematicaExponent.size());
  return ParseReal<Real>(std::string(word.substr(0, at)) + 'e' + std::string(power));
}

template <typename Real>
std::optional<Real> ParseReal(std::string_view word) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
  Real value;
  const char* const end = word.data() + word.size();
  const std::from_chars_result result = std::from_chars(word.data(), end, value);
  if (result.ptr != end) {
    return ParseForeignExponent<Real>(word, static_cast<std::size_t>(result.ptr - word.data()));
  }
  if (result.ec == std::errc()) return value;
  if (result.ec == std::errc::result_out_of_range) return Saturate<Real>(word);
  return std::nullopt;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The digits at the front of `text`, of which leading zeros are not kept. Cuts them off.
std::string_view CutDigits(std::string_view* text) {
  std::size_t end = 0;
  while (end < text->size() && IsDigit((*text)[end])) ++end;
  std::string_view digits = text->substr(0, end);
  text->remove_prefix(end);
  while (digits.starts_with('0')) digits.remove_prefix(1);
  return digits;
}

constexpr std::size_t kShortBytes = 64;

}  // namespace

bool IsUtf8(std::string_view text) {
  // Of short texts, most are ASCII, and a loop over them is faster than the library's start.
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (text.size() <= kShortBytes && std::all_of(text.begin(), text.end(), is_ascii)) return true;
  return simdjson::validate_utf8(text.data(), text.size());
}

std::string AsUtf8(std::string text) {
  if (IsUtf8(text)) return text;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) > 127; }, '?');
  return text;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

std::string Shown(std::string_view text) {
  const bool whole = text.size() <= kShownBytes;
  return "'" + std::string(text.substr(0, kShownBytes)) + (whole ? "'" : "...'");
}

std::optional<double> ParseDouble(std::string_view word) { return ParseReal<double>(word); }

std::optional<float> ParseFloat(std::string_view word) { return ParseReal<float>(word); }

std::optional<std::uint64_t> ParseCount(std::string_view word) {
  std::uint64_t value;
  const char* const end = word.data() + word.size();
  const std::from_chars_result result = std::from_chars(word.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

bool NaturalLess(std::string_view a, std::string_view b) {
  std::string_view rest_a = a, rest_b = b;
  while (!rest_a.empty() && !rest_b.empty()) {
    if (IsDigit(rest_a.front()) && IsDigit(rest_b.front())) {
      const std::string_view digits_a = CutDigits(&rest_a), digits_b = CutDigits(&rest_b);
      if (digits_a.size() != digits_b.size()) return digits_a.size() < digits_b.size();
      if (digits_a != digits_b) return digits_a < digits_b;
    } else {
      if (rest_a.front() != rest_b.front()) return rest_a.front() < rest_b.front();
      rest_a.remove_prefix(1);
      rest_b.remove_prefix(1);
    }
  }
  // Names that differ in leading zeros only are told apart by their bytes.
  return rest_a.empty() && rest_b.empty() ? a < b : rest_a.empty() && !rest_b.empty();
}

}  // namespace packtrain::ingest
