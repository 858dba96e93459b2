// What the engine asks of the hardware it trains on. A new kind of device is one more implementation.
#ifndef PACKTRAIN_TRAINER_ENGINE_DEVICE_H_
#define PACKTRAIN_TRAINER_ENGINE_DEVICE_H_

#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "trainer/data/device_feed.h"
#include "trainer/data/graph_inputs.h"
#include "trainer/engine/device_reading.h"
#include "trainer/engine/shape_executor.h"
#include "trainer/engine/step_clock.h"
#include "trainer/kernels/kernel_form.h"
#include "trainer/ranks/communicator.h"

namespace packtrain::trainer {

// Used by one thread, but for Read.
class Device {
 public:
  virtual ~Device() = default;

  virtual at::Device torch_device() const = 0;
  virtual std::string hardware_name() const = 0;
  virtual std::string driver() const = 0;  // empty: none

  virtual std::unique_ptr<DeviceFeed> NewFeed(const FeedOptions& options) const = 0;
  // The fastest there is here.
  virtual KernelForm kernels() const = 0;
  // Of the steps of one training.
  virtual std::unique_ptr<StepClock> NewClock() const = 0;
  // Of work on inputs of `layout`. INVALID_ARGUMENT: the device cannot capture.
  virtual absl::StatusOr<std::unique_ptr<ShapeExecutor>> NewExecutor(const EngineOptions& options,
                                                                     const InputLayout& layout,
                                                                     ShapeExecutor::Work work) const = 0;
  // For sums over ranks that each have a device; null: this kind sums on the host.
  virtual const CommunicatorMaker* communicators() const = 0;
  // Any thread may call it.
  virtual DeviceReading Read() const = 0;
};

// The device that --device names, on the card of this process. The program that is linked decides which kinds
// there are; INVALID_ARGUMENT says so.
absl::StatusOr<std::unique_ptr<Device>> OpenDevice(const std::string& name, std::uint32_t local_rank);

std::unique_ptr<Device> OpenCpu();

// The processor's name from /proc/cpuinfo; "unknown" where it is not to be had.
std::string CpuName();

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_DEVICE_H_
