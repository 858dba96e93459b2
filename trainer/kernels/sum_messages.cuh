// The launches of sum_messages.cu.
#ifndef PACKTRAIN_TRAINER_KERNELS_SUM_MESSAGES_CUH_
#define PACKTRAIN_TRAINER_KERNELS_SUM_MESSAGES_CUH_

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/edge_orders.cuh"

namespace packtrain::trainer {

// The padded sizes; a node and an edge have rows of C = `columns` elements.
struct MessageSizes {
  std::int64_t nodes = 0;
  std::int64_t edges = 0;
  std::int64_t columns = 0;
};

// What is summed and its gradient, in device memory. Rows of padding edges of `filter`, and of padding nodes
// of `nodes` and `d_sums`, are not read. Element: float or __nv_bfloat16; products and sums are of f32.
template <typename Element>
struct Messages {
  const float* nodes = nullptr;     // [nodes, C]
  const Element* filter = nullptr;  // [edges, C]
  const float* d_sums = nullptr;    // [nodes, C], read by the backward pass alone
};

// Each enqueues one launch and writes all of its results, of whatever memory: 0 for padding. The order of
// additions follows from the sizes alone. Nothing is atomic.

// sums[r] [nodes, C] = sum over the edges e that end in r of nodes[sender of e] * filter[e].
template <typename Element>
cudaError_t EnqueueSumMessages(const MessageSizes& sizes, const EdgesByReceiver& edges,
                               const Messages<Element>& messages, float* sums, cudaStream_t stream);

// d_filter[e] [edges, C] = d_sums[receiver of e] * nodes[sender of e];
// d_nodes[s] [nodes, C] = sum over the edges e that begin in s of d_sums[receiver of e] * filter[e].
template <typename Element>
cudaError_t EnqueueSumMessagesBackward(const MessageSizes& sizes, const EdgesBySender& edges,
                                       const Messages<Element>& messages, float* d_nodes, Element* d_filter,
                                       cudaStream_t stream);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_SUM_MESSAGES_CUH_
