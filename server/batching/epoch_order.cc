#include "server/batching/epoch_order.h"

#include <numeric>

#include "server/batching/philox.h"

namespace packtrain::batching {

void ShuffleForEpoch(std::uint32_t seed, std::uint64_t epoch, std::span<std::uint32_t> graphs) {
  Shuffle(EpochStream(seed, epoch, kEpochOrderDomain), graphs);
}

void ShuffleBatchesForEpoch(std::uint32_t seed, std::uint64_t epoch, std::span<std::uint32_t> batches) {
  Shuffle(EpochStream(seed, epoch, kBatchOrderDomain), batches);
}

std::vector<std::uint32_t> EpochOrder(std::uint32_t seed, std::uint64_t epoch, std::uint32_t n) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  ShuffleForEpoch(seed, epoch, order);
  return order;
}

}  // namespace packtrain::batching
