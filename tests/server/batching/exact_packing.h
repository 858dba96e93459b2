// The fewest batches that hold a few graphs: vector bin packing in two dimensions, solved exactly.
#ifndef PACKTRAIN_TESTS_SERVER_BATCHING_EXACT_PACKING_H_
#define PACKTRAIN_TESTS_SERVER_BATCHING_EXACT_PACKING_H_

#include <cstdint>
#include <vector>

#include "server/batching/plan.h"

namespace packtrain::batching {

// By branch and bound, for up to about 16 graphs, each within `budget` = (M, N, E).
std::uint64_t FewestBatches(const std::vector<std::uint32_t>& n_node, const std::vector<std::uint32_t>& n_edge,
                            const wire::Shape& budget);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_TESTS_SERVER_BATCHING_EXACT_PACKING_H_
