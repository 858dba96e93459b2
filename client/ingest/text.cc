#include "client/ingest/text.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <system_error>
#include <type_traits>

namespace packtrain::ingest {
namespace {

constexpr std::size_t kShownBytes = 40;
constexpr std::string_view kMathematicaExponent = "*^";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Any whole number of so many digits is a double, and so is 10 to any power up to it.
constexpr std::size_t kExactDigits = 15;
constexpr std::array<double, kExactDigits + 1> kPowersOfTen = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                               1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

// Appends the digits at the front of [at, end) to `number`, modulo 2^64; returns what follows them.
const char* TakeDigits(const char* at, const char* end, std::uint64_t* number) {
  for (; at < end; ++at) {
    const unsigned digit = static_cast<unsigned char>(*at) - unsigned{'0'};
    if (digit > 9) break;
    *number = 10 * *number + digit;
  }
  return at;
}

// Reads the number that `text` begins with, of the form that most files have: "-0.012698", up to a blank or the
// end. It is the nearest double, as one division of exact numbers is rounded once (W. D. Clinger, How to Read
// Floating Point Numbers Accurately, 1990). Returns what follows it; null: another form, or too many digits.
const char* ReadShortDecimal(std::string_view text, double* value) {
  const char* const end = text.data() + text.size();
  const bool is_negative = text.starts_with('-');
  const char* const whole = text.data() + (is_negative ? 1 : 0);
  std::uint64_t number = 0;
  const char* at = TakeDigits(whole, end, &number);
  std::size_t digits = static_cast<std::size_t>(at - whole), decimals = 0;
  if (at < end && *at == '.') {
    const char* const fraction = at + 1;
    at = TakeDigits(fraction, end, &number);
    decimals = static_cast<std::size_t>(at - fraction);
    digits += decimals;
  }
  if (digits == 0 || digits > kExactDigits || (at < end && !IsBlank(*at))) return nullptr;
  const double positive = static_cast<double>(static_cast<std::int64_t>(number)) / kPowersOfTen[decimals];
  *value = is_negative ? -positive : positive;
  return at;
}

// Whether a double lies in the middle between two floats. For a double that is 0 or no smaller than the least
// normal float, as every short decimal is.
bool IsBetweenFloats(double value) {
  constexpr int kBitsLost = std::numeric_limits<double>::digits - std::numeric_limits<float>::digits;
  constexpr std::uint64_t kMiddle = std::uint64_t{1} << (kBitsLost - 1);
  return (std::bit_cast<std::uint64_t>(value) & (2 * kMiddle - 1)) == kMiddle;
}

// Whether the nearest double to a number, as Real, is the nearest Real to the number. Where it is in the middle
// between two floats, the number itself may be on either side of it.
template <typename Real>
bool IsNearest(double value) {
  return !std::is_same_v<Real, float> || !IsBetweenFloats(value);
}

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
  const char* const end = word.data() + word.size();
  double decimal;
  if (const char* const read = ReadShortDecimal(word, &decimal);
      read != nullptr && read == end && IsNearest<Real>(decimal)) {
    return static_cast<Real>(decimal);
  }
  if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
  Real value;
  const std::from_chars_result result = std::from_chars(word.data(), end, value);
  if (result.ptr != end) {
    return ParseForeignExponent<Real>(word, static_cast<std::size_t>(result.ptr - word.data()));
  }
  if (result.ec == std::errc()) return value;
  if (result.ec == std::errc::result_out_of_range) return Saturate<Real>(word);
  return std::nullopt;
}

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

std::optional<float> NextFloat(std::string_view* rest) {
  *rest = SkipBlanks(*rest);
  double value;
  const char* const end = ReadShortDecimal(*rest, &value);
  if (end == nullptr || !IsNearest<float>(value)) return ParseFloat(NextWord(rest));
  rest->remove_prefix(static_cast<std::size_t>(end - rest->data()));
  return static_cast<float>(value);
}

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
