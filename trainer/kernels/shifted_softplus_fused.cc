#include <torch/csrc/autograd/custom_function.h>

#include "trainer/kernels/fused_launch.h"
#include "trainer/kernels/shifted_softplus.cuh"
#include "trainer/kernels/shifted_softplus.h"

namespace packtrain::trainer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class ShiftedSoftplusFunction : public torch::autograd::Function<ShiftedSoftplusFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x_in) {
    const at::Tensor x = x_in.contiguous();
    context->save_for_backward({x});
    at::Tensor y = at::empty_like(x);
    Dispatch(x.scalar_type(), [&]<typename Element>(std::type_identity<Element>) {
      return EnqueueSoftplus(Elements<Element>(x), x.numel(), MutableElements<Element>(y), CurrentStream());
    });
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const at::Tensor x = context->get_saved_variables()[0], d_y = gradients[0].contiguous();
    at::Tensor d_x = at::empty_like(x);
    Dispatch(x.scalar_type(), [&]<typename Element>(std::type_identity<Element>) {
      return EnqueueSoftplusBackward(Elements<Element>(x), Elements<Element>(d_y), x.numel(),
                                     MutableElements<Element>(d_x), CurrentStream());
    });
    return {d_x};
  }
};

}  // namespace

at::Tensor FusedShiftedSoftplus(const at::Tensor& x) { return ShiftedSoftplusFunction::apply(x); }

}  // namespace packtrain::trainer
