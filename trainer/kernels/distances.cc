#include "trainer/kernels/distances.h"

#include <torch/types.h>

namespace packtrain::trainer {

at::Tensor Distances(const GraphTensors& graphs, KernelForm form) {
  if constexpr (kHasFusedForms) {
    if (form == KernelForm::kFused) return FusedDistances(graphs);
  }
  const at::Tensor difference =
      graphs.positions.index_select(0, graphs.senders) - graphs.positions.index_select(0, graphs.receivers);
  return difference.square().sum(1, /*keepdim=*/true).sqrt();
}

}  // namespace packtrain::trainer
