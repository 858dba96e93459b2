// The devices of packtrain-trainer-cuda.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <torch/types.h>

#include <array>
#include <cmath>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "trainer/data/cuda_feed.h"
#include "trainer/engine/device.h"
#include "trainer/engine/nccl_communicator.h"
#include "trainer/engine/nvml_device.h"

namespace packtrain::trainer {
namespace {

// An event on the current stream.
class CudaMark final : public TimeMark {
 public:
  CudaMark() { C10_CUDA_CHECK(cudaEventCreate(&event_)); }
  ~CudaMark() override { C10_CUDA_CHECK_WARN(cudaEventDestroy(event_)); }
  CudaMark(const CudaMark&) = delete;
  CudaMark& operator=(const CudaMark&) = delete;

  void Record() override { C10_CUDA_CHECK(cudaEventRecord(event_, c10::cuda::getCurrentCUDAStream())); }
  bool Passed() const override {
    const cudaError_t state = cudaEventQuery(event_);
    if (state == cudaErrorNotReady) return false;
    C10_CUDA_CHECK(state);
    return true;
  }
  void Wait() const override { C10_CUDA_CHECK(cudaEventSynchronize(event_)); }
  std::int64_t NanosecondsSince(const TimeMark& earlier) const override {
    float milliseconds = 0;
    C10_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, static_cast<const CudaMark&>(earlier).event_, event_));
    return std::llround(milliseconds * 1e6);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

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
  std::string timing_method() const override { return "CUDA events, read later"; }
  std::unique_ptr<DeviceFeed> NewFeed(const Target& target, const ClassTable& classes) const override {
    return std::make_unique<CudaFeed>(target, classes, torch_device());
  }
  std::unique_ptr<TimeMark> NewMark() const override { return std::make_unique<CudaMark>(); }
  at::Tensor CopyToHost(const at::Tensor& tensor) const override {
    at::Tensor host = at::empty(tensor.sizes(), tensor.options().device(at::kCPU).pinned_memory(true));
    return host.copy_(tensor, /*non_blocking=*/true);
  }
  const CommunicatorMaker* communicators() const override { return communicators_.get(); }
  DeviceReading Read() const override {
    DeviceReading reading;
    reading.memory_bytes = ReservedBytes();
    if (nvml_ == nullptr) return reading;
    reading.use = nvml_->Use();
    reading.energy_uj = nvml_->EnergyUj();
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
  const c10::DeviceIndex count = c10::cuda::device_count();
  if (local_rank >= static_cast<std::uint32_t>(count)) {
    return absl::FailedPreconditionError(absl::StrCat("--device cuda: LOCAL_RANK is ", local_rank,
                                                      " and this host shows ", int{count}, " GPUs"));
  }
  const auto index = static_cast<c10::DeviceIndex>(local_rank);
  c10::cuda::set_device(index);
  return std::make_unique<CudaDevice>(index);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> OpenDevice(const std::string& name, std::uint32_t local_rank) {
  return name == "cuda" ? OpenCuda(local_rank) : OpenCpu();
}

}  // namespace packtrain::trainer
