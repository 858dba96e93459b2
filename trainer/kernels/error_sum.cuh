// The launch of error_sum.cu.
#ifndef PACKTRAIN_TRAINER_KERNELS_ERROR_SUM_CUH_
#define PACKTRAIN_TRAINER_KERNELS_ERROR_SUM_CUH_

#include <cuda_runtime_api.h>

namespace packtrain::trainer {

// Of `count` elements each.
struct ErrorTerms {
  int count = 0;
  const float* outputs = nullptr;
  const float* targets = nullptr;
  const float* weights = nullptr;
};

// In device memory.
struct ErrorSums {
  float* sum = nullptr;
  float* terms = nullptr;
  float* slopes = nullptr;  // [count], the gradient of `sum` by the outputs
};

// Writes all of `out`. The order of additions follows from the count alone.
cudaError_t EnqueueSumErrors(const ErrorTerms& in, bool squared, const ErrorSums& out, cudaStream_t stream);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_ERROR_SUM_CUH_
