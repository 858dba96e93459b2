// Messages between nodes that have vectors, as PaiNN sends them; fused, without writing a filter or a message
// down. In the plain form, what is f32 may be f64, all of it.
#ifndef PACKTRAIN_TRAINER_KERNELS_VECTOR_MESSAGES_H_
#define PACKTRAIN_TRAINER_KERNELS_VECTOR_MESSAGES_H_

#include <ATen/core/Tensor.h>

#include "trainer/data/graph_tensors.h"
#include "trainer/kernels/kernel_form.h"

namespace packtrain::trainer {

// States of the nodes.
struct VectorStates {
  at::Tensor scalars;  // f32 [N, C]
  at::Tensor vectors;  // f32 [N, 3, C]; undefined where all are 0
};

// What messages read of the edges, the same in every layer. It has no gradient.
struct EdgeGeometry {
  at::Tensor radial;      // [E, K] of f32 or bf16: functions of the distance
  at::Tensor directions;  // f32 [E, 3], of length 1 from the receiver to the sender
  at::Tensor rows;        // f32 [E, K + 3], both side by side; of the fused form alone
};

// `form` is that of the messages. The fused form takes K of kFusedRadialTerms.
inline constexpr std::int64_t kFusedRadialTerms = 21;
EdgeGeometry MakeEdgeGeometry(const at::Tensor& radial, const at::Tensor& directions, KernelForm form);

// The states with the sum of what the edges e that end in each node bring, s being the sender of e:
//
//   to the scalars  sent_0[s] * filter_0[e]
//   to the vectors  vectors[s] * sent_1[s] * filter_1[e] + directions[e] * sent_2[s] * filter_2[e]
//
// `sent` f32 [N, 3C] is sent_0, sent_1, sent_2 side by side, and so is filter = radial * weights, by `weights`
// f32 [K, 3C]. Rows of padding nodes are finite where all inputs are, and mean nothing. Gradients for states,
// `sent` and `weights`. Source: arXiv 2102.03150, equations 7 and 8.
VectorStates ReceiveMessages(const VectorStates& states, const at::Tensor& sent, const at::Tensor& weights,
                             const EdgeGeometry& edges, const GraphTensors& graphs, KernelForm form);

// The fused form with its gradient; see vector_messages_fused.cc.
VectorStates FusedReceiveMessages(const VectorStates& states, const at::Tensor& sent, const at::Tensor& weights,
                                  const EdgeGeometry& edges, const GraphTensors& graphs);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_VECTOR_MESSAGES_H_
