#include "client/ingest/formats/cif_lines.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace packtrain::ingest {
namespace {

bool EqualsAnyCase(std::string_view a, std::string_view b) {
  return absl::EqualsIgnoreCase(absl::string_view(a.data(), a.size()), absl::string_view(b.data(), b.size()));
}

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

struct Token {
  std::string_view text;
  std::size_t line = 0;  // on which it begins, from 1

  // Quoted values and text fields begin with another character.
  bool IsTag() const { return text.starts_with('_'); }
  bool IsLoop() const { return EqualsAnyCase(text, "loop_"); }
  bool IsEmpty() const { return text.empty(); }
  bool IsValue() const { return !IsEmpty() && !IsTag() && !IsLoop(); }
};

// Cuts a text into tags, values and words of the format.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  // Empty at the end.
  Token Next() {
    PassSpace();
    const Token token = {text_.substr(at_, SizeOfToken()), line_};
    line_ += static_cast<std::size_t>(std::ranges::count(token.text, '\n'));
    at_ += token.text.size();
    return token;
  }

 private:
  bool IsAtLineStart() const { return at_ == 0 || text_[at_ - 1] == '\n'; }

  // Passes over blanks and comments.
  void PassSpace() {
    bool in_comment = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      in_comment = c != '\n' && (in_comment || c == '#');
      if (!in_comment && !IsSpace(c)) return;
      if (c == '\n') ++line_;
    }
  }

  std::size_t SizeOfToken() const {
    const std::string_view rest = text_.substr(at_);
    if (rest.empty()) return 0;
    if (rest.front() == ';' && IsAtLineStart()) return EndBehind(rest, rest.find("\n;"), 2);
    if (rest.front() == '\'' || rest.front() == '"') return EndBehind(rest, QuoteIn(rest), 1);
    return static_cast<std::size_t>(std::ranges::find_if(rest, IsSpace) - rest.begin());
  }

  static std::size_t EndBehind(std::string_view rest, std::size_t at, std::size_t size) {
    return at == rest.npos ? rest.size() : at + size;
  }

  // The quote that ends a value: one with a blank behind it.
  static std::size_t QuoteIn(std::string_view rest) {
    for (std::size_t at = rest.find(rest.front(), 1); at != rest.npos; at = rest.find(rest.front(), at + 1)) {
      if (at + 1 == rest.size() || IsSpace(rest[at + 1])) return at;
    }
    return rest.npos;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

struct Loop {
  std::vector<std::string_view> tags;
  std::vector<std::size_t> lines;  // of its values
};

// Reads the loop behind "loop_" and the token behind it.
Loop ReadLoop(Tokens& tokens, Token* next) {
  Loop loop;
  for (*next = tokens.Next(); next->IsTag(); *next = tokens.Next()) loop.tags.push_back(next->text);
  for (; next->IsValue(); *next = tokens.Next()) loop.lines.push_back(next->line);
  return loop;
}

}  // namespace

std::optional<std::size_t> LineOfCifValue(std::string_view text, const CifPlace& place) {
  Tokens tokens(text);
  Token token = tokens.Next();
  while (!token.IsEmpty()) {
    if (token.IsLoop()) {
      const Loop loop = ReadLoop(tokens, &token);
      const auto tag = std::ranges::find_if(
          loop.tags, [&](std::string_view candidate) { return EqualsAnyCase(candidate, place.tag); });
      if (tag == loop.tags.end()) continue;
      const std::size_t value =
          place.row * loop.tags.size() + static_cast<std::size_t>(tag - loop.tags.begin());
      return value < loop.lines.size() ? std::optional(loop.lines[value]) : std::nullopt;
    }
    const bool is_found = token.IsTag() && EqualsAnyCase(token.text, place.tag);
    token = tokens.Next();
    if (is_found) return token.IsValue() && place.row == 0 ? std::optional(token.line) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::size_t> LineOfUnevenRow(std::string_view text, std::size_t loop_line) {
  Tokens tokens(text);
  Token token = tokens.Next();
  while (!token.IsEmpty() && !(token.IsLoop() && token.line >= loop_line)) token = tokens.Next();
  const Loop loop = ReadLoop(tokens, &token);
  std::optional<std::size_t> uneven;
  for (auto begin = loop.lines.begin(); begin != loop.lines.end();) {
    const auto end = std::find_if(begin, loop.lines.end(), [&](std::size_t line) { return line != *begin; });
    if (static_cast<std::size_t>(end - begin) != loop.tags.size()) {
      if (uneven) return std::nullopt;
      uneven = *begin;
    }
    begin = end;
  }
  return uneven;
}

}  // namespace packtrain::ingest
