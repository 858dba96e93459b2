#include "trainer/models/layers.h"

#include <torch/types.h>

#include "trainer/kernels/edge_product.h"
#include "trainer/kernels/gaussians.h"
#include "trainer/kernels/shifted_softplus.h"
#include "trainer/kernels/sum_messages.h"

namespace packtrain::trainer {
namespace {

// In bf16, as tensor cores are fed fastest with rows of a multiple of 16 bytes; those after the 150th have no
// weight.
constexpr std::int64_t kShortGaussians = 152;

}  // namespace

at::Tensor Linear::operator()(const at::Tensor& x) const { return at::addmm(bias, x, weights); }

Linear MakeLinear(ParameterMaker& make, const std::string& name, std::int64_t in, std::int64_t out) {
  Linear linear;
  linear.weights = make.Matrix(name + ".weights", in, out);
  linear.bias = make.Bias(name + ".bias", out);
  return linear;
}

at::Tensor Mlp::operator()(const at::Tensor& x, KernelForm kernels) const {
  return ShiftedSoftplus(x.mm(first), kernels).mm(second);
}

DistanceBasis::DistanceBasis(torch::nn::Module& module, at::ScalarType edge_type) : edge_type_(edge_type) {
  const std::int64_t gaussians = edge_type_ == at::kBFloat16 ? kShortGaussians : kGaussians;
  centres_ = module.register_buffer("centres", at::arange(gaussians, at::kFloat) * kSpacing);
  zeros_ = module.register_buffer("no_weights", at::zeros({gaussians - kGaussians, 1}));
}

at::Tensor DistanceBasis::Expand(const at::Tensor& distances, KernelForm kernels) const {
  return Gaussians(distances, centres_, {.width = kWidth, .type = edge_type_, .form = kernels});
}

at::Tensor DistanceBasis::Widen(const at::Tensor& weights) const {
  return zeros_.size(0) == 0 ? weights : at::cat({weights, zeros_.expand({-1, weights.size(1)})});
}

at::Tensor Interaction::Filters(const at::Tensor& hidden, KernelForm kernels) const {
  return ShiftedSoftplus(EdgeProduct(hidden, filter_out), kernels);
}

at::Tensor Interaction::operator()(const at::Tensor& nodes, const at::Tensor& filters,
                                   const GraphTensors& graphs, KernelForm kernels) const {
  const at::Tensor sums = SumMessages(nodes.mm(message), filters, graphs, kernels);
  return nodes + update(sums / graphs.in_degree, kernels);
}

Interaction MakeInteraction(ParameterMaker& make, const std::string& name, std::int64_t edge,
                            std::int64_t channels) {
  Interaction layer;
  layer.filter_in = make.Matrix(name + ".W1", edge, channels);
  layer.filter_out = make.Matrix(name + ".W2", channels, channels);
  layer.message = make.Matrix(name + ".W3", channels, channels);
  layer.update.first = make.Matrix(name + ".W4", channels, channels);
  layer.update.second = make.Matrix(name + ".W5", channels, channels);
  return layer;
}

at::Tensor MeanOverNodes(const at::Tensor& values, const GraphTensors& graphs) {
  const at::Tensor sums = at::zeros({graphs.n_node.size(0), values.size(1)}, values.options());
  return sums.index_add_(0, graphs.graph_of_node, values) / graphs.n_node.clamp_min(1).unsqueeze(1);
}

}  // namespace packtrain::trainer
