#include "trainer/kernels/distances.h"

#include <torch/types.h>

namespace packtrain::trainer {

// No product of matrices, whose factors have 10 bits of mantissa under tf32.
at::Tensor EdgeVectors(const GraphTensors& graphs) {
  const at::Tensor difference =
      graphs.positions.index_select(0, graphs.senders) - graphs.positions.index_select(0, graphs.receivers);
  if (!graphs.cells.defined()) return difference;
  const at::Tensor graph = graphs.graph_of_node.index_select(0, graphs.receivers);
  return difference + (graphs.shifts.unsqueeze(2) * graphs.cells.index_select(0, graph)).sum(1);
}

at::Tensor Distances(const GraphTensors& graphs, KernelForm form) {
  if constexpr (kHasFusedForms) {
    if (form == KernelForm::kFused && !graphs.cells.defined()) return FusedDistances(graphs);
  }
  return EdgeVectors(graphs).square().sum(1, /*keepdim=*/true).sqrt();
}

}  // namespace packtrain::trainer
