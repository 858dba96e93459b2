// Words and numbers in a line of text.
#ifndef PACKTRAIN_CLIENT_INGEST_TEXT_H_
#define PACKTRAIN_CLIENT_INGEST_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace packtrain::ingest {

// Blank and tab; line ends are not part of a line.
inline bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// Text that a message of the protocol can carry.
bool IsUtf8(std::string_view text);

// `text`, with a "?" for each byte beyond ASCII where it is not UTF-8.
std::string AsUtf8(std::string text);

std::string_view Trim(std::string_view text);

// `text` in quotes for a message, shortened.
std::string Shown(std::string_view text);

inline std::string_view SkipBlanks(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  return text;
}

// Cuts the next word off the front of `rest`; empty at the end.
inline std::string_view NextWord(std::string_view* rest) {
  const char* begin = rest->data();
  const char* const end = begin + rest->size();
  while (begin < end && IsBlank(*begin)) ++begin;
  const char* stop = begin;
  while (stop < end && !IsBlank(*stop)) ++stop;
  *rest = std::string_view(stop, static_cast<std::size_t>(end - stop));
  return std::string_view(begin, static_cast<std::size_t>(stop - begin));
}

// A whole word as a number: decimal or scientific, with a leading "+", "nan" and "inf", and with "*^" or
// "D" for the exponent, as Mathematica and Fortran write it. Too large is infinite, too small is zero. nullopt:
// not a number.
std::optional<double> ParseDouble(std::string_view word);
std::optional<float> ParseFloat(std::string_view word);
// ParseFloat(NextWord(rest)), and faster.
std::optional<float> NextFloat(std::string_view* rest);

// A whole word of decimal digits. nullopt: anything else, or above 2^64 - 1.
std::optional<std::uint64_t> ParseCount(std::string_view word);

// Whether `a` comes before `b` in an order that takes digits side by side as numbers: y_2 before y_10.
bool NaturalLess(std::string_view a, std::string_view b);

}  // namespace packtrain::ingest

#endif  // PACKTRAIN_CLIENT_INGEST_TEXT_H_
