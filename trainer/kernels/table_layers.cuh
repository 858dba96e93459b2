// What the kernels of SchNet with tables share, forward and backward. For CUDA sources.
//
// A block has a few nodes. One launch a layer and direction makes the sums over their edges and all products of
// rows that lie between these sums and the next ones, so that rows stay on the chip.
#ifndef PACKTRAIN_TRAINER_KERNELS_TABLE_LAYERS_CUH_
#define PACKTRAIN_TRAINER_KERNELS_TABLE_LAYERS_CUH_

#include "trainer/kernels/early_launch.cuh"
#include "trainer/kernels/row_products.cuh"
#include "trainer/kernels/table_cells.cuh"
#include "trainer/kernels/table_schnet.cuh"

namespace packtrain::trainer {

// Nodes of a block: so few that a small batch reaches all of a card.
inline constexpr int kFewNodes = 4, kManyNodes = 8;
inline constexpr int kNodesOfSmallBatch = 1200;
// Of a multiprocessor, so that 2,304 nodes run all at once on one of Hopper.
template <int kNodes>
inline constexpr int kBlocksAtOnce = kNodes == kFewNodes ? 2 : 3;
// Edges of a thread whose rows are loaded together, before any is used: the more, the more registers.
template <int kNodes>
inline constexpr int kInFlight = kNodes == kFewNodes ? 5 : 3;

static_assert(kTableChannels == kRowColumns);

// A thread's node, and its vector in rows of the node.
struct NodeOfThread {
  int node;
  bool inside;
  bool sums;  // is of the slice that has the sum of all

  __device__ std::int64_t At() const { return std::int64_t{node} * kRowVectors + threadIdx.x; }
};

template <int kNodes>
__device__ NodeOfThread FindNode(int nodes) {
  const int node = static_cast<int>(blockIdx.x) * kNodes + static_cast<int>(threadIdx.z);
  return {node, node < nodes, threadIdx.y == 0};
}

__device__ inline float4 Interpolate(const float* table, float place) {
  const int cell = CellOf(place);
  const CubicWeights weights = WeightsAt(place, cell);
  float4 sum = {};
#pragma unroll
  for (int row = 0; row < kCubicRows; ++row) {
    sum = AddScaled(sum, weights.of[row],
                    Load<float4>(table, std::int64_t{cell + row} * kRowVectors + threadIdx.x));
  }
  return sum;
}

// What one slice adds of edges [first, end): every kSlices-th edge's row times its filter.
template <int kNodes>
__device__ float4 SumMessages(const TableEdge* edges, int first, int end, const float* rows,
                              const float* table) {
  constexpr int kSlices = kRowSlices / kNodes, kTogether = kInFlight<kNodes>;
  float4 sum = {};
  for (first += static_cast<int>(threadIdx.y); first < end; first += kTogether * kSlices) {
    TableEdge edge[kTogether];
    float4 messages[kTogether];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) edge[i] = edges[min(first + i * kSlices, end - 1)];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      messages[i] = Map(Product(), Load<float4>(rows, std::int64_t{edge[i].node} * kRowVectors + threadIdx.x),
                        Interpolate(table, edge[i].place));
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      if (first + i * kSlices < end) sum = Map(Sum(), sum, messages[i]);
    }
  }
  return sum;
}

__device__ inline float DegreeOf(const std::int32_t* receiver_start, int node) {
  return static_cast<float>(max(receiver_start[node + 1] - receiver_start[node], 1));
}

// Launches a kernel of rows of nodes, with scratch for three matrices; `early`: see LaunchEarly.
template <int kNodes, typename... Arguments>
cudaError_t Launch(void (*kernel)(Arguments...), int nodes, bool early, cudaStream_t stream,
                   const Arguments&... arguments) {
  constexpr int kMemory = 3 * sizeof(Matrix);
  const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kMemory);
  if (error != cudaSuccess) return error;
  if (nodes == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((nodes + kNodes - 1) / kNodes);
  if (early) return LaunchEarly(kernel, blocks, ThreadsOfRows<kNodes>(), kMemory, stream, arguments...);
  kernel<<<blocks, ThreadsOfRows<kNodes>(), kMemory, stream>>>(arguments...);
  return cudaGetLastError();
}

// What one step works on.
struct Pass {
  const TableSchNetSizes& sizes;
  const TableSchNetMatrices<const float>& weights;
  const TableSchNetGraphs& graphs;
  const TableEdges& edges;
  const TableSchNetStates& states;
  const StreamPair& streams;

  int last() const { return sizes.layers - 1; }
  // Of what a layer has for each node, and for each row of a table.
  template <typename Float>
  Float* OfNodes(Float* rows, int layer) const {
    return rows + std::int64_t{layer} * sizes.nodes * kTableChannels;
  }
  const float* Table(int layer) const {
    return states.tables + std::int64_t{layer} * kTableRows * kTableChannels;
  }
};

inline bool IsSmall(const TableSchNetSizes& sizes) { return sizes.nodes <= kNodesOfSmallBatch; }

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_TABLE_LAYERS_CUH_
