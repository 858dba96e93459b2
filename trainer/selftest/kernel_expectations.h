// What checks of kernels share: the shapes they run on, and what they require of results.
#ifndef PACKTRAIN_TRAINER_SELFTEST_KERNEL_EXPECTATIONS_H_
#define PACKTRAIN_TRAINER_SELFTEST_KERNEL_EXPECTATIONS_H_

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/types.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trainer/selftest/random_graphs.h"

namespace packtrain::trainer {

inline constexpr at::DeviceType kCard = at::kCUDA;
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

at::Generator Random(std::uint64_t seed);

// Freed memory full of NaN: what a kernel leaves unwritten there shows.
void SoilMemory(const RandomGraphsOptions& options, std::int64_t columns);

// Of sums in f32, or of one rounding to `type`: a bf16 is right to 2^-9 of itself.
double ToleranceOf(at::ScalarType type);

// The greatest difference is at most `tolerance` times the greatest expected value.
absl::Status RequireClose(const std::string& name, const at::Tensor& got, const at::Tensor& expected,
                          double tolerance = 1e-5);

absl::Status RequireSameBits(const std::string& name, const at::Tensor& first, const at::Tensor& second);

// Edge cases, one shape for each number of slices that share a node's edges, and the shapes of QM9 in batches
// of 32 and 128.
std::vector<RandomGraphsOptions> Shapes();

// Runs `body` once as it is and once into a graph, on a stream of its own, as a capture needs it.
template <typename Body>
void Capture(at::cuda::CUDAGraph& graph, Body body) {
  const c10::cuda::CUDAStreamGuard stream(c10::cuda::getStreamFromPool());
  body();
  stream.current_stream().synchronize();
  graph.capture_begin();
  body();
  graph.capture_end();
  stream.current_stream().synchronize();
}

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_SELFTEST_KERNEL_EXPECTATIONS_H_
