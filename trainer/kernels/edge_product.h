// Products of edge-sized data with parameters.
#ifndef PACKTRAIN_TRAINER_KERNELS_EDGE_PRODUCT_H_
#define PACKTRAIN_TRAINER_KERNELS_EDGE_PRODUCT_H_

#include <ATen/core/Tensor.h>

namespace packtrain::trainer {

// x [E, K] times `weights` [K, C]: [E, C] of x's type, added up in f32 or wider. Of bf16 by f32 weights, these
// are rounded to bf16 on the way in, and their gradient is f32, never rounded to bf16. Any other two have one
// type.
at::Tensor EdgeProduct(const at::Tensor& x, const at::Tensor& weights);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_EDGE_PRODUCT_H_
