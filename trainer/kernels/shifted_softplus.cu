#include "trainer/kernels/shifted_softplus.cuh"

#include "trainer/kernels/float_vector.cuh"
#include "trainer/kernels/softplus_of_float.cuh"

namespace packtrain::trainer {
namespace {

constexpr int kThreads = 256;

template <typename Vector, typename Operation, typename Element, typename... Inputs>
__global__ void __launch_bounds__(kThreads)
    ForEach(Operation operation, std::int64_t count, Element* out, const Inputs*... in) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i < count) Store(out, i, Map(operation, Load<Vector>(in, i)...));
}

template <typename Vector, typename Operation, typename Element, typename... Inputs>
cudaError_t Launch(Operation operation, std::int64_t count, cudaStream_t stream, Element* out,
                   const Inputs*... in) {
  const std::int64_t vectors = count / kWidth<Vector>;
  const auto blocks = static_cast<unsigned>((vectors + kThreads - 1) / kThreads);
  ForEach<Vector><<<blocks, kThreads, 0, stream>>>(operation, vectors, out, in...);
  return cudaGetLastError();
}

template <typename Operation, typename Element, typename... Inputs>
cudaError_t Apply(Operation operation, std::int64_t count, cudaStream_t stream, Element* out,
                  const Inputs*... in) {
  if (count == 0) return cudaSuccess;
  const bool wide = AreRowsOfVectors(count, out, in...);
  return wide ? Launch<float4>(operation, count, stream, out, in...)
              : Launch<float>(operation, count, stream, out, in...);
}

}  // namespace

template <typename Element>
cudaError_t EnqueueSoftplus(const Element* x, std::int64_t count, Element* y, cudaStream_t stream) {
  return Apply(SoftplusValue<Element>(), count, stream, y, x);
}

template <typename Element>
cudaError_t EnqueueSoftplusBackward(const Element* x, const Element* d_y, std::int64_t count, Element* d_x,
                                    cudaStream_t stream) {
  return Apply(SoftplusGradient<Element>(), count, stream, d_x, x, d_y);
}

template cudaError_t EnqueueSoftplus(const float*, std::int64_t, float*, cudaStream_t);
template cudaError_t EnqueueSoftplus(const __nv_bfloat16*, std::int64_t, __nv_bfloat16*, cudaStream_t);
template cudaError_t EnqueueSoftplusBackward(const float*, const float*, std::int64_t, float*, cudaStream_t);
template cudaError_t EnqueueSoftplusBackward(const __nv_bfloat16*, const __nv_bfloat16*, std::int64_t,
                                             __nv_bfloat16*, cudaStream_t);

}  // namespace packtrain::trainer
