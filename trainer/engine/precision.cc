#include "trainer/engine/precision.h"

#include <ATen/Context.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace packtrain::trainer {

absl::StatusOr<at::ScalarType> SetPrecision(const std::string& precision, at::Device device) {
  const bool tf32 = precision == "tf32", bf16 = precision == "bf16", f64 = precision == "f64";
  if (!tf32 && !bf16 && !f64 && precision != "f32") {
    return absl::InvalidArgumentError(
        absl::StrCat("--precision ", precision, ": there are f32, tf32, bf16 and f64"));
  }
  if (tf32 && device.is_cpu()) {
    return absl::InvalidArgumentError("--precision tf32: the CPU has f32, bf16 and f64; give --device cuda");
  }
  if (f64 && !device.is_cpu()) {
    return absl::InvalidArgumentError("--precision f64 is for checks on the CPU; give --device cpu");
  }
  at::globalContext().setAllowTF32CuBLAS(tf32);
  at::globalContext().setAllowBF16ReductionCuBLAS(false);
  if (f64) return at::kDouble;
  return bf16 ? at::kBFloat16 : at::kFloat;
}

}  // namespace packtrain::trainer
