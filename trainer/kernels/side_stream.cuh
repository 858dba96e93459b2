// Launches that run beside each other. For what enqueues several kernels.
#ifndef PACKTRAIN_TRAINER_KERNELS_SIDE_STREAM_CUH_
#define PACKTRAIN_TRAINER_KERNELS_SIDE_STREAM_CUH_

#include <cuda_runtime_api.h>

namespace packtrain::trainer {

// Two streams of one device. What is freed behind the last Join is no longer in use on `side`. Both calls may
// be captured.
struct StreamPair {
  cudaStream_t main = nullptr;
  cudaStream_t side = nullptr;

  // What `side` gets from now on begins behind what `main` has.
  cudaError_t Fork() const { return Order(main, side); }
  // What `main` gets from now on begins behind what `side` has.
  cudaError_t Join() const { return Order(side, main); }

 private:
  static cudaError_t Order(cudaStream_t first, cudaStream_t second) {
    cudaEvent_t reached = nullptr;
    cudaError_t error = cudaEventCreateWithFlags(&reached, cudaEventDisableTiming);
    if (error != cudaSuccess) return error;
    error = cudaEventRecord(reached, first);
    if (error == cudaSuccess) error = cudaStreamWaitEvent(second, reached, 0);
    const cudaError_t destroyed = cudaEventDestroy(reached);
    return error == cudaSuccess ? destroyed : error;
  }
};

// The first error of several calls, all of which are made, so that a capture ends with its streams joined.
class FirstError {
 public:
  void operator()(cudaError_t error) {
    if (first_ == cudaSuccess) first_ = error;
  }
  cudaError_t first() const { return first_; }

 private:
  cudaError_t first_ = cudaSuccess;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_SIDE_STREAM_CUH_
