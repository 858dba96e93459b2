// The order of one epoch.
#ifndef PACKTRAIN_SERVER_BATCHING_SPLIT_ORDER_H_
#define PACKTRAIN_SERVER_BATCHING_SPLIT_ORDER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "proto/wire/batch_spec.h"

namespace packtrain::batching {

// Returns the graphs of a split in the order of an epoch of `spec`.
std::vector<std::uint32_t> OrderSplit(const wire::BatchSpec& spec, std::uint64_t epoch,
                                      std::span<const std::uint32_t> split);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_SPLIT_ORDER_H_
