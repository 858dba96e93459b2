// Lengths of edges.
#ifndef PACKTRAIN_TRAINER_KERNELS_DISTANCES_H_
#define PACKTRAIN_TRAINER_KERNELS_DISTANCES_H_

#include <ATen/core/Tensor.h>

#include "trainer/data/graph_tensors.h"
#include "trainer/kernels/kernel_form.h"

namespace packtrain::trainer {

// f32 [E, 1], in angstrom. Those of padding edges are finite where positions are, and mean nothing. No
// gradient.
at::Tensor Distances(const GraphTensors& graphs, KernelForm form);

// The fused form; see distances_fused.cc.
at::Tensor FusedDistances(const GraphTensors& graphs);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_DISTANCES_H_
