#include "server/batching/philox.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace packtrain::batching {
namespace {

constexpr int kRounds = 10;
constexpr PhiloxKey kMultipliers = {0xd2511f53, 0xcd9e8d57};
constexpr PhiloxKey kKeyIncrements = {0x9e3779b9, 0xbb67ae85};

// N counters side by side, word by word, so that compilers make vectors of them.
template <std::size_t N>
using Lanes = std::array<std::array<std::uint32_t, N>, 4>;

template <std::size_t N>
void Round(Lanes<N>& c, const PhiloxKey& key) {
  for (std::size_t i = 0; i < N; ++i) {
    const std::uint64_t p0 = std::uint64_t{kMultipliers[0]} * c[0][i];
    const std::uint64_t p1 = std::uint64_t{kMultipliers[1]} * c[2][i];
    c[0][i] = static_cast<std::uint32_t>(p1 >> 32) ^ c[1][i] ^ key[0];
    c[1][i] = static_cast<std::uint32_t>(p1);
    c[2][i] = static_cast<std::uint32_t>(p0 >> 32) ^ c[3][i] ^ key[1];
    c[3][i] = static_cast<std::uint32_t>(p0);
  }
}

// Replaces counters by their random words.
template <std::size_t N>
void Encipher(Lanes<N>& lanes, PhiloxKey key) {
  for (int round = 0; round < kRounds; ++round) {
    Round(lanes, key);
    key[0] += kKeyIncrements[0];
    key[1] += kKeyIncrements[1];
  }
}

// Swaps whose places are drawn, and on their way into the cache, before the first of them is made.
constexpr std::size_t kSwapsAhead = 64;

}  // namespace

PhiloxCounter Philox4x32(PhiloxCounter counter, PhiloxKey key) {
  Lanes<1> lane = {{{counter[0]}, {counter[1]}, {counter[2]}, {counter[3]}}};
  Encipher(lane, key);
  return {lane[0][0], lane[1][0], lane[2][0], lane[3][0]};
}

void PhiloxStream::Refill() {
  Lanes<kCounters> lanes;
  for (std::uint32_t i = 0; i < kCounters; ++i) {
    for (std::size_t word = 0; word < counter_.size(); ++word) lanes[word][i] = counter_[word];
    lanes[0][i] += i;
  }
  Encipher(lanes, key_);
  for (std::size_t i = 0; i < kCounters; ++i) {
    for (std::size_t word = 0; word < counter_.size(); ++word) words_[4 * i + word] = lanes[word][i];
  }
  counter_[0] += kCounters;
  used_ = 0;
}

PhiloxStream EpochStream(std::uint32_t seed, std::uint64_t epoch, std::uint32_t domain,
                         std::uint32_t substream) {
  const auto low = static_cast<std::uint32_t>(epoch);
  const auto high = static_cast<std::uint32_t>(epoch >> 32);
  return {{seed, low}, {high, domain}, substream};
}

void Shuffle(PhiloxStream stream, std::span<std::uint32_t> values) {
  std::array<std::uint32_t, kSwapsAhead> places;
  for (std::size_t left = values.size(); left > 1;) {
    const std::size_t swaps = std::min(left - 1, kSwapsAhead);
    for (std::size_t i = 0; i < swaps; ++i) {
      places[i] = stream.Below(static_cast<std::uint32_t>(left - i));
      __builtin_prefetch(&values[places[i]], /*rw=*/1);
    }
    for (std::size_t i = 0; i < swaps; ++i) std::swap(values[--left], values[places[i]]);
  }
}

}  // namespace packtrain::batching
