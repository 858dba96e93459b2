// The order in which an epoch walks its split.
#ifndef PACKTRAIN_SERVER_BATCHING_EPOCH_ORDER_H_
#define PACKTRAIN_SERVER_BATCHING_EPOCH_ORDER_H_

#include <cstdint>
#include <span>
#include <vector>

namespace packtrain::batching {

// Puts `graphs` into the order of one epoch: position k gets the graph that stood at EpochOrder(..)[k].
void ShuffleForEpoch(std::uint32_t seed, std::uint64_t epoch, std::span<std::uint32_t> graphs);

// The same for the batches of a policy that draws their order, from numbers of its own.
void ShuffleBatchesForEpoch(std::uint32_t seed, std::uint64_t epoch, std::span<std::uint32_t> batches);

// A uniformly drawn permutation of 0 .. n-1, pinned by a golden file: Shuffle by the EpochStream of
// kEpochOrderDomain.
std::vector<std::uint32_t> EpochOrder(std::uint32_t seed, std::uint64_t epoch, std::uint32_t n);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_EPOCH_ORDER_H_
