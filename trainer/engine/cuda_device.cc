// The devices of packtrain-trainer-cuda.
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <cuda_runtime_api.h>

#include <cmath>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "trainer/engine/device.h"

namespace packtrain::trainer {
namespace {

// An event on the current stream.
class CudaMark final : public TimeMark {
 public:
  void Record() override { event_.record(); }
  bool Passed() const override { return event_.query(); }
  void Wait() const override { event_.synchronize(); }
  std::int64_t NanosecondsSince(const TimeMark& earlier) const override {
    const double milliseconds = static_cast<const CudaMark&>(earlier).event_.elapsed_time(event_);
    return std::llround(milliseconds * 1e6);
  }

 private:
  at::cuda::CUDAEvent event_{cudaEventDefault};
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(c10::DeviceIndex index) : index_(index) {}

  at::Device torch_device() const override { return {at::kCUDA, index_}; }
  std::string hardware_name() const override { return at::cuda::getDeviceProperties(index_)->name; }
  std::string driver() const override {
    int version = 0;
    if (cudaDriverGetVersion(&version) != cudaSuccess) return "";
    return absl::StrCat("CUDA ", version / 1000, ".", version % 1000 / 10);
  }
  std::string timing_method() const override { return "CUDA events, read later"; }
  std::unique_ptr<TimeMark> NewMark() const override { return std::make_unique<CudaMark>(); }
  at::Tensor CopyToHost(const at::Tensor& tensor) const override {
    at::Tensor host = at::empty(tensor.sizes(), tensor.options().device(at::kCPU).pinned_memory(true));
    return host.copy_(tensor, /*non_blocking=*/true);
  }
  std::int64_t memory_bytes() const override {
    const auto statistics = c10::cuda::CUDACachingAllocator::getDeviceStats(index_);
    return statistics.reserved_bytes[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)]
        .current;
  }

 private:
  const c10::DeviceIndex index_;
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
