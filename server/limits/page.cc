#include "server/limits/page.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/base/crc32c.h"
#include "proto/base/error_details.h"

namespace packtrain::limits {
namespace {

// Leaves a quarter of a message to what is not an item, and to items' own framing.
constexpr std::uint64_t kMaxBytes = 3 << 19;
constexpr std::size_t kCheckDigits = 8;

std::string CheckOf(std::string_view query, std::string_view key) {
  const std::string text = absl::StrCat(query.size(), ":", std::string(query), std::string(key));
  return absl::StrCat(absl::Hex(base::Crc32c(std::as_bytes(std::span(text))), absl::kZeroPad8));
}

absl::Status BadToken() {
  return base::WithField(
      absl::InvalidArgumentError(
          "page_token is no next_page_token of this list; send it unchanged, with the same query, or leave it "
          "empty to begin again"),
      "page_token");
}

}  // namespace

std::string PageToken(std::string_view query, std::string_view last_key) {
  return absl::WebSafeBase64Escape(absl::StrCat(CheckOf(query, last_key), std::string(last_key)));
}

absl::StatusOr<std::string> KeyOfPageToken(std::string_view token, std::string_view query) {
  if (token.empty()) return "";
  std::string text;
  if (!absl::WebSafeBase64Unescape(std::string(token), &text) || text.size() < kCheckDigits) return BadToken();
  const std::string key = text.substr(kCheckDigits);
  if (text.substr(0, kCheckDigits) != CheckOf(query, key)) return BadToken();
  return key;
}

Page::Page(std::uint32_t page_size, std::uint64_t max_message_bytes)
    : most_items_(page_size == 0 ? kMaxItems : std::min(page_size, kMaxItems)),
      most_bytes_(std::min(kMaxBytes, max_message_bytes / 4 * 3)) {}

bool Page::Take(std::uint64_t bytes) {
  if (items_ > 0 && (items_ == most_items_ || bytes_ + bytes > most_bytes_)) return false;
  ++items_;
  bytes_ += bytes;
  return true;
}

}  // namespace packtrain::limits
