// What the fused forms share: how a launch gets its stream and pointers from tensors. For CUDA builds.
#ifndef PACKTRAIN_TRAINER_KERNELS_FUSED_LAUNCH_H_
#define PACKTRAIN_TRAINER_KERNELS_FUSED_LAUNCH_H_

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_bf16.h>
#include <torch/types.h>

#include <cstdint>
#include <type_traits>

#include "trainer/kernels/side_stream.cuh"

namespace packtrain::trainer {

inline cudaStream_t CurrentStream() { return c10::cuda::getCurrentCUDAStream(); }
// The current stream, and another one of its device out of Torch's pool, which other work may share.
inline StreamPair CurrentStreamWithSide() {
  const c10::cuda::CUDAStream main = c10::cuda::getCurrentCUDAStream();
  c10::cuda::CUDAStream side = c10::cuda::getStreamFromPool();
  while (side == main) side = c10::cuda::getStreamFromPool();
  return {main, side};
}

inline const float* Floats(const at::Tensor& tensor) { return tensor.const_data_ptr<float>(); }
inline float* MutableFloats(const at::Tensor& tensor) { return tensor.mutable_data_ptr<float>(); }
inline const std::int32_t* Integers(const at::Tensor& tensor) { return tensor.const_data_ptr<std::int32_t>(); }

// Of edge-sized data, whose elements are float or __nv_bfloat16.
template <typename Element>
const Element* Elements(const at::Tensor& tensor) {
  return static_cast<const Element*>(tensor.const_data_ptr());
}
template <typename Element>
Element* MutableElements(const at::Tensor& tensor) {
  return static_cast<Element*>(tensor.mutable_data_ptr());
}

// Calls `enqueue` with the kernels' type for `type`, as std::type_identity. Throws where there is no such
// kernel, or where the launch fails.
template <typename Enqueue>
void Dispatch(at::ScalarType type, Enqueue enqueue) {
  TORCH_CHECK(type == at::kFloat || type == at::kBFloat16, "no kernel for edge-sized data of type ", type);
  C10_CUDA_CHECK(type == at::kFloat ? enqueue(std::type_identity<float>())
                                    : enqueue(std::type_identity<__nv_bfloat16>()));
}

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_FUSED_LAUNCH_H_
