#include "trainer/kernels/edge_product.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

namespace packtrain::trainer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// f32, of bf16 [E, K] and [E, C]. Only cuBLAS gives f32 of factors in bf16.
at::Tensor WeightGradient(const at::Tensor& x, const at::Tensor& d_y) {
  if (x.is_cuda()) return at::mm(x.t(), d_y, at::kFloat);
  return x.t().to(at::kFloat).mm(d_y.to(at::kFloat));
}

class ShortProduct : public torch::autograd::Function<ShortProduct> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weights) {
    const at::Tensor rounded = weights.to(x.scalar_type());
    context->save_for_backward({x, rounded});
    return x.mm(rounded);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &rounded = saved[1], &d_y = gradients[0];
    const at::Tensor d_x = context->needs_input_grad(0) ? d_y.mm(rounded.t()) : at::Tensor();
    return {d_x, WeightGradient(x, d_y)};
  }
};

}  // namespace

at::Tensor EdgeProduct(const at::Tensor& x, const at::Tensor& weights) {
  return x.scalar_type() == weights.scalar_type() ? x.mm(weights) : ShortProduct::apply(x, weights);
}

}  // namespace packtrain::trainer
