// Counts the memory that a program's own code takes and gives back.
#ifndef PACKTRAIN_CLIENT_CLI_BENCH_ALLOCATION_METER_H_
#define PACKTRAIN_CLIENT_CLI_BENCH_ALLOCATION_METER_H_

#include <cstdint>

namespace packtrain::cli {

// Measures how far what `operator new` has handed out grows, over all threads of the process, between its
// making and its end: bytes as malloc rounds them, whether touched or not. Over-aligned types are not counted.
// A program that links it has its global operator new and delete replaced by ones that count while a meter is
// alive. One at a time.
class AllocationMeter {
 public:
  AllocationMeter();
  ~AllocationMeter();
  AllocationMeter(const AllocationMeter&) = delete;
  AllocationMeter& operator=(const AllocationMeter&) = delete;

  // The most that was in use at one time beyond what was when the meter was made.
  std::uint64_t peak_bytes() const;
};

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_BENCH_ALLOCATION_METER_H_
