// Words for the values of an enum, in flags, JSON, filters and run records. A word may carry a number.
//
//   inline constexpr Word<Order> kOrderWords[] = {{"full", Order::kFull},
//                                                 {"window", Order::kWindow, {1, 4096}}};
//
//   ParseWord("window:8", kOrderWords)->number;          // 8
//   WordOf(Order::kWindow, kOrderWords);                 // "window"
//   WithNumber(WordOf(Order::kWindow, kOrderWords), 8);  // "window:8"
#ifndef PACKTRAIN_PROTO_WIRE_WORDS_H_
#define PACKTRAIN_PROTO_WIRE_WORDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace packtrain::wire {

// The numbers that a word carries, from `min` to `max`; it carries none where `max` is 0.
struct NumberRange {
  std::uint32_t min = 0;
  std::uint32_t max = 0;
};

// A table of words has one row for each value of its enum. Rows with numbers come last.
template <typename Enum>
struct Word {
  const char* text;
  Enum value;
  NumberRange number = {};
};

template <typename Enum>
struct ParsedWord {
  Enum value;
  std::optional<std::uint32_t> number;  // of a word that carries one
};

// The number in `text`, which is `word`, a colon and decimal digits; nullopt where `text` is anything else.
std::optional<std::uint32_t> ParseNumbered(std::string_view text, std::string_view word, NumberRange range);

// "ladder:8"; the word alone where there is no number.
std::string WithNumber(std::string word, std::optional<std::uint32_t> number);

// Nullopt: `text` is none of the words, or its number is missing or out of range.
template <typename Enum, std::size_t N>
std::optional<ParsedWord<Enum>> ParseWord(std::string_view text, const Word<Enum> (&words)[N]) {
  for (const Word<Enum>& word : words) {
    if (word.number.max == 0 && text == word.text) return ParsedWord<Enum>{word.value, std::nullopt};
    if (word.number.max == 0) continue;
    const std::optional<std::uint32_t> number = ParseNumbered(text, word.text, word.number);
    if (number) return ParsedWord<Enum>{word.value, number};
  }
  return std::nullopt;
}

// Without its number. Empty for 0, which is an enum field that is absent, and "unknown(77)" for a value of a
// newer peer.
template <typename Enum, std::size_t N>
std::string WordOf(Enum value, const Word<Enum> (&words)[N]) {
  for (const Word<Enum>& word : words) {
    if (word.value == value) return word.text;
  }
  const int number = static_cast<int>(value);
  return number == 0 ? "" : "unknown(" + std::to_string(number) + ")";
}

// "ladder:K with K from 1 to 64".
std::string DescribeNumbered(std::string_view word, NumberRange range);

// All words, for messages: "none, pow2 and ladder:K with K from 1 to 64".
template <typename Enum, std::size_t N>
std::string KnownWords(const Word<Enum> (&words)[N]) {
  std::string known;
  for (const Word<Enum>& word : words) {
    const bool numbered = word.number.max > 0;
    if (!known.empty()) known += numbered ? " and " : ", ";
    known += numbered ? DescribeNumbered(word.text, word.number) : word.text;
  }
  return known;
}

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_WORDS_H_
