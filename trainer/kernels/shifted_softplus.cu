#include "trainer/kernels/shifted_softplus.h"

#include "trainer/kernels/float_vector.h"

namespace packtrain::trainer {
namespace {

constexpr int kThreads = 256;
constexpr float kLn2 = 0.693147180559945f;

// Never overflows: e is raised to no positive power.
struct Value {
  __device__ float operator()(float x) const { return fmaxf(x, 0) + log1pf(expf(-fabsf(x))) - kLn2; }
};

struct Gradient {
  __device__ float operator()(float x, float d_y) const { return d_y / (1 + expf(-x)); }
};

template <typename Vector, typename Operation, typename... Inputs>
__global__ void __launch_bounds__(kThreads)
    ForEach(Operation operation, std::int64_t count, Vector* out, const Inputs*... in) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) out[i] = Map(operation, __ldg(in + i)...);
}

template <typename Vector, typename Operation, typename... Inputs>
cudaError_t Launch(Operation operation, std::int64_t count, cudaStream_t stream, float* out,
                   const Inputs*... in) {
  const std::int64_t vectors = count / kWidth<Vector>;
  const auto blocks = static_cast<unsigned>((vectors + kThreads - 1) / kThreads);
  ForEach<<<blocks, kThreads, 0, stream>>>(operation, vectors, reinterpret_cast<Vector*>(out),
                                           reinterpret_cast<const Vector*>(in)...);
  return cudaGetLastError();
}

template <typename Operation, typename... Inputs>
cudaError_t Apply(Operation operation, std::int64_t count, cudaStream_t stream, float* out,
                  const Inputs*... in) {
  if (count == 0) return cudaSuccess;
  const bool wide = AreRowsOfVectors(count, out, in...);
  return wide ? Launch<float4>(operation, count, stream, out, in...)
              : Launch<float>(operation, count, stream, out, in...);
}

}  // namespace

cudaError_t ShiftSoftplus(const float* x, std::int64_t count, float* y, cudaStream_t stream) {
  return Apply(Value(), count, stream, y, x);
}

cudaError_t ShiftSoftplusBackward(const float* x, const float* d_y, std::int64_t count, float* d_x,
                                  cudaStream_t stream) {
  return Apply(Gradient(), count, stream, d_x, x, d_y);
}

}  // namespace packtrain::trainer
