#include "trainer/run/process_sampler.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <utility>

namespace packtrain::trainer {
namespace {

constexpr std::chrono::milliseconds kPeriod{500};

std::int64_t Nanoseconds(const timeval& time) { return time.tv_sec * 1'000'000'000LL + time.tv_usec * 1'000LL; }

template <typename Clock>
std::int64_t NanosecondsOf() {
  return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
}

std::int64_t ProcessCpuNs() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return -1;
  return Nanoseconds(usage.ru_utime) + Nanoseconds(usage.ru_stime);
}

std::int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total_pages = 0, resident_pages = 0;
  if (!(statm >> total_pages >> resident_pages)) return -1;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

}  // namespace

client::Sample SampleProcess() {
  return {.time_ns = NanosecondsOf<std::chrono::system_clock>(),
          .monotonic_ns = NanosecondsOf<std::chrono::steady_clock>(),
          .process_cpu_ns = ProcessCpuNs(),
          .rss_bytes = ResidentBytes()};
}

ProcessSampler::ProcessSampler(std::function<DeviceReading()> read_device,
                               std::function<void(const client::Sample&)> sink)
    : read_device_(std::move(read_device)), sink_(std::move(sink)), thread_([this] { Run(); }) {}

ProcessSampler::~ProcessSampler() {
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

// The time is taken right before the device is read, so that it belongs to the energy counter.
client::Sample ProcessSampler::Sample() const {
  client::Sample sample = SampleProcess();
  DeviceReading reading = read_device_();
  sample.device_memory_bytes = reading.memory_bytes;
  sample.device_use = reading.use;
  sample.device_energy_uj = reading.energy_uj;
  sample.device_id = std::move(reading.id);
  return sample;
}

void ProcessSampler::Run() {
  auto next = std::chrono::steady_clock::now();
  base::MutexLock lock(mutex_);
  while (true) {
    sink_(Sample());
    next += kPeriod;
    while (!stopping_ && changed_.WaitUntil(mutex_, next)) {
    }
    if (stopping_) return;
  }
}

}  // namespace packtrain::trainer
