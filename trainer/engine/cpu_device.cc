#include <torch/types.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <fstream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "trainer/data/host_feed.h"
#include "trainer/engine/device.h"
#include "trainer/engine/eager_executor.h"

namespace packtrain::trainer {
namespace {

using Clock = std::chrono::steady_clock;

// Work on the CPU is done when it has been issued.
class HostClock final : public StepClock {
 public:
  void Begin() override {
    step_ = {};
    Mark(Moment::kCopy);
  }
  void Mark(Moment moment) override { step_.moment_ns[static_cast<std::size_t>(moment)] = Now(); }
  void MarkEnd(const at::Tensor& sums) override {
    const at::Tensor wide = sums.to(at::kDouble);
    std::copy_n(wide.const_data_ptr<double>(), step_.sums.size(), step_.sums.begin());
    Mark(Moment::kEnd);
  }
  void Close() override { closed_.push_back(step_); }

  bool HasEnded() const override { return true; }
  StepReading Read() override {
    const StepReading oldest = closed_.front();
    closed_.pop_front();
    return oldest;
  }

  std::int64_t Now() override { return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count(); }
  std::string method() const override { return "host monotonic clock"; }

 private:
  StepReading step_;
  std::deque<StepReading> closed_;
};

class CpuDevice final : public Device {
 public:
  at::Device torch_device() const override { return at::kCPU; }
  std::string hardware_name() const override { return CpuName(); }
  std::string driver() const override { return ""; }
  std::unique_ptr<DeviceFeed> NewFeed(const FeedOptions& options) const override {
    return std::make_unique<HostFeed>(options);
  }
  KernelForm kernels() const override { return KernelForm::kPlain; }
  std::unique_ptr<StepClock> NewClock() const override { return std::make_unique<HostClock>(); }
  absl::StatusOr<std::unique_ptr<ShapeExecutor>> NewExecutor(const EngineOptions& options,
                                                             const InputLayout& layout,
                                                             ShapeExecutor::Work work) const override {
    if (!options.captured) return std::make_unique<EagerExecutor>(at::kCPU, layout, std::move(work));
    return absl::InvalidArgumentError("--engine captured: only a GPU captures; give --device cuda");
  }
  const CommunicatorMaker* communicators() const override { return nullptr; }
  DeviceReading Read() const override { return {}; }
};

}  // namespace

std::unique_ptr<Device> OpenCpu() { return std::make_unique<CpuDevice>(); }

std::string CpuName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace packtrain::trainer
