// Reads what this process uses, twice a second.
#ifndef PACKTRAIN_TRAINER_RUN_PROCESS_SAMPLER_H_
#define PACKTRAIN_TRAINER_RUN_PROCESS_SAMPLER_H_

#include <functional>
#include <thread>

#include "client/run_reporter.h"
#include "proto/base/mutex.h"
#include "trainer/engine/device_reading.h"

namespace packtrain::trainer {

// CPU time and resident memory of this process at this moment; the device's fields are left unknown.
client::Sample SampleProcess();

// Samples on a thread of its own from construction to destruction, once at least.
class ProcessSampler {
 public:
  // Each sample, completed by `read_device`, goes to `sink`. Both are called on the sampler's thread.
  ProcessSampler(std::function<DeviceReading()> read_device, std::function<void(const client::Sample&)> sink);
  ~ProcessSampler();

 private:
  client::Sample Sample() const;
  void Run();

  const std::function<DeviceReading()> read_device_;
  const std::function<void(const client::Sample&)> sink_;
  base::Mutex mutex_;
  base::CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_PROCESS_SAMPLER_H_
