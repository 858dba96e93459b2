// Which graphs batches hold.
#ifndef PACKTRAIN_TESTS_SERVER_BATCHING_GRAPHS_OF_H_
#define PACKTRAIN_TESTS_SERVER_BATCHING_GRAPHS_OF_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "server/batching/plan.h"

namespace packtrain::batching {

using Indices = std::vector<std::uint32_t>;
using PlanPtr = std::unique_ptr<const Plan>;

inline Indices GraphsOf(const std::vector<PlannedBatch>& batches) {
  Indices graphs;
  for (const PlannedBatch& batch : batches)
    graphs.insert(graphs.end(), batch.graphs.begin(), batch.graphs.end());
  return graphs;
}

inline Indices Sorted(Indices values) {
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace packtrain::batching

#endif  // PACKTRAIN_TESTS_SERVER_BATCHING_GRAPHS_OF_H_
