// Sums of messages over the edges that end in each node; fused, without writing a message down.
#ifndef PACKTRAIN_TRAINER_KERNELS_SUM_MESSAGES_H_
#define PACKTRAIN_TRAINER_KERNELS_SUM_MESSAGES_H_

#include <ATen/core/Tensor.h>

#include "trainer/data/graph_tensors.h"
#include "trainer/kernels/kernel_form.h"

namespace packtrain::trainer {

// f32 [N, C], for each node the sum of nodes[sender] * filter over the edges that end in it; `nodes` f32 [N,
// C], `filter` [E, C] of f32 or bf16. Products and sums are of f32. Rows of padding nodes are finite where
// `nodes` and `filter` are, and mean nothing. Gradients for both, of their types.
at::Tensor SumMessages(const at::Tensor& nodes, const at::Tensor& filter, const GraphTensors& graphs,
                       KernelForm form);

// The fused form with its gradient; see sum_messages_fused.cc.
at::Tensor FusedSumMessages(const at::Tensor& nodes, const at::Tensor& filter, const GraphTensors& graphs);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_SUM_MESSAGES_H_
