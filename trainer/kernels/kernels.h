// The operations of models that have kernels of our own on a GPU.
#ifndef PACKTRAIN_TRAINER_KERNELS_KERNELS_H_
#define PACKTRAIN_TRAINER_KERNELS_KERNELS_H_

#include <ATen/core/Tensor.h>

#include "trainer/data/graph_tensors.h"

namespace packtrain::trainer {

// Rows of padding edges and nodes are finite where what they are made of is, and mean nothing. No state: any
// thread may call them.
class Kernels {
 public:
  virtual ~Kernels() = default;

  // f32 [E, 1], lengths of the edges in angstrom. No gradient.
  virtual at::Tensor Distances(const GraphTensors& graphs) const = 0;

  // f32 [E, K], exp(-(d - c)^2 / width) of each distance d of [E, 1] and centre c of [K]; what is below e^-80
  // is held there. No gradient.
  virtual at::Tensor Gaussians(const at::Tensor& distances, const at::Tensor& centres, double width) const = 0;

  // f32 [N, C], for each node the sum of nodes[sender] * filter over the edges that end in it; `nodes` [N, C],
  // `filter` [E, C]. Gradients for both.
  virtual at::Tensor SumMessages(const at::Tensor& nodes, const at::Tensor& filter,
                                 const GraphTensors& graphs) const = 0;

  // ln(1 + e^x) - ln 2 of each element.
  virtual at::Tensor ShiftedSoftplus(const at::Tensor& x) const = 0;
};

// Of Torch's operators, on any device and for any floating-point type: what the fused ones are held against.
const Kernels& PlainKernels();

// CUDA kernels, of packtrain-trainer-cuda alone, on the current stream. They read the real sizes on the device,
// so padding costs next to nothing; equal inputs give equal bits. f32 only.
const Kernels& FusedKernels();

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_KERNELS_H_
