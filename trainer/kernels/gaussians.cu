#include "trainer/kernels/gaussians.cuh"

#include "trainer/kernels/float_vector.cuh"

namespace packtrain::trainer {
namespace {

constexpr int kThreads = 256;
// Edges whose Gaussians a block makes: so few that a small batch reaches all of a card.
constexpr int kEdgesPerBlock = 8;

template <typename Element>
struct Gaussian {
  float distance;
  float factor;

  __device__ float operator()(float centre) const {
    const float gap = distance - centre;
    const float exponent = gap * gap * factor;
    return Exponential<Element>(exponent < -80 ? -80.0f : exponent);  // what is no number stays none
  }
};

// A block's results lie together, so that its threads write side by side whatever the number of centres. A row
// is `vectors` vectors.
template <typename Vector, typename Element>
__global__ void __launch_bounds__(kThreads)
    Expand(const float* distances, std::int64_t edges, const float* centres, unsigned vectors, float factor,
           Element* gaussians) {
  const std::int64_t first = std::int64_t{blockIdx.x} * kEdgesPerBlock;
  const auto count = static_cast<unsigned>(min(std::int64_t{kEdgesPerBlock}, edges - first));
  for (unsigned i = threadIdx.x; i < count * vectors; i += kThreads) {
    const Gaussian<Element> gaussian = {__ldg(distances + first + i / vectors), factor};
    Store(gaussians, first * vectors + i, Map(gaussian, Load<Vector>(centres, i % vectors)));
  }
}

template <typename Vector, typename Element>
cudaError_t LaunchExpand(const float* distances, std::int64_t edges, const float* centre, std::int64_t centres,
                         float factor, Element* gaussians, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((edges + kEdgesPerBlock - 1) / kEdgesPerBlock);
  const auto vectors = static_cast<unsigned>(centres / kWidth<Vector>);
  Expand<Vector><<<blocks, kThreads, 0, stream>>>(distances, edges, centre, vectors, factor, gaussians);
  return cudaGetLastError();
}

}  // namespace

template <typename Element>
cudaError_t ExpandInGaussians(const float* distances, std::int64_t edges, const float* centre,
                              std::int64_t centres, float width, Element* gaussians, cudaStream_t stream) {
  if (edges == 0 || centres == 0) return cudaSuccess;
  const bool wide = AreRowsOfVectors(centres, centre, gaussians);
  const auto launch = wide ? LaunchExpand<float4, Element> : LaunchExpand<float, Element>;
  return launch(distances, edges, centre, centres, -1 / width, gaussians, stream);
}

template cudaError_t ExpandInGaussians(const float*, std::int64_t, const float*, std::int64_t, float, float*,
                                       cudaStream_t);
template cudaError_t ExpandInGaussians(const float*, std::int64_t, const float*, std::int64_t, float,
                                       __nv_bfloat16*, cudaStream_t);

}  // namespace packtrain::trainer
