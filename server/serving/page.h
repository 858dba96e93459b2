// Pages of a list whose items have an order of their own.
#ifndef PACKTRAIN_SERVER_SERVING_PAGE_H_
#define PACKTRAIN_SERVER_SERVING_PAGE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace packtrain::serving {

// What a client hands back to go on behind the item with `last_key`. Opaque to it, and good for `query` only.
std::string PageToken(std::string_view query, std::string_view last_key);

// The key that PageToken was given; empty for an empty token: from the first item. INVALID_ARGUMENT: no token
// of ours, or one of another query.
absl::StatusOr<std::string> KeyOfPageToken(std::string_view token, std::string_view query);

// Counts what one answer holds. Used by one thread.
class Page {
 public:
  static constexpr std::uint32_t kMostItems = 1'000;

  // At most `page_size` items, or kMostItems where that is 0 or more; and no more than fits into a message of
  // gRPC's usual 4 MiB, or of `max_message_bytes` where that is less.
  Page(std::uint32_t page_size, std::uint64_t max_message_bytes);

  // Takes one more item of `bytes`; false where the page is full. The first item is always taken.
  bool Take(std::uint64_t bytes);

 private:
  const std::uint32_t most_items_;
  const std::uint64_t most_bytes_;
  std::uint32_t items_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_PAGE_H_
