// The devices of packtrain-trainer-cuda.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <torch/types.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "trainer/data/cuda_feed.h"
#include "trainer/engine/captured_executor.h"
#include "trainer/engine/cuda_clock.h"
#include "trainer/engine/device.h"
#include "trainer/engine/eager_executor.h"
#include "trainer/engine/nvml_device.h"
#include "trainer/ranks/nccl_communicator.h"
#include "trainer/ranks/world.h"

namespace packtrain::trainer {
namespace {

std::string PciBusId(c10::DeviceIndex index) {
  std::array<char, 16> id{};
  C10_CUDA_CHECK(cudaDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()), index));
  return id.data();
}

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(c10::DeviceIndex index) : index_(index), communicators_(NcclOn(index)) {
    C10_CUDA_CHECK(cudaGetDeviceProperties(&properties_, index));
    if (auto nvml = NvmlDevice::Open(PciBusId(index)); nvml.ok()) nvml_ = *std::move(nvml);
  }

  at::Device torch_device() const override { return {at::kCUDA, index_}; }
  std::string hardware_name() const override { return properties_.name; }
  std::string driver() const override {
    int version = 0;
    C10_CUDA_CHECK(cudaDriverGetVersion(&version));
    return absl::StrCat("CUDA ", version / 1000, ".", version % 1000 / 10);
  }
  std::unique_ptr<DeviceFeed> NewFeed(const FeedOptions& options) const override {
    return std::make_unique<CudaFeed>(options, torch_device());
  }
  KernelForm kernels() const override { return KernelForm::kFused; }
  std::unique_ptr<StepClock> NewClock() const override { return std::make_unique<CudaClock>(); }
  absl::StatusOr<std::unique_ptr<ShapeExecutor>> NewExecutor(const EngineOptions& options,
                                                             const InputLayout& layout,
                                                             ShapeExecutor::Work work) const override {
    if (!options.captured) return std::make_unique<EagerExecutor>(torch_device(), layout, std::move(work));
    return std::make_unique<CapturedExecutor>(torch_device(), layout, options.max_captures, std::move(work));
  }
  const CommunicatorMaker* communicators() const override { return communicators_.get(); }
  DeviceReading Read() const override {
    DeviceReading reading;
    reading.memory_bytes = ReservedBytes();
    if (nvml_ == nullptr) return reading;
    reading.use = nvml_->Use();
    reading.energy_uj = nvml_->EnergyUj();
    reading.power_limit_watts = nvml_->PowerLimitWatts();
    reading.id = nvml_->uuid();
    return reading;
  }

 private:
  // Of Torch's allocator, which the memory of captured steps is of, too.
  std::int64_t ReservedBytes() const {
    const auto statistics = c10::cuda::CUDACachingAllocator::getDeviceStats(index_);
    return statistics.reserved_bytes[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)]
        .current;
  }

  const c10::DeviceIndex index_;
  const std::unique_ptr<CommunicatorMaker> communicators_;
  cudaDeviceProp properties_{};
  std::unique_ptr<NvmlDevice> nvml_;  // null: there is no NVML that knows the device
};

absl::StatusOr<std::unique_ptr<Device>> OpenCuda(std::uint32_t local_rank) {
  ABSL_ASSIGN_OR_RETURN(const std::uint32_t card,
                        CardOf(local_rank, static_cast<std::uint32_t>(c10::cuda::device_count())));
  const auto index = static_cast<c10::DeviceIndex>(card);
  c10::cuda::set_device(index);
  // The default stream cannot be captured.
  c10::cuda::setCurrentCUDAStream(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, index));
  return std::make_unique<CudaDevice>(index);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> OpenDevice(const std::string& name, std::uint32_t local_rank) {
  return name == "cuda" ? OpenCuda(local_rank) : OpenCpu();
}

}  // namespace packtrain::trainer
