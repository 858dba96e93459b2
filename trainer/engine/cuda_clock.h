// The clock of steps on a GPU.
#ifndef PACKTRAIN_TRAINER_ENGINE_CUDA_CLOCK_H_
#define PACKTRAIN_TRAINER_ENGINE_CUDA_CLOCK_H_

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "trainer/engine/step_clock.h"
#include "trainer/engine/step_marks.h"

namespace packtrain::trainer {

// One-thread kernels on the current stream write the device's clock, and the sums, into page-locked memory of
// the host, so reading a step costs the device nothing.
class CudaClock final : public StepClock {
 public:
  CudaClock();
  ~CudaClock() override;
  CudaClock(const CudaClock&) = delete;
  CudaClock& operator=(const CudaClock&) = delete;

  void Begin() override;
  void Mark(Moment moment) override;
  void MarkEnd(const at::Tensor& sums) override;
  void Close() override;

  bool HasEnded() const override;
  StepReading Read() override;

  std::int64_t Now() override;
  std::string method() const override;

 private:
  // A step that has begun and was given up has an entry, too.
  static constexpr std::uint32_t kEntries = 2 * kCapacity;

  // Page-locked.
  struct Shared {
    std::array<StepMarks, kEntries> steps;
    std::int64_t answer_ns;  // of Now, and of the measurement
  };

  Shared* shared_ = nullptr;
  MarkRing ring_;
  std::array<cudaEvent_t, kEntries> ends_{};
  std::uint32_t begun_ = 0;           // steps; the last one's entry is (begun_ - 1) % kEntries
  std::deque<std::uint32_t> closed_;  // entries
  std::int64_t resolution_ns_ = 0;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_CUDA_CLOCK_H_
