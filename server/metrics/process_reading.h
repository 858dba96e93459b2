// Resource use of this process.
#ifndef PACKTRAIN_SERVER_METRICS_PROCESS_READING_H_
#define PACKTRAIN_SERVER_METRICS_PROCESS_READING_H_

#include <cstdint>

namespace packtrain::metrics {

// A value that the system does not report is 0.
struct ProcessReading {
  std::uint64_t resident_bytes = 0;
  double cpu_seconds = 0;  // of all threads, user and system
  std::uint64_t open_files = 0;
  std::uint64_t max_files = 0;
};

ProcessReading ReadProcess();

}  // namespace packtrain::metrics

#endif  // PACKTRAIN_SERVER_METRICS_PROCESS_READING_H_
