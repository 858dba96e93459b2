// The devices of packtrain-trainer.
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "trainer/engine/device.h"

namespace packtrain::trainer {

absl::StatusOr<std::unique_ptr<Device>> OpenDevice(const std::string& name, std::uint32_t) {
  if (name == "cpu") return OpenCpu();
  return absl::InvalidArgumentError(absl::StrCat(
      "--device ", name, ": this program trains on the CPU; packtrain-trainer-cuda has --device cuda"));
}

}  // namespace packtrain::trainer
