// The operations of models that have kernels of our own on a GPU.
#ifndef PACKTRAIN_TRAINER_KERNELS_KERNELS_H_
#define PACKTRAIN_TRAINER_KERNELS_KERNELS_H_

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include "trainer/data/graph_tensors.h"
#include "trainer/kernels/step_sums.h"

namespace packtrain::trainer {

// What an update of Adam (arXiv 1412.6980) reads and writes: f32, contiguous, on one device, P parameters.
struct AdamTensors {
  at::Tensor parameters;  // [P]
  at::Tensor mean;        // [P], running, of the gradients
  at::Tensor square;      // [P], running, of their squares
  at::Tensor steps;       // scalar, updates made
  at::Tensor rate;        // scalar, learning rate
  at::Tensor halted;      // scalar, 1 once no update is made any more; until then 0
  at::Tensor scratch;     // i32 scalar, 0
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

// Rows of padding edges and nodes are finite where what they are made of is, and mean nothing. Edge-sized data
// is f32 or bf16; what is made of bf16 is computed in f32 and rounded once, if at all. No state: any thread may
// call them.
class Kernels {
 public:
  virtual ~Kernels() = default;

  // f32 [E, 1], lengths of the edges in angstrom. No gradient.
  virtual at::Tensor Distances(const GraphTensors& graphs) const = 0;

  // [E, K] of `type`, exp(-(d - c)^2 / width) of each distance d of [E, 1] and centre c of [K]; what is below
  // e^-80 is held there. No gradient.
  virtual at::Tensor Gaussians(const at::Tensor& distances, const at::Tensor& centres, double width,
                               at::ScalarType type) const = 0;

  // f32 [N, C], for each node the sum of nodes[sender] * filter over the edges that end in it; `nodes` f32
  // [N, C], `filter` [E, C]. Gradients for both, of their types.
  virtual at::Tensor SumMessages(const at::Tensor& nodes, const at::Tensor& filter,
                                 const GraphTensors& graphs) const = 0;

  // ln(1 + e^x) - ln 2 of each element.
  virtual at::Tensor ShiftedSoftplus(const at::Tensor& x) const = 0;

  // Updates by `reduced`, [P + kStepSums]: the gradient's sum over all graphs, and the sums of the step. It
  // halts, and changes no parameter from then on, where a rank has withdrawn or halted or an element of
  // `reduced` is not finite. Leaves the mean gradient, and in the last element whether it has halted.
  virtual void UpdateByAdam(const AdamTensors& adam, const at::Tensor& reduced) const = 0;
};

// Of Torch's operators, on any device and for any floating-point type: what the fused ones are held against.
const Kernels& PlainKernels();

// CUDA kernels, of packtrain-trainer-cuda alone, on the current stream. They read the real sizes on the device,
// so padding costs next to nothing; equal inputs give equal bits.
const Kernels& FusedKernels();

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_KERNELS_H_
