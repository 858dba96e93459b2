// Kernels that begin while the one before them in the stream ends (programmatic dependent launch, compute
// capability 9.0). For CUDA sources.
#ifndef PACKTRAIN_TRAINER_KERNELS_EARLY_LAUNCH_CUH_
#define PACKTRAIN_TRAINER_KERNELS_EARLY_LAUNCH_CUH_

#include <cuda_runtime.h>

#include <cstddef>

namespace packtrain::trainer {

// Launches a kernel directly behind another one of the same stream. Until it calls WaitForEarlier, it writes
// nothing, and reads only what was written before the last launch without this in the stream, which waited for
// all before it. At least one thread of it calls WaitForEarlier, so that it ends behind all before it.
template <typename... Parameters>
cudaError_t LaunchEarly(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, std::size_t shared_bytes,
                        cudaStream_t stream, const Parameters&... arguments) {
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

// From when all blocks have called it, the next kernel may begin, if it was launched early.
__device__ inline void LetNextBegin() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// All that kernels launched before this one write is there behind it. Each thread that reads any of that, or
// writes, calls it. It returns at once in a kernel that was launched as usual.
__device__ inline void WaitForEarlier() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_EARLY_LAUNCH_CUH_
