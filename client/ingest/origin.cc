#include "client/ingest/origin.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"

namespace packtrain::ingest {
namespace {

constexpr std::string_view kBeforeWord = ": ";

// Cuts what follows the last `mark` off the end of `text`; nullopt where there is no mark.
std::optional<std::string_view> CutTail(std::string_view* text, std::string_view mark) {
  const std::size_t at = text->rfind(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view tail = text->substr(at + mark.size());
  *text = text->substr(0, at);
  return tail;
}

std::optional<std::uint64_t> CutCount(std::string_view* text, std::string_view mark) {
  const std::optional<std::string_view> tail = CutTail(text, mark);
  return tail ? ParseCount(*tail) : std::nullopt;
}

Origin OnlyFile(std::string_view text) {
  Origin origin;
  origin.file = text;
  return origin;
}

}  // namespace

std::string FormatOrigin(const Origin& origin) {
  return absl::StrCat(origin.file, ":", origin.line, ": ", origin.record_word, " ", origin.record);
}

Origin ParseOrigin(std::string_view text) {
  std::string_view file = text;
  const std::optional<std::uint64_t> record = CutCount(&file, " ");
  const std::optional<std::string_view> word = CutTail(&file, kBeforeWord);
  const std::optional<std::uint64_t> line = CutCount(&file, ":");
  if (!record || !word || word->find(' ') != std::string_view::npos || !line) return OnlyFile(text);
  return {std::string(file), std::string(*word), *record, *line};
}

absl::Status RefusedAt(const Origin& origin, std::string_view id, const absl::Status& refusal) {
  return Refusal(ReasonOf(refusal),
                 absl::StrCat(FormatOrigin(origin), id.empty() ? "" : " (", std::string(id),
                              id.empty() ? "" : ")", ": ", absl::string_view(refusal.message())));
}

}  // namespace packtrain::ingest
