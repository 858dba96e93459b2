// Words of the command line that carry a number, such as "window:4096".
#ifndef PACKTRAIN_CLIENT_FLAGS_COUNTED_WORD_H_
#define PACKTRAIN_CLIENT_FLAGS_COUNTED_WORD_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace packtrain::client {

// WORD:K with K from `least` to `most`, in decimal digits.
struct CountedWord {
  const char* word;
  std::uint32_t least;
  std::uint32_t most;
};

inline constexpr CountedWord kWindowOrder = {"window", 1, std::numeric_limits<std::uint32_t>::max()};
inline constexpr CountedWord kLadderPad = {"ladder", 1, 64};

// K, where `text` is such a word.
std::optional<std::uint32_t> CountIn(std::string_view text, const CountedWord& word);

// "window:4096".
std::string Spell(const CountedWord& word, std::uint32_t count);

// "window:K with K from 1 to 4294967295".
std::string Describe(const CountedWord& word);

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_FLAGS_COUNTED_WORD_H_
