#include "trainer/kernels/fused_launch.h"
#include "trainer/kernels/gaussians.cuh"
#include "trainer/kernels/gaussians.h"

namespace packtrain::trainer {

at::Tensor FusedGaussians(const at::Tensor& distances, const at::Tensor& centres,
                          const GaussianOptions& options) {
  const std::int64_t edges = distances.size(0), count = centres.size(0);
  at::Tensor gaussians = at::empty({edges, count}, distances.options().dtype(options.type));
  Dispatch(options.type, [&]<typename Element>(std::type_identity<Element>) {
    return ExpandInGaussians(Floats(distances), edges, Floats(centres), count,
                             static_cast<float>(options.width), MutableElements<Element>(gaussians),
                             CurrentStream());
  });
  return gaussians;
}

}  // namespace packtrain::trainer
