#include "server/batching/philox.h"

#include <cstddef>
#include <utility>

namespace packtrain::batching {
namespace {

constexpr int kRounds = 10;
constexpr PhiloxKey kMultipliers = {0xd2511f53, 0xcd9e8d57};
constexpr PhiloxKey kKeyIncrements = {0x9e3779b9, 0xbb67ae85};

PhiloxCounter Round(const PhiloxCounter& c, const PhiloxKey& key) {
  const std::uint64_t p0 = std::uint64_t{kMultipliers[0]} * c[0];
  const std::uint64_t p1 = std::uint64_t{kMultipliers[1]} * c[2];
  return {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(p1),
          static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(p0)};
}

}  // namespace

PhiloxCounter Philox4x32(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < kRounds; ++round) {
    counter = Round(counter, key);
    key[0] += kKeyIncrements[0];
    key[1] += kKeyIncrements[1];
  }
  return counter;
}

void PhiloxStream::Refill() {
  words_ = Philox4x32(counter_, key_);
  ++counter_[0];
  used_ = 0;
}

void Shuffle(PhiloxStream stream, std::span<std::uint32_t> values) {
  for (std::size_t left = values.size(); left > 1; --left) {
    std::swap(values[left - 1], values[stream.Below(static_cast<std::uint32_t>(left))]);
  }
}

}  // namespace packtrain::batching
