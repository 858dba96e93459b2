// A sample of the batches of a static policy that depends neither on the seed nor on the epoch.
#ifndef PACKTRAIN_SERVER_BATCHING_BATCH_SAMPLE_H_
#define PACKTRAIN_SERVER_BATCHING_BATCH_SAMPLE_H_

#include <cstdint>
#include <vector>

#include "proto/wire/shape.h"
#include "server/batching/plan_request.h"

namespace packtrain::batching {

inline constexpr std::uint32_t kSampledBatches = 4096;
inline constexpr std::uint32_t kSampledGraphs = 1u << 20;

// The sums of batches of G graphs. With Order::kNone, of all batches of an epoch, since all epochs are equal;
// otherwise of the first min(kSampledBatches, max(1, kSampledGraphs div G)) batches of the epochs 2^63,
// 2^63 + 1, ... of seed 0, one epoch after the other, each with its short last batch. The result depends on the
// sizes, the split, G and the kind of order only. No sum may reach 2^32.
std::vector<wire::Shape> SampleBatches(const PlanRequest& request);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_BATCH_SAMPLE_H_
