#include "trainer/engine/adam_update.h"

#include <torch/types.h>

#include <algorithm>
#include <vector>

namespace packtrain::trainer {
namespace {

// Torch gives each tensor of a list, up to 64 Ki elements, to one block of the GPU.
std::vector<at::Tensor> Pieces(const at::Tensor& flat) {
  constexpr std::int64_t kPieces = 32;
  return flat.split(std::max<std::int64_t>(1, (flat.numel() + kPieces - 1) / kPieces));
}

// 0 times a number that is not finite is none, and none differs from 0.
void Halt(const at::Tensor& reduced, const at::Tensor& sums, const at::Tensor& halted) {
  const at::Tensor halts = sums[kWithdrawals] + sums[kHalted] + halted;
  halted.copy_(at::add(halts, reduced.sum(), /*alpha=*/0).ne(0));
  sums[kHalted].copy_(halted);
}

void PlainUpdateByAdam(const AdamTensors& adam, const at::Tensor& reduced) {
  const at::NoGradGuard no_grad;
  const at::Tensor gradients = reduced.narrow(0, 0, adam.parameters.numel());
  const at::Tensor sums = reduced.narrow(0, adam.parameters.numel(), kStepSums);
  Halt(reduced, sums, adam.halted);
  adam.steps.add_(1).sub_(adam.halted);  // the update divides by 1 - beta^steps
  const std::vector<at::Tensor> parameters = Pieces(adam.parameters);
  // Its scale and its flag are of f32, whatever the parameters are of.
  at::_fused_adam_(parameters, Pieces(gradients), Pieces(adam.mean), Pieces(adam.square),
                   /*max_exp_avg_sqs=*/{}, std::vector<at::Tensor>(parameters.size(), adam.steps), adam.rate,
                   adam.beta1, adam.beta2, /*weight_decay=*/0, adam.epsilon,
                   /*amsgrad=*/false, /*maximize=*/false,
                   /*grad_scale=*/sums[kTerms].clamp_min(1).to(at::kFloat),
                   /*found_inf=*/adam.halted.to(at::kFloat));
}

}  // namespace

void UpdateByAdam(const AdamTensors& adam, const at::Tensor& reduced, KernelForm form) {
  if constexpr (kHasFusedForms) {
    if (form == KernelForm::kFused) return FusedUpdateByAdam(adam, reduced);
  }
  PlainUpdateByAdam(adam, reduced);
}

}  // namespace packtrain::trainer
