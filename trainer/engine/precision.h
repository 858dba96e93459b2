// What --precision means.
#ifndef PACKTRAIN_TRAINER_ENGINE_PRECISION_H_
#define PACKTRAIN_TRAINER_ENGINE_PRECISION_H_

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <string>

#include "absl/status/statusor.h"

namespace packtrain::trainer {

// Sets how Torch multiplies matrices from now on in this process, and returns the type of a model's edge-sized
// data. `precision`: f32; tf32, which shortens the factors of all products of f32 to 10 bits of mantissa; bf16,
// which keeps edge-sized data in bf16; f64, on a CPU, in which all is f64. Sums are of f32 under the others.
// INVALID_ARGUMENT: `device` has no such precision.
absl::StatusOr<at::ScalarType> SetPrecision(const std::string& precision, at::Device device);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_PRECISION_H_
