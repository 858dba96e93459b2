#include "proto/wire/fragment_stream.h"

#include <algorithm>
#include <limits>

namespace packtrain::wire {
namespace {

// Next counts in int.
constexpr std::size_t kMaxChunk = std::numeric_limits<int>::max();

}  // namespace

bool FragmentStream::Next(const void** data, int* size) {
  while (index_ < fragments_.size() && offset_ == fragments_[index_].size()) {
    ++index_;
    offset_ = 0;
  }
  if (index_ == fragments_.size()) return false;
  const std::span<const std::byte> rest = fragments_[index_].subspan(offset_);
  const std::size_t n = std::min(rest.size(), kMaxChunk);
  *data = rest.data();
  *size = static_cast<int>(n);
  offset_ += n;
  byte_count_ += static_cast<std::int64_t>(n);
  return true;
}

void FragmentStream::BackUp(int count) {
  offset_ -= static_cast<std::size_t>(count);
  byte_count_ -= count;
}

bool FragmentStream::Skip(int count) {
  const void* data;
  int size;
  while (count > 0) {
    if (!Next(&data, &size)) return false;
    if (size > count) BackUp(size - count);
    count -= std::min(size, count);
  }
  return true;
}

}  // namespace packtrain::wire
