// What the engine asks of the hardware it trains on. A new kind of device is one more implementation.
#ifndef PACKTRAIN_TRAINER_ENGINE_DEVICE_H_
#define PACKTRAIN_TRAINER_ENGINE_DEVICE_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "trainer/data/device_feed.h"
#include "trainer/data/target.h"
#include "trainer/engine/communicator.h"
#include "trainer/engine/device_reading.h"

namespace packtrain::trainer {

// A moment in a device's work, known once the work before it is done. Used by one thread.
class TimeMark {
 public:
  virtual ~TimeMark() = default;
  // Puts the mark behind all work issued so far; never waits.
  virtual void Record() = 0;
  virtual bool Passed() const = 0;
  virtual void Wait() const = 0;
  // Time from `earlier`, a passed mark of the same device, to this one, which has passed too.
  virtual std::int64_t NanosecondsSince(const TimeMark& earlier) const = 0;
};

// Used by one thread, but for Read.
class Device {
 public:
  virtual ~Device() = default;

  virtual at::Device torch_device() const = 0;
  virtual std::string hardware_name() const = 0;
  virtual std::string driver() const = 0;  // empty: none
  // How marks get their time, as the run's record states it.
  virtual std::string timing_method() const = 0;

  virtual std::unique_ptr<DeviceFeed> NewFeed(const Target& target, const ClassTable& classes) const = 0;
  virtual std::unique_ptr<TimeMark> NewMark() const = 0;
  // A copy on the host, complete once a mark recorded after this call has passed.
  virtual at::Tensor CopyToHost(const at::Tensor& tensor) const = 0;
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
