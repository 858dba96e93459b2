#include <torch/types.h>

#include <algorithm>
#include <numbers>
#include <vector>

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
  at::Tensor Gaussians(const at::Tensor& distances, const at::Tensor& centres, double width,
                       at::ScalarType type) const override {
    return (distances - centres).square_().mul_(-1 / width).clamp_min_(-80).exp_().to(type);
  }

  at::Tensor SumMessages(const at::Tensor& nodes, const at::Tensor& filter,
                         const GraphTensors& graphs) const override {
    const at::Tensor messages = nodes.index_select(0, graphs.senders) * filter;
    return at::zeros_like(nodes).index_add_(0, graphs.receivers, messages);
  }

  at::Tensor ShiftedSoftplus(const at::Tensor& x) const override {
    const at::Tensor wide = x.scalar_type() == at::kBFloat16 ? x.to(at::kFloat) : x;
    return at::softplus(wide).sub_(std::numbers::ln2).to(x.scalar_type());
  }

  void UpdateByAdam(const AdamTensors& adam, const at::Tensor& reduced) const override {
    const at::NoGradGuard no_grad;
    const at::Tensor gradients = reduced.narrow(0, 0, adam.parameters.numel());
    const at::Tensor sums = reduced.narrow(0, adam.parameters.numel(), kStepSums);
    Halt(reduced, sums, adam.halted);
    adam.steps.add_(1).sub_(adam.halted);  // the update divides by 1 - beta^steps
    const std::vector<at::Tensor> parameters = Pieces(adam.parameters);
    at::_fused_adam_(parameters, Pieces(gradients), Pieces(adam.mean), Pieces(adam.square),
                     /*max_exp_avg_sqs=*/{}, std::vector<at::Tensor>(parameters.size(), adam.steps), adam.rate,
                     adam.beta1, adam.beta2, /*weight_decay=*/0, adam.epsilon,
                     /*amsgrad=*/false, /*maximize=*/false, /*grad_scale=*/sums[kGraphs].clamp_min(1),
                     /*found_inf=*/adam.halted);
  }

 private:
  // Torch gives each tensor of a list, up to 64 Ki elements, to one block of the GPU.
  static std::vector<at::Tensor> Pieces(const at::Tensor& flat) {
    constexpr std::int64_t kPieces = 32;
    return flat.split(std::max<std::int64_t>(1, (flat.numel() + kPieces - 1) / kPieces));
  }

  // 0 times a number that is not finite is none, and none differs from 0.
  static void Halt(const at::Tensor& reduced, const at::Tensor& sums, const at::Tensor& halted) {
    const at::Tensor halts = sums[kWithdrawals] + sums[kHalted] + halted;
    halted.copy_(at::add(halts, reduced.sum(), /*alpha=*/0).ne(0));
    sums[kHalted].copy_(halted);
  }
};

}  // namespace

const Kernels& PlainKernels() {
  static const Plain kernels;
  return kernels;
}

}  // namespace packtrain::trainer
