#include "trainer/kernels/sum_messages.cuh"

#include <algorithm>
#include <bit>

#include "trainer/kernels/float_vector.cuh"

namespace packtrain::trainer {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kLanes = 32;
constexpr unsigned kMaxSlices = 16;
constexpr unsigned kMaxNodesPerBlock = 64;  // CUDA's limit of blockDim.z
// Edges of a thread whose rows are loaded together, before any is used.
constexpr int kInFlight = 4;

// A thread's part of a launch: one column (of vectors) of one node, and of that node's edges one slice, every
// blockDim.y-th. The slices of a node are in one block.
struct Place {
  int node;
  int column;
  bool inside;
};

template <typename Vector>
__device__ Place FindPlace(const MessageSizes& sizes) {
  const auto node = static_cast<int>(blockIdx.x * blockDim.z + threadIdx.z);
  const auto column = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x);
  return {node, column, node < sizes.nodes && column < sizes.columns / kWidth<Vector>};
}

// Element [row, column] of rows of vectors.
template <typename Vector>
__device__ std::int64_t At(const MessageSizes& sizes, int row, int column) {
  return row * (sizes.columns / kWidth<Vector>)+column;
}

// The sum over the slices of a node, for the thread of slice 0. All threads of a block call it.
template <typename Vector>
__device__ Vector AddSlices(Vector sum) {
  __shared__ Vector sums[kThreads];
  const unsigned stride = blockDim.x, first = threadIdx.z * blockDim.y * stride + threadIdx.x;
  if (blockDim.y == 1) return sum;
  sums[first + threadIdx.y * stride] = sum;
  __syncthreads();
  if (threadIdx.y > 0) return sum;
  for (unsigned slice = 1; slice < blockDim.y; ++slice) sum = Map(Sum(), sum, sums[first + slice * stride]);
  return sum;
}

// Calls use(i, entry) for up to kInFlight entries of a slice that has come to `first`; none at or after `end`.
template <typename Use>
__device__ void ForEntries(int first, int end, Use use) {
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    const int entry = first + i * static_cast<int>(blockDim.y);
    if (entry < end) use(i, entry);
  }
}

template <typename Vector, typename Element>
__global__ void __launch_bounds__(kThreads)
    Forward(MessageSizes sizes, EdgesByReceiver edges, Messages<Element> messages, float* sums) {
  const Place place = FindPlace<Vector>(sizes);
  Vector sum = {};
  if (place.inside) {
    const int end = edges.receiver_start[place.node + 1], step = kInFlight * static_cast<int>(blockDim.y);
    int first = edges.receiver_start[place.node] + static_cast<int>(threadIdx.y);
    for (; first < end; first += step) {
      int sender[kInFlight];
      Vector filter[kInFlight], node[kInFlight];
      ForEntries(first, end, [&](int i, int edge) {
        sender[i] = __ldg(edges.senders + edge);
        filter[i] = Load<Vector>(messages.filter, At<Vector>(sizes, edge, place.column));
      });
      ForEntries(first, end, [&](int i, int) {
        node[i] = Load<Vector>(messages.nodes, At<Vector>(sizes, sender[i], place.column));
      });
      ForEntries(first, end, [&](int i, int) { sum = Map(ProductAndSum(), node[i], filter[i], sum); });
    }
  }
  sum = AddSlices(sum);
  if (place.inside && threadIdx.y == 0) Store(sums, At<Vector>(sizes, place.node, place.column), sum);
}

// All threads of the launch share the zeros of the padding edges.
template <typename Vector, typename Element>
__device__ void ClearPadding(const MessageSizes& sizes, int real_edges, Element* d_filter) {
  const std::int64_t block = std::int64_t{blockIdx.y} * gridDim.x + blockIdx.x;
  const unsigned in_block = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned block_threads = blockDim.x * blockDim.y * blockDim.z;
  const std::int64_t threads = std::int64_t{gridDim.x} * gridDim.y * block_threads;
  const std::int64_t end = sizes.edges * (sizes.columns / kWidth<Vector>);
  std::int64_t at = At<Vector>(sizes, real_edges, 0) + block * block_threads + in_block;
  for (; at < end; at += threads) Store(d_filter, at, Vector{});
}

template <typename Vector, typename Element>
__global__ void __launch_bounds__(kThreads)
    Backward(MessageSizes sizes, EdgesBySender edges, Messages<Element> messages, float* d_nodes,
             Element* d_filter) {
  const Place place = FindPlace<Vector>(sizes);
  Vector sum = {};
  if (place.inside) {
    const Vector node = Load<Vector>(messages.nodes, At<Vector>(sizes, place.node, place.column));
    const int end = edges.sender_start[place.node + 1], step = kInFlight * static_cast<int>(blockDim.y);
    int first = edges.sender_start[place.node] + static_cast<int>(threadIdx.y);
    for (; first < end; first += step) {
      int edge[kInFlight], receiver[kInFlight];
      Vector filter[kInFlight], d_sum[kInFlight];
      ForEntries(first, end, [&](int i, int entry) { edge[i] = __ldg(edges.by_sender + entry); });
      ForEntries(first, end, [&](int i, int) {
        receiver[i] = __ldg(edges.receivers + edge[i]);
        filter[i] = Load<Vector>(messages.filter, At<Vector>(sizes, edge[i], place.column));
      });
      ForEntries(first, end, [&](int i, int) {
        d_sum[i] = Load<Vector>(messages.d_sums, At<Vector>(sizes, receiver[i], place.column));
      });
      ForEntries(first, end, [&](int i, int) {
        sum = Map(ProductAndSum(), d_sum[i], filter[i], sum);
        Store(d_filter, At<Vector>(sizes, edge[i], place.column), Map(Product(), d_sum[i], node));
      });
    }
  }
  ClearPadding<Vector>(sizes, edges.real[2], d_filter);
  sum = AddSlices(sum);
  if (place.inside && threadIdx.y == 0) Store(d_nodes, At<Vector>(sizes, place.node, place.column), sum);
}

struct Grid {
  dim3 blocks;
  dim3 threads;
};

// A node gets as many slices as keep the loads of an average one together: where nodes are few, their edges
// fill the card.
Grid GridFor(const MessageSizes& sizes, std::int64_t vectors_per_row) {
  const auto vectors = static_cast<unsigned>(vectors_per_row);
  const unsigned lanes = std::min(std::bit_ceil(vectors), kLanes);
  const auto degree = static_cast<std::uint64_t>(sizes.edges / sizes.nodes);
  const auto slices =
      static_cast<unsigned>(std::bit_floor(std::clamp<std::uint64_t>(degree / 2, 1, kMaxSlices)));
  const unsigned fitting = std::min(slices, kThreads / lanes);
  const unsigned nodes = std::min(kThreads / (lanes * fitting), kMaxNodesPerBlock);
  return {
      .blocks = dim3((static_cast<unsigned>(sizes.nodes) + nodes - 1) / nodes, (vectors + lanes - 1) / lanes),
      .threads = dim3(lanes, fitting, nodes)};
}

}  // namespace

template <typename Element>
cudaError_t EnqueueSumMessages(const MessageSizes& sizes, const EdgesByReceiver& edges,
                               const Messages<Element>& messages, float* sums, cudaStream_t stream) {
  if (sizes.nodes == 0 || sizes.columns == 0) return cudaSuccess;
  const bool wide = AreRowsOfVectors(sizes.columns, messages.nodes, messages.filter, sums);
  const Grid grid = GridFor(sizes, wide ? sizes.columns / kWidth<float4> : sizes.columns);
  const auto forward = wide ? Forward<float4, Element> : Forward<float, Element>;
  forward<<<grid.blocks, grid.threads, 0, stream>>>(sizes, edges, messages, sums);
  return cudaGetLastError();
}

template <typename Element>
cudaError_t EnqueueSumMessagesBackward(const MessageSizes& sizes, const EdgesBySender& edges,
                                       const Messages<Element>& messages, float* d_nodes, Element* d_filter,
                                       cudaStream_t stream) {
  if (sizes.nodes == 0 || sizes.columns == 0) return cudaSuccess;
  const bool wide =
      AreRowsOfVectors(sizes.columns, messages.nodes, messages.filter, messages.d_sums, d_nodes, d_filter);
  const Grid grid = GridFor(sizes, wide ? sizes.columns / kWidth<float4> : sizes.columns);
  const auto backward = wide ? Backward<float4, Element> : Backward<float, Element>;
  backward<<<grid.blocks, grid.threads, 0, stream>>>(sizes, edges, messages, d_nodes, d_filter);
  return cudaGetLastError();
}

template cudaError_t EnqueueSumMessages(const MessageSizes&, const EdgesByReceiver&, const Messages<float>&,
                                        float*, cudaStream_t);
template cudaError_t EnqueueSumMessages(const MessageSizes&, const EdgesByReceiver&,
                                        const Messages<__nv_bfloat16>&, float*, cudaStream_t);
template cudaError_t EnqueueSumMessagesBackward(const MessageSizes&, const EdgesBySender&,
                                                const Messages<float>&, float*, float*, cudaStream_t);
template cudaError_t EnqueueSumMessagesBackward(const MessageSizes&, const EdgesBySender&,
                                                const Messages<__nv_bfloat16>&, float*, __nv_bfloat16*,
                                                cudaStream_t);

}  // namespace packtrain::trainer
