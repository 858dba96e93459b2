#include "trainer/kernels/vector_messages.cuh"

#include <algorithm>

namespace packtrain::trainer {
namespace {

// A thread owns a column of all nodes that its block walks: its weights stay in registers, and nothing is
// shared but what is the same for all columns.
constexpr unsigned kThreads = 256;
// Two for each multiprocessor of an H100 or H200, so that all run at once.
constexpr unsigned kMaxBlocks = 264;
constexpr int kBlocksAtOnce = 2;  // a multiprocessor
constexpr int kAxes = 3;
constexpr int kParts = 3;        // of what is sent, of filters and of weights
constexpr int kChunkEdges = 32;  // whose geometry a block holds at once
constexpr int kQuads = kGeometryColumns / 4;

// Of up to kChunkEdges edges of a node.
struct Chunk {
  float4 geometry[kChunkEdges][kQuads];
  int neighbour[kChunkEdges];
};

// All threads of a block call it. `find(i)` is the edge and the neighbour of entry i.
template <typename Find>
__device__ void Fill(Chunk& chunk, int count, const float* geometry, Find find) {
  const auto* quads = reinterpret_cast<const float4*>(geometry);
  __syncthreads();  // the chunk before was read
  for (int at = static_cast<int>(threadIdx.x); at < count * kQuads; at += static_cast<int>(blockDim.x)) {
    const int entry = at / kQuads, quad = at % kQuads;
    const int2 edge_and_neighbour = find(entry);
    chunk.geometry[entry][quad] = __ldg(quads + std::int64_t{edge_and_neighbour.x} * kQuads + quad);
    if (quad == 0) chunk.neighbour[entry] = edge_and_neighbour.y;
  }
  __syncthreads();
}

// A row of the geometry, in registers.
struct Geometry {
  float terms[kRadialTerms];
  float direction[kAxes];
};

__device__ Geometry Unpack(const float4 (&quads)[kQuads]) {
  float row[kGeometryColumns];
#pragma unroll
  for (int i = 0; i < kQuads; ++i) {
    const float4 quad = quads[i];
    row[4 * i] = quad.x;
    row[4 * i + 1] = quad.y;
    row[4 * i + 2] = quad.z;
    row[4 * i + 3] = quad.w;
  }
  Geometry geometry;
#pragma unroll
  for (int t = 0; t < kRadialTerms; ++t) geometry.terms[t] = row[t];
#pragma unroll
  for (int axis = 0; axis < kAxes; ++axis) geometry.direction[axis] = row[kRadialTerms + axis];
  return geometry;
}

__device__ float Dot(const float (&terms)[kRadialTerms], const float (&weights)[kRadialTerms]) {
  float sum = 0;
#pragma unroll
  for (int t = 0; t < kRadialTerms; ++t) sum = fmaf(terms[t], weights[t], sum);
  return sum;
}

// Of one column of a part.
__device__ float WeightAt(const VectorMessageSizes& sizes, const float* weights, int part, int term,
                          int column) {
  return __ldg(weights + (std::int64_t{term} * kParts + part) * sizes.columns + column);
}

__device__ void LoadWeights(const VectorMessageSizes& sizes, const float* weights, int part, int column,
                            float (&into)[kRadialTerms]) {
#pragma unroll
  for (int t = 0; t < kRadialTerms; ++t) into[t] = WeightAt(sizes, weights, part, t, column);
}

// Elements [node, part, column] of rows of three parts, or axes.
__device__ void LoadThree(const VectorMessageSizes& sizes, const float* rows, int node, int column,
                          float (&into)[kParts]) {
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    into[part] = __ldg(rows + (std::int64_t{node} * kParts + part) * sizes.columns + column);
  }
}

__device__ void StoreThree(const VectorMessageSizes& sizes, float* rows, int node, int column,
                           const float (&from)[kParts]) {
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    rows[(std::int64_t{node} * kParts + part) * sizes.columns + column] = from[part];
  }
}

template <bool kHasVectors>
__global__ void __launch_bounds__(kThreads, kBlocksAtOnce)
    Forward(VectorMessageSizes sizes, EdgesByReceiver edges, VectorMessages messages, float* received_scalars,
            float* received_vectors) {
  __shared__ Chunk chunk;
  const auto column = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x);
  const bool inside = column < sizes.columns;
  float weights[kParts][kRadialTerms] = {};
  if (inside) {
#pragma unroll
    for (int part = 0; part < kParts; ++part) LoadWeights(sizes, messages.weights, part, column, weights[part]);
  }
  for (auto node = static_cast<int>(blockIdx.x); node < sizes.nodes; node += static_cast<int>(gridDim.x)) {
    float scalar = 0, vector[kAxes] = {};
    if (inside) {
      scalar = __ldg(messages.scalars + node * sizes.columns + column);
      if constexpr (kHasVectors) LoadThree(sizes, messages.vectors, node, column, vector);
    }
    const int end = edges.receiver_start[node + 1];
    for (int first = edges.receiver_start[node]; first < end; first += kChunkEdges) {
      const int count = min(kChunkEdges, end - first);
      Fill(chunk, count, messages.geometry,
           [&](int entry) { return make_int2(first + entry, __ldg(edges.senders + first + entry)); });
      if (!inside) continue;
#pragma unroll 2
      for (int entry = 0; entry < count; ++entry) {
        const int sender = chunk.neighbour[entry];
        float sent[kParts], before[kAxes] = {};
        LoadThree(sizes, messages.sent, sender, column, sent);
        if constexpr (kHasVectors) LoadThree(sizes, messages.vectors, sender, column, before);
        const Geometry geometry = Unpack(chunk.geometry[entry]);
        scalar = fmaf(sent[0], Dot(geometry.terms, weights[0]), scalar);
        const float scale = kHasVectors ? sent[1] * Dot(geometry.terms, weights[1]) : 0;
        const float along = sent[2] * Dot(geometry.terms, weights[2]);
#pragma unroll
        for (int axis = 0; axis < kAxes; ++axis) {
          vector[axis] = fmaf(along, geometry.direction[axis], vector[axis]);
          if constexpr (kHasVectors) vector[axis] = fmaf(scale, before[axis], vector[axis]);
        }
      }
    }
    if (!inside) continue;
    received_scalars[node * sizes.columns + column] = scalar;
    StoreThree(sizes, received_vectors, node, column, vector);
  }
}

// What the edges that a node begins bring together, for one column: with g the radial terms of an edge and d
// what is received at its end,
//   sums[k][t] = sum of p_k * g[t], with
//     p_0 = d of the scalars,
//     p_1 = (d of the vectors) . vectors,
//     p_2 = (d of the vectors) . direction;
//   scaled = sum of (d of the vectors) * filter_1,
// from which everything else follows, as what the node has sent is the same for all of them.
struct SenderSums {
  float sums[kParts][kRadialTerms] = {};
  float scaled[kAxes] = {};
};

template <bool kHasVectors>
__device__ void AddEdge(const Geometry& geometry, float d_scalar, const float (&d_vector)[kAxes],
                        const float (&before)[kAxes], const float (&scale_weights)[kRadialTerms],
                        SenderSums& sums) {
  float turned = 0, along = 0;
#pragma unroll
  for (int axis = 0; axis < kAxes; ++axis) {
    turned = fmaf(d_vector[axis], before[axis], turned);
    along = fmaf(d_vector[axis], geometry.direction[axis], along);
  }
  if constexpr (kHasVectors) {
    const float filter = Dot(geometry.terms, scale_weights);
#pragma unroll
    for (int axis = 0; axis < kAxes; ++axis)
      sums.scaled[axis] = fmaf(d_vector[axis], filter, sums.scaled[axis]);
  }
#pragma unroll
  for (int t = 0; t < kRadialTerms; ++t) {
    sums.sums[0][t] = fmaf(d_scalar, geometry.terms[t], sums.sums[0][t]);
    if constexpr (kHasVectors) sums.sums[1][t] = fmaf(turned, geometry.terms[t], sums.sums[1][t]);
    sums.sums[2][t] = fmaf(along, geometry.terms[t], sums.sums[2][t]);
  }
}

// Of a block, for each part, term and column of it.
constexpr int kPartialRows = kParts * kRadialTerms;
using PartialRows = float[kPartialRows][kThreads];

template <bool kHasVectors>
__global__ void __launch_bounds__(kThreads, kBlocksAtOnce)
    Backward(VectorMessageSizes sizes, EdgesBySender edges, VectorMessages messages,
             VectorMessageGradients gradients) {
  __shared__ Chunk chunk;
  extern __shared__ float partial_memory[];
  auto& partial = *reinterpret_cast<PartialRows*>(partial_memory);  // a thread reads and writes its own column
  const auto column = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x);
  const bool inside = column < sizes.columns;
  for (int row = 0; row < kPartialRows; ++row) partial[row][threadIdx.x] = 0;
  float scale_weights[kRadialTerms] = {};
  if (kHasVectors && inside) LoadWeights(sizes, messages.weights, 1, column, scale_weights);
  const int real_nodes = edges.real[1];
  for (auto node = static_cast<int>(blockIdx.x); node < sizes.nodes; node += static_cast<int>(gridDim.x)) {
    const bool is_real = node < real_nodes;
    SenderSums sums;
    float before[kAxes] = {};
    if (kHasVectors && inside && is_real) LoadThree(sizes, messages.vectors, node, column, before);
    const int end = edges.sender_start[node + 1];
    for (int first = edges.sender_start[node]; first < end; first += kChunkEdges) {
      const int count = min(kChunkEdges, end - first);
      Fill(chunk, count, messages.geometry, [&](int entry) {
        const int edge = __ldg(edges.by_sender + first + entry);
        return make_int2(edge, __ldg(edges.receivers + edge));
      });
      if (!inside) continue;
      for (int entry = 0; entry < count; ++entry) {
        const int receiver = chunk.neighbour[entry];
        float d_vector[kAxes];
        const float d_scalar = __ldg(gradients.d_received_scalars + receiver * sizes.columns + column);
        LoadThree(sizes, gradients.d_received_vectors, receiver, column, d_vector);
        AddEdge<kHasVectors>(Unpack(chunk.geometry[entry]), d_scalar, d_vector, before, scale_weights, sums);
      }
    }
    if (!inside) continue;
    float sent[kParts] = {}, d_sent[kParts] = {};
    if (is_real) LoadThree(sizes, messages.sent, node, column, sent);
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      if (part == 1 && !kHasVectors) continue;
#pragma unroll
      for (int t = 0; t < kRadialTerms; ++t) {
        const float sum = sums.sums[part][t];
        d_sent[part] = fmaf(WeightAt(sizes, messages.weights, part, t, column), sum, d_sent[part]);
        partial[part * kRadialTerms + t][threadIdx.x] += sent[part] * sum;
      }
    }
    StoreThree(sizes, gradients.d_sent, node, column, d_sent);
    if constexpr (kHasVectors) {
      float d_vector[kAxes];
      LoadThree(sizes, gradients.d_received_vectors, node, column, d_vector);
#pragma unroll
      for (int axis = 0; axis < kAxes; ++axis)
        d_vector[axis] = fmaf(sent[1], sums.scaled[axis], d_vector[axis]);
      StoreThree(sizes, gradients.d_vectors, node, column, d_vector);
    }
  }
  if (!inside) return;
  for (int row = 0; row < kPartialRows; ++row) {
    gradients.partial_weights[(std::int64_t{blockIdx.x} * kPartialRows + row) * sizes.columns + column] =
        partial[row][threadIdx.x];
  }
}

// Threads of one column each side by side, and slices of the blocks below each other.
constexpr unsigned kSumColumns = 32;
constexpr unsigned kSumSlices = 8;

__global__ void __launch_bounds__(kSumColumns* kSumSlices)
    AddPartials(VectorMessageSizes sizes, int blocks, const float* partial_weights, float* d_weights) {
  __shared__ float slices[kSumSlices][kSumColumns];
  const auto column = static_cast<int>(blockIdx.x * kSumColumns + threadIdx.x);
  const auto row = static_cast<int>(blockIdx.y);
  const bool inside = column < sizes.columns;
  float sum = 0;
  for (auto block = static_cast<int>(threadIdx.y); inside && block < blocks; block += kSumSlices) {
    sum += partial_weights[(std::int64_t{block} * kPartialRows + row) * sizes.columns + column];
  }
  slices[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0 || !inside) return;
  for (unsigned slice = 1; slice < kSumSlices; ++slice) sum += slices[slice][threadIdx.x];
  const int part = row / kRadialTerms, term = row % kRadialTerms;
  d_weights[(std::int64_t{term} * kParts + part) * sizes.columns + column] = sum;
}

dim3 BlocksOf(const VectorMessageSizes& sizes) {
  const auto strips = static_cast<unsigned>((sizes.columns + kThreads - 1) / kThreads);
  const unsigned most = std::max(1u, kMaxBlocks / strips);
  return {static_cast<unsigned>(std::min<std::int64_t>(sizes.nodes, most)), strips};
}

}  // namespace

std::int64_t PartialWeights(const VectorMessageSizes& sizes) {
  return std::int64_t{BlocksOf(sizes).x} * kPartialRows * sizes.columns;
}

cudaError_t EnqueueReceiveMessages(const VectorMessageSizes& sizes, const EdgesByReceiver& edges,
                                   const VectorMessages& messages, float* received_scalars,
                                   float* received_vectors, cudaStream_t stream) {
  if (sizes.nodes == 0 || sizes.columns == 0) return cudaSuccess;
  const auto forward = messages.vectors == nullptr ? Forward<false> : Forward<true>;
  forward<<<BlocksOf(sizes), kThreads, 0, stream>>>(sizes, edges, messages, received_scalars, received_vectors);
  return cudaGetLastError();
}

cudaError_t EnqueueReceiveMessagesBackward(const VectorMessageSizes& sizes, const EdgesBySender& edges,
                                           const VectorMessages& messages,
                                           const VectorMessageGradients& gradients, cudaStream_t stream) {
  if (sizes.columns == 0) return cudaSuccess;
  const dim3 blocks = BlocksOf(sizes);
  if (blocks.x > 0) {
    const auto backward = messages.vectors == nullptr ? Backward<false> : Backward<true>;
    const cudaError_t allowed = cudaFuncSetAttribute(backward, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                     static_cast<int>(sizeof(PartialRows)));
    if (allowed != cudaSuccess) return allowed;
    backward<<<blocks, kThreads, sizeof(PartialRows), stream>>>(sizes, edges, messages, gradients);
  }
  const dim3 sums(static_cast<unsigned>((sizes.columns + kSumColumns - 1) / kSumColumns), kPartialRows);
  AddPartials<<<sums, dim3(kSumColumns, kSumSlices), 0, stream>>>(
      sizes, static_cast<int>(blocks.x), gradients.partial_weights, gradients.d_weights);
  return cudaGetLastError();
}

}  // namespace packtrain::trainer
