#include "client/ingest/origin.h"

#include <optional>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "client/ingest/refusal.h"
#include "client/ingest/text.h"

namespace packtrain::ingest {
namespace {

constexpr std::string_view kBeforeWord = ": ";
constexpr char kPlaceType[] = "place";

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

}  // namespace

std::string FormatOrigin(const Origin& origin) {
  return absl::StrCat(origin.file, ":", origin.line, ": ", origin.record_word, " ", origin.record);
}

Origin ParseOrigin(std::string_view text) {
  std::string_view file = text;
  const std::optional<std::uint64_t> record = CutCount(&file, " ");
  const std::optional<std::string_view> word = CutTail(&file, kBeforeWord);
  const std::optional<std::uint64_t> line = CutCount(&file, ":");
  if (!record || !word || word->find(' ') != std::string_view::npos || !line)
    return WholeFile(std::string(text));
  return {std::string(file), std::string(*word), *record, *line};
}

std::string PlaceText(const Origin& origin) {
  std::string text = origin.file;
  if (origin.line > 0) absl::StrAppend(&text, ":", origin.line);
  if (origin.record > 0) absl::StrAppend(&text, ": ", origin.record_word, " ", origin.record);
  return text;
}

Origin WholeFile(std::string path) {
  Origin place;
  place.file = std::move(path);
  return place;
}

bool IsWholeFile(const Origin& place) { return place.record == 0 && place.line == 0; }

absl::Status RefusedAt(const Origin& place, absl::Status status) {
  return status.GetPayload(kPlaceType) ? status : RefusedElsewhere(place, std::move(status));
}

absl::Status RefusedWhole(std::string path, std::string_view reason, std::string_view what) {
  return RefusedAt(WholeFile(std::move(path)), Refusal(reason, what));
}

absl::Status RefusedElsewhere(const Origin& place, absl::Status status) {
  if (IsRefusal(status)) status.SetPayload(kPlaceType, absl::Cord(FormatOrigin(place)));
  return status;
}

Origin PlaceOf(const absl::Status& refusal, const Origin& record) {
  const absl::optional<absl::Cord> own = refusal.GetPayload(kPlaceType);
  if (!own) return record;
  Origin place = ParseOrigin(std::string(*own));
  if (place.record > 0 || IsWholeFile(place)) return place;
  if (place.file.empty()) place.file = record.file;
  place.record_word = record.record_word;
  place.record = record.record;
  return place;
}

absl::Status WithPlace(const absl::Status& refusal, std::string_view id) {
  return WithPlace(refusal, Origin(), id);
}

absl::Status WithPlace(const absl::Status& refusal, const Origin& record, std::string_view id) {
  if (!refusal.GetPayload(kPlaceType)) return refusal;
  const absl::string_view message = refusal.message();
  const Origin place = PlaceOf(refusal, record);
  if (IsWholeFile(place)) id = {};
  absl::Status told = WithMessage(refusal, RefusalText(PlaceText(place), id, {message.data(), message.size()}));
  told.ErasePayload(kPlaceType);
  return told;
}

std::string PlaceText(std::string_view place, std::string_view id) {
  return id.empty() ? std::string(place) : absl::StrCat(std::string(place), " (", std::string(id), ")");
}

std::string RefusalText(std::string_view place, std::string_view id, std::string_view message) {
  return absl::StrCat(PlaceText(place, id), ": ", std::string(message));
}

}  // namespace packtrain::ingest
