#include "client/flags/counted_word.h"

#include <charconv>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace packtrain::client {

std::optional<std::uint32_t> CountIn(std::string_view text, const CountedWord& word) {
  const std::string prefix = absl::StrCat(word.word, ":");
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  std::uint32_t count = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, count);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  if (count < word.least || count > word.most) return std::nullopt;
  return count;
}

std::string Spell(const CountedWord& word, std::uint32_t count) { return absl::StrCat(word.word, ":", count); }

std::string Describe(const CountedWord& word) {
  return absl::StrCat(word.word, ":K with K from ", word.least, " to ", word.most);
}

}  // namespace packtrain::client
