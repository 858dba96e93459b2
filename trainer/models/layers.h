// Layers that several models have.
#ifndef PACKTRAIN_TRAINER_MODELS_LAYERS_H_
#define PACKTRAIN_TRAINER_MODELS_LAYERS_H_

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <string>

#include "trainer/data/graph_tensors.h"
#include "trainer/kernels/kernel_form.h"
#include "trainer/models/parameter_maker.h"

namespace packtrain::trainer {

// x W + b.
struct Linear {
  at::Tensor weights;  // [in, out]
  at::Tensor bias;     // [out]

  at::Tensor operator()(const at::Tensor& x) const;  // [rows, in] -> [rows, out]
};
Linear MakeLinear(ParameterMaker& make, const std::string& name, std::int64_t in, std::int64_t out);

// ssp(x W) V, where ssp is the shifted softplus.
struct Mlp {
  at::Tensor first;   // W [in, middle]
  at::Tensor second;  // V [middle, out]

  at::Tensor operator()(const at::Tensor& x, KernelForm kernels) const;
};

// The distances of edges as 150 Gaussians of width 0.1 square angstrom, with centres every 0.1 angstrom from 0
// on.
class DistanceBasis {
 public:
  static constexpr std::int64_t kGaussians = 150;
  static constexpr double kSpacing = 0.1;  // angstrom, between neighbouring centres
  static constexpr double kWidth = 0.1;    // square angstrom

  // Registers its constants with `module`. Values are of `edge_type`; in bf16 there are further Gaussians, so
  // that rows are of the size that tensor cores take fastest.
  DistanceBasis(torch::nn::Module& module, at::ScalarType edge_type);

  // [E, Gaussians], of `distances` [E, 1] in angstrom.
  at::Tensor Expand(const at::Tensor& distances, KernelForm kernels) const;

  // What multiplies these values: `weights` [150, C], with rows of zeros for further Gaussians.
  at::Tensor Widen(const at::Tensor& weights) const;

 private:
  const at::ScalarType edge_type_;
  at::Tensor centres_;  // [Gaussians]
  at::Tensor zeros_;    // [Gaussians - 150, 1]
};

// An interaction of SchNet (arXiv 1706.08566): neighbours, filtered by what the edge is like.
struct Interaction {
  at::Tensor filter_in;   // W1 [edge, C]
  at::Tensor filter_out;  // W2 [C, C]
  at::Tensor message;     // W3 [C, C]
  Mlp update;             // W4, W5 [C, C]

  // The filters [E, C] of edges. `hidden` [E, C] is ssp(e W1) of their states e.
  at::Tensor Filters(const at::Tensor& hidden, KernelForm kernels) const;

  // The states of the nodes, f32 [N, C], after it. `filters` [E, C] are those of the edges.
  at::Tensor operator()(const at::Tensor& nodes, const at::Tensor& filters, const GraphTensors& graphs,
                        KernelForm kernels) const;
};
Interaction MakeInteraction(ParameterMaker& make, const std::string& name, std::int64_t edge,
                            std::int64_t channels);

// [G, C], of `values` [N, C].
at::Tensor MeanOverNodes(const at::Tensor& values, const GraphTensors& graphs);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_MODELS_LAYERS_H_
