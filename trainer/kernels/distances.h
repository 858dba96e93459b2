// Vectors and lengths of edges.
#ifndef PACKTRAIN_TRAINER_KERNELS_DISTANCES_H_
#define PACKTRAIN_TRAINER_KERNELS_DISTANCES_H_

#include <ATen/core/Tensor.h>

#include "trainer/data/graph_tensors.h"
#include "trainer/kernels/kernel_form.h"

namespace packtrain::trainer {

// [E, 3], of the positions' type, in angstrom: from the receiver to the sender, or to the image of it that the
// edge begins in, at pos[sender] + shift * cell, where `graphs` has cells. One form for all devices.
at::Tensor EdgeVectors(const GraphTensors& graphs);

// Their lengths, [E, 1]. Both are finite for padding edges where positions and cells are, and mean nothing
// there. No gradient.
at::Tensor Distances(const GraphTensors& graphs, KernelForm form);

// The fused form, of graphs without cells; see distances_fused.cc.
at::Tensor FusedDistances(const GraphTensors& graphs);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_DISTANCES_H_
