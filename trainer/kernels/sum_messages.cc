#include "trainer/kernels/sum_messages.h"

#include <torch/types.h>

namespace packtrain::trainer {

at::Tensor SumMessages(const at::Tensor& nodes, const at::Tensor& filter, const GraphTensors& graphs,
                       KernelForm form) {
  if constexpr (kHasFusedForms) {
    if (form == KernelForm::kFused) return FusedSumMessages(nodes, filter, graphs);
  }
  const at::Tensor messages = nodes.index_select(0, graphs.senders) * filter;
  return at::zeros_like(nodes).index_add_(0, graphs.receivers, messages);
}

}  // namespace packtrain::trainer
