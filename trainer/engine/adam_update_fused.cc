#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/types.h>

#include "trainer/engine/adam_update.cuh"
#include "trainer/engine/adam_update.h"

namespace packtrain::trainer {

void FusedUpdateByAdam(const AdamTensors& adam, const at::Tensor& reduced) {
  const AdamUpdate update = {
      .count = adam.parameters.numel(),
      .parameters = adam.parameters.mutable_data_ptr<float>(),
      .mean = adam.mean.mutable_data_ptr<float>(),
      .square = adam.square.mutable_data_ptr<float>(),
      .reduced = reduced.mutable_data_ptr<float>(),
      .steps = adam.steps.mutable_data_ptr<float>(),
      .rate = adam.rate.const_data_ptr<float>(),
      .halted = adam.halted.mutable_data_ptr<float>(),
      .blocks_done = reinterpret_cast<std::uint32_t*>(adam.scratch.mutable_data_ptr<std::int32_t>()),
      .beta1 = adam.beta1,
      .beta2 = adam.beta2,
      .epsilon = adam.epsilon};
  C10_CUDA_CHECK(EnqueueAdam(update, c10::cuda::getCurrentCUDAStream()));
}

}  // namespace packtrain::trainer
