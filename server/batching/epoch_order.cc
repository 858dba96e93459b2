#include "server/batching/epoch_order.h"

#include <numeric>

#include "server/batching/philox.h"

namespace packtrain::batching {
namespace {

void ShuffleIn(PhiloxDomain domain, std::uint32_t seed, std::uint64_t epoch, std::span<std::uint32_t> values) {
  const auto low = static_cast<std::uint32_t>(epoch);
  const auto high = static_cast<std::uint32_t>(epoch >> 32);
  Shuffle(PhiloxStream({seed, low}, {high, domain}), values);
}

}  // namespace

void ShuffleForEpoch(std::uint32_t seed, std::uint64_t epoch, std::span<std::uint32_t> graphs) {
  ShuffleIn(kEpochOrderDomain, seed, epoch, graphs);
}

void ShuffleBatchesForEpoch(std::uint32_t seed, std::uint64_t epoch, std::span<std::uint32_t> batches) {
  ShuffleIn(kBatchOrderDomain, seed, epoch, batches);
}

std::vector<std::uint32_t> EpochOrder(std::uint32_t seed, std::uint64_t epoch, std::uint32_t n) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  ShuffleForEpoch(seed, epoch, order);
  return order;
}

}  // namespace packtrain::batching
