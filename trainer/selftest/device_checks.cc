#include "trainer/selftest/device_checks.h"

#include <torch/types.h>

#include <array>
#include <chrono>
#include <memory>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "trainer/engine/device.h"

namespace packtrain::trainer {
namespace {

using Clock = std::chrono::steady_clock;

// NVML's counters are refreshed several times in this time.
constexpr std::chrono::seconds kLoadTime{2};

absl::StatusOr<std::unique_ptr<Device>> OpenFirst() { return OpenDevice("cuda", /*local_rank=*/0); }

// Multiplies matrices for kLoadTime; returns what the device says at the end, while it is busy.
DeviceReading ReadUnderLoad(const Device& device) {
  const at::Tensor matrix = torch::ones({2048, 2048}, device.torch_device());
  at::Tensor product = matrix;
  DeviceReading reading;
  for (const auto end = Clock::now() + kLoadTime; Clock::now() < end; reading = device.Read()) {
    for (int i = 0; i < 20; ++i) product = torch::matmul(matrix, product).div_(2048);
    product[0][0].item<float>();
  }
  return reading;
}

absl::Status MemoryIsCounted() {
  ABSL_ASSIGN_OR_RETURN(const auto device, OpenFirst());
  const at::Tensor tensor =
      torch::empty({64 << 20}, torch::dtype(torch::kUInt8).device(device->torch_device()));
  const std::int64_t held = device->Read().memory_bytes;
  if (held >= tensor.numel()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("with 64 MiB allocated the device reads ", held, " bytes"));
}

// What NVML does not tell is unknown, before and after.
absl::Status EnergyAndUseGrowUnderLoad() {
  ABSL_ASSIGN_OR_RETURN(const auto device, OpenFirst());
  const DeviceReading before = device->Read();
  const DeviceReading after = ReadUnderLoad(*device);
  if ((before.energy_uj < 0) != (after.energy_uj < 0) ||
      (before.energy_uj >= 0 && after.energy_uj <= before.energy_uj)) {
    return absl::InternalError(absl::StrCat("energy goes from ", before.energy_uj, " uJ to ", after.energy_uj));
  }
  if (after.use == 0 || after.use > 1)
    return absl::InternalError(absl::StrCat("busy, it reads use ", after.use));
  return absl::OkStatus();
}

constexpr std::array<Check, 2> kChecks = {
    {{"device: memory of tensors is counted", MemoryIsCounted},
     {"device: energy and use, where NVML tells them, grow under load", EnergyAndUseGrowUnderLoad}}};

}  // namespace

std::span<const Check> DeviceChecks() { return kChecks; }

}  // namespace packtrain::trainer
