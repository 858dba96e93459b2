#include <torch/csrc/autograd/custom_function.h>

#include "trainer/kernels/error_sum.cuh"
#include "trainer/kernels/error_sum.h"
#include "trainer/kernels/fused_launch.h"

namespace packtrain::trainer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class SumErrorsFunction : public torch::autograd::Function<SumErrorsFunction> {
 public:
  static variable_list forward(AutogradContext* context, const at::Tensor& outputs_in,
                               const at::Tensor& targets_in, const at::Tensor& weights_in, bool squared) {
    const at::Tensor outputs = outputs_in.contiguous(), targets = targets_in.contiguous();
    const at::Tensor weights = weights_in.contiguous();
    TORCH_CHECK(outputs.sizes() == targets.sizes() && outputs.sizes() == weights.sizes(),
                "outputs, targets and weights differ in shape");
    at::Tensor sum = at::empty({}, outputs.options()), terms = at::empty({}, outputs.options());
    at::Tensor slopes = at::empty_like(outputs);
    C10_CUDA_CHECK(EnqueueSumErrors(
        {.count = static_cast<int>(outputs.numel()),
         .outputs = Floats(outputs),
         .targets = Floats(targets),
         .weights = Floats(weights)},
        squared, {.sum = MutableFloats(sum), .terms = MutableFloats(terms), .slopes = MutableFloats(slopes)},
        CurrentStream()));
    context->save_for_backward({slopes});
    context->mark_non_differentiable({terms});
    return {sum, terms};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const at::Tensor none;
    return {context->get_saved_variables()[0] * gradients[0], none, none, none};
  }
};

}  // namespace

SummedErrors FusedSumErrors(const at::Tensor& outputs, const at::Tensor& targets, const at::Tensor& weights,
                            ErrorKind kind) {
  const variable_list sums = SumErrorsFunction::apply(outputs, targets, weights, kind == ErrorKind::kSquared);
  return {.sum = sums[0], .terms = sums[1]};
}

}  // namespace packtrain::trainer
