// The launches of vector_messages.cu.
#ifndef PACKTRAIN_TRAINER_KERNELS_VECTOR_MESSAGES_CUH_
#define PACKTRAIN_TRAINER_KERNELS_VECTOR_MESSAGES_CUH_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "trainer/kernels/edge_orders.cuh"

namespace packtrain::trainer {

inline constexpr int kRadialTerms = 21;
// Of a row of EdgeGeometry::rows: the radial terms and the direction.
inline constexpr int kGeometryColumns = kRadialTerms + 3;

// The padded sizes; C = `columns`, and E is the number of edges.
struct VectorMessageSizes {
  std::int64_t nodes = 0;
  std::int64_t columns = 0;
};

// In device memory. Rows of padding edges are not read, and nothing depends on those of padding nodes but their
// own results.
struct VectorMessages {
  const float* scalars = nullptr;   // [nodes, C]; not read by the backward pass
  const float* vectors = nullptr;   // [nodes, 3, C]; null where all are 0
  const float* sent = nullptr;      // [nodes, 3C]
  const float* weights = nullptr;   // [kRadialTerms, 3C]
  const float* geometry = nullptr;  // [E, kGeometryColumns], from a multiple of 16 bytes on
};

// Of the results of a forward pass, and of its inputs.
struct VectorMessageGradients {
  const float* d_received_scalars = nullptr;  // [nodes, C]
  const float* d_received_vectors = nullptr;  // [nodes, 3, C]
  float* d_vectors = nullptr;                 // [nodes, 3, C]; null where `vectors` is
  float* d_sent = nullptr;                    // [nodes, 3C]; 0 for padding
  float* d_weights = nullptr;                 // [kRadialTerms, 3C]
  float* partial_weights = nullptr;           // room for PartialWeights(sizes) elements
};

// Elements of VectorMessageGradients::partial_weights.
std::int64_t PartialWeights(const VectorMessageSizes& sizes);

// Each writes all elements of its results, which may be uninitialised before. The order of additions follows
// from the sizes alone. Nothing is atomic. vector_messages.h has the formulas.

// One launch. Writes `received_scalars` [nodes, C] and `received_vectors` [nodes, 3, C].
cudaError_t EnqueueReceiveMessages(const VectorMessageSizes& sizes, const EdgesByReceiver& edges,
                                   const VectorMessages& messages, float* received_scalars,
                                   float* received_vectors, cudaStream_t stream);

// Two launches. The gradient of the scalars is that of the received ones.
cudaError_t EnqueueReceiveMessagesBackward(const VectorMessageSizes& sizes, const EdgesBySender& edges,
                                           const VectorMessages& messages,
                                           const VectorMessageGradients& gradients, cudaStream_t stream);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_VECTOR_MESSAGES_CUH_
