// Pages of a list whose items have an order of their own.
#ifndef PACKTRAIN_SERVER_LIMITS_PAGE_H_
#define PACKTRAIN_SERVER_LIMITS_PAGE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace packtrain::limits {

// What a client sends back to get the items behind the one with `last_key`. The token is opaque to the client,
// and good for `query` only.
std::string PageToken(std::string_view query, std::string_view last_key);

// The key that PageToken was given; empty for an empty token, which means from the first item.
// INVALID_ARGUMENT: the token is not one of PageToken, or belongs to another query.
absl::StatusOr<std::string> KeyOfPageToken(std::string_view token, std::string_view query);

// Counts the items and bytes of one answer. Used by one thread.
class Page {
 public:
  static constexpr std::uint32_t kMaxItems = 1'000;

  // At most `page_size` items, but kMaxItems if that is 0 or larger, and no more than 1.5 MiB of them, or
  // than three quarters of `max_message_bytes` if that is less.
  Page(std::uint32_t page_size, std::uint64_t max_message_bytes);

  // Takes one more item of `bytes`; false if the page is full. The first item is always taken.
  bool Take(std::uint64_t bytes);

 private:
  const std::uint32_t most_items_;
  const std::uint64_t most_bytes_;
  std::uint32_t items_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace packtrain::limits

#endif  // PACKTRAIN_SERVER_LIMITS_PAGE_H_
