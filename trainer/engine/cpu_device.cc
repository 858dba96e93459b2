#include <chrono>
#include <fstream>
#include <string>

#include "trainer/data/host_feed.h"
#include "trainer/engine/device.h"

namespace packtrain::trainer {
namespace {

using Clock = std::chrono::steady_clock;

// Work on the CPU is done when it has been issued.
class CpuMark final : public TimeMark {
 public:
  void Record() override { time_ = Clock::now(); }
  bool Passed() const override { return true; }
  void Wait() const override {}
  std::int64_t NanosecondsSince(const TimeMark& earlier) const override {
    return std::chrono::nanoseconds(time_ - static_cast<const CpuMark&>(earlier).time_).count();
  }

 private:
  Clock::time_point time_;
};

class CpuDevice final : public Device {
 public:
  at::Device torch_device() const override { return at::kCPU; }
  std::string hardware_name() const override { return CpuName(); }
  std::string driver() const override { return ""; }
  std::string timing_method() const override { return "host monotonic clock"; }
  std::unique_ptr<DeviceFeed> NewFeed(const Target& target, const ClassTable& classes) const override {
    return std::make_unique<HostFeed>(target, classes);
  }
  std::unique_ptr<TimeMark> NewMark() const override { return std::make_unique<CpuMark>(); }
  at::Tensor CopyToHost(const at::Tensor& tensor) const override { return tensor.clone(); }
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
