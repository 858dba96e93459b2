#include "trainer/selftest/kernel_expectations.h"

#include <ATen/CPUGeneratorImpl.h>

#include "absl/strings/str_cat.h"

namespace packtrain::trainer {

at::Generator Random(std::uint64_t seed) { return at::detail::createCPUGenerator(seed); }

void SoilMemory(const RandomGraphsOptions& options, std::int64_t columns) {
  const at::TensorOptions on_card = at::TensorOptions(at::kFloat).device(kCard);
  std::vector<at::Tensor> soiled;
  for (const std::int64_t rows : {options.padded.nodes, options.padded.nodes, options.padded.edges}) {
    soiled.push_back(at::full({rows, columns}, kNaN, on_card));
  }
}

double ToleranceOf(at::ScalarType type) { return type == at::kBFloat16 ? 0x1p-8 : 1e-5; }

absl::Status RequireClose(const std::string& name, const at::Tensor& got, const at::Tensor& expected,
                          double tolerance) {
  if (!got.sizes().equals(expected.sizes())) return absl::InternalError(absl::StrCat(name, ": another shape"));
  if (got.numel() == 0) return absl::OkStatus();
  const double error = (got.to(at::kDouble) - expected).abs().max().item<double>();
  const double greatest = expected.abs().max().item<double>();
  if (error <= tolerance * greatest) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(name, ": differs by ", error, " where values reach ", greatest));
}

absl::Status RequireSameBits(const std::string& name, const at::Tensor& first, const at::Tensor& second) {
  if (at::equal(first.view(at::kByte), second.view(at::kByte))) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(name, ": two runs differ"));
}

std::vector<RandomGraphsOptions> Shapes() {
  std::vector<RandomGraphsOptions> shapes = {{.real = {0, 0, 0}, .padded = {1, 0, 0}},
                                             {.real = {0, 0, 0}, .padded = {2, 4, 8}},
                                             {.real = {1, 1, 0}, .padded = {1, 1, 0}},
                                             {.real = {1, 1, 3}, .padded = {1, 1, 3}},
                                             {.real = {2, 5, 0}, .padded = {3, 8, 16}},
                                             {.real = {1, 2, 5000}, .padded = {2, 3, 5001}},
                                             {.real = {31, 560, 9500}, .padded = {32, 576, 9984}},
                                             {.real = {127, 2250, 38000}, .padded = {128, 2304, 39936}}};
  for (const std::uint32_t degree : {1, 4, 9, 17, 40}) {
    shapes.push_back({.real = {9, 290, 290 * degree}, .padded = {10, 301, 301 * degree}});
  }
  return shapes;
}

}  // namespace packtrain::trainer
