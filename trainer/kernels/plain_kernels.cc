#include <torch/types.h>

#include <numbers>

#include "trainer/kernels/kernels.h"

namespace packtrain::trainer {
namespace {

class Plain final : public Kernels {
 public:
  at::Tensor Distances(const GraphTensors& graphs) const override {
    const at::Tensor difference =
        graphs.positions.index_select(0, graphs.senders) - graphs.positions.index_select(0, graphs.receivers);
    return difference.square().sum(1, /*keepdim=*/true).sqrt();
  }

  // Below e^-80 is far below f32's resolution of the sums that a Gaussian enters, and exp is slow where its
  // result is no normal number.
  at::Tensor Gaussians(const at::Tensor& distances, const at::Tensor& centres, double width) const override {
    return (distances - centres).square_().mul_(-1 / width).clamp_min_(-80).exp_();
  }

  at::Tensor SumMessages(const at::Tensor& nodes, const at::Tensor& filter,
                         const GraphTensors& graphs) const override {
    const at::Tensor messages = nodes.index_select(0, graphs.senders) * filter;
    return at::zeros_like(nodes).index_add_(0, graphs.receivers, messages);
  }

  at::Tensor ShiftedSoftplus(const at::Tensor& x) const override {
    return at::softplus(x).sub_(std::numbers::ln2);
  }
};

}  // namespace

const Kernels& PlainKernels() {
  static const Plain kernels;
  return kernels;
}

}  // namespace packtrain::trainer
