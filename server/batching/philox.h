// Philox4x32-10, a counter-based generator (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3",
// SC 2011), and the draws from it. Integers only, so every compiler and machine draws the same.
#ifndef PACKTRAIN_SERVER_BATCHING_PHILOX_H_
#define PACKTRAIN_SERVER_BATCHING_PHILOX_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace packtrain::batching {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// The second word of a stream names the consumer of a key, so that no two consumers draw the same numbers. From
// 2^31 on it also holds the number of a window of steps.
enum PhiloxDomain : std::uint32_t {
  kEpochOrderDomain = 0,
  kSplitDomain = 1,
  kBatchOrderDomain = 2,
  kWindowOrderDomain = 3,
  kStepWindowDomain = 1u << 31,
};

// The four random words of one counter.
PhiloxCounter Philox4x32(PhiloxCounter counter, PhiloxKey key);

// The words of counters (0, u, s0, s1), (1, u, s0, s1), ... end to end: 2^34 words, four for each value that
// Shuffle takes at most. Used by one thread.
class PhiloxStream {
 public:
  // `stream` = (s0, s1) tells the streams of one key apart, `substream` = u those of one stream.
  PhiloxStream(PhiloxKey key, std::array<std::uint32_t, 2> stream, std::uint32_t substream = 0)
      : key_(key), counter_{0, substream, stream[0], stream[1]} {}

  std::uint32_t Next() {
    if (used_ == words_.size()) Refill();
    return words_[used_++];
  }

  // Uniform in 0 .. bound-1, without bias; bound >= 1. Takes one word, or more where a word is rejected
  // (Lemire, "Fast Random Integer Generation in an Interval", 2019).
  std::uint32_t Below(std::uint32_t bound) {
    std::uint64_t product = std::uint64_t{Next()} * bound;
    if (static_cast<std::uint32_t>(product) < bound) {
      const std::uint32_t rejected = (0u - bound) % bound;
      while (static_cast<std::uint32_t>(product) < rejected) product = std::uint64_t{Next()} * bound;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

 private:
  static constexpr std::uint32_t kCounters = 32;  // drawn from at once

  void Refill();

  PhiloxKey key_;
  PhiloxCounter counter_;
  std::array<std::uint32_t, std::size_t{4} * kCounters> words_;
  std::size_t used_ = words_.size();
};

// The stream of the consumer `domain` for an epoch. Key = (seed, low half of epoch), stream = (high half of
// epoch, domain), so that epochs from 2^32 on repeat none of the earlier ones.
PhiloxStream EpochStream(std::uint32_t seed, std::uint64_t epoch, std::uint32_t domain,
                         std::uint32_t substream = 0);

// Fisher-Yates from the last position down: every order is equally likely. At most 2^32 - 1 values.
void Shuffle(PhiloxStream stream, std::span<std::uint32_t> values);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_PHILOX_H_
