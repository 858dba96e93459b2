// The launches of adam_update.cu.
#ifndef PACKTRAIN_TRAINER_ENGINE_ADAM_UPDATE_CUH_
#define PACKTRAIN_TRAINER_ENGINE_ADAM_UPDATE_CUH_

#include <cuda_runtime_api.h>

#include <cstdint>

namespace packtrain::trainer {

// Pointers to device memory; see AdamTensors for what they hold.
struct AdamUpdate {
  std::int64_t count = 0;  // parameters
  float* parameters = nullptr;
  float* mean = nullptr;
  float* square = nullptr;
  float* reduced = nullptr;
  float* steps = nullptr;
  const float* rate = nullptr;
  float* halted = nullptr;
  std::uint32_t* blocks_done = nullptr;  // 0 between updates
  double beta1 = 0, beta2 = 0, epsilon = 0;
};

// Enqueues two launches.
cudaError_t EnqueueAdam(const AdamUpdate& update, cudaStream_t stream);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_ADAM_UPDATE_CUH_
