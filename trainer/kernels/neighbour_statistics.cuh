// The launches of neighbour_statistics.cu.
#ifndef PACKTRAIN_TRAINER_KERNELS_NEIGHBOUR_STATISTICS_CUH_
#define PACKTRAIN_TRAINER_KERNELS_NEIGHBOUR_STATISTICS_CUH_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/edge_orders.cuh"

namespace packtrain::trainer {

inline constexpr double kLeastVariance = 1e-5;
inline constexpr int kStatistics = 4;
// Rows of C elements that a node's neighbours read in the backward pass.
inline constexpr int kSpreadRows = 7;

// The padded sizes; C = `columns`.
struct StatisticsSizes {
  std::int64_t nodes = 0;
  std::int64_t columns = 0;
};

// All in device memory. Each enqueues its launches and writes all elements of its results, which may be
// uninitialised before: 0 for padding nodes. The order of additions follows from the edges alone. Nothing is
// atomic.

// aggregates [nodes, 4, C] of own [nodes, C] and sent [nodes, C].
cudaError_t EnqueueAggregateNeighbours(const StatisticsSizes& sizes, const EdgesByReceiver& edges,
                                       const float* own, const float* sent, float* aggregates,
                                       cudaStream_t stream);

struct StatisticsGradients {
  const float* d_aggregates = nullptr;  // [nodes, 4, C]
  float* spread = nullptr;              // [nodes, kSpreadRows, C], of no meaning afterwards
  float* d_own = nullptr;               // [nodes, C]
  float* d_sent = nullptr;              // [nodes, C]
};

cudaError_t EnqueueAggregateNeighboursBackward(const StatisticsSizes& sizes, const EdgesByReceiver& by_receiver,
                                               const EdgesBySender& by_sender, const float* sent,
                                               const StatisticsGradients& gradients, cudaStream_t stream);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_NEIGHBOUR_STATISTICS_CUH_
