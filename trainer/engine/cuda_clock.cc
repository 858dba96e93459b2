#include "trainer/engine/cuda_clock.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/types.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace packtrain::trainer {
namespace {

cudaStream_t Stream() { return c10::cuda::getCurrentCUDAStream(); }

}  // namespace

// The counter begins after its last value, so that the first step has entry 0.
CudaClock::CudaClock() {
  C10_CUDA_CHECK(cudaMallocHost(reinterpret_cast<void**>(&shared_), sizeof(Shared)));
  ring_ = {.steps = shared_->steps.data(), .capacity = kEntries};
  C10_CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&ring_.current), sizeof(*ring_.current)));
  C10_CUDA_CHECK(cudaMemsetAsync(ring_.current, 0xff, sizeof(*ring_.current), Stream()));
  for (cudaEvent_t& end : ends_) {
    C10_CUDA_CHECK(cudaEventCreateWithFlags(&end, cudaEventDisableTiming | cudaEventBlockingSync));
  }
  C10_CUDA_CHECK(MeasureClock(&shared_->answer_ns, Stream()));
  C10_CUDA_CHECK(cudaStreamSynchronize(Stream()));
  resolution_ns_ = shared_->answer_ns;
}

CudaClock::~CudaClock() {
  for (cudaEvent_t end : ends_) C10_CUDA_CHECK_WARN(cudaEventDestroy(end));
  C10_CUDA_CHECK_WARN(cudaFree(ring_.current));
  C10_CUDA_CHECK_WARN(cudaFreeHost(shared_));
}

void CudaClock::Begin() {
  C10_CUDA_CHECK(MarkNextStep(ring_, Moment::kCopy, Stream()));
  ++begun_;
}

void CudaClock::Mark(Moment moment) { C10_CUDA_CHECK(MarkMoment(ring_, moment, Stream())); }

void CudaClock::MarkEnd(const at::Tensor& sums) {
  C10_CUDA_CHECK(MarkSums(ring_, Moment::kEnd, sums.const_data_ptr<float>(), Stream()));
}

void CudaClock::Close() {
  closed_.push_back((begun_ - 1) % kEntries);
  C10_CUDA_CHECK(cudaEventRecord(ends_[closed_.back()], Stream()));
}

bool CudaClock::HasEnded() const {
  const cudaError_t state = cudaEventQuery(ends_[closed_.front()]);
  if (state == cudaErrorNotReady) return false;
  C10_CUDA_CHECK(state);
  return true;
}

StepReading CudaClock::Read() {
  C10_CUDA_CHECK(cudaEventSynchronize(ends_[closed_.front()]));
  const StepMarks& marks = shared_->steps[closed_.front()];
  closed_.pop_front();
  StepReading reading;
  std::copy_n(marks.moment_ns, kMoments, reading.moment_ns.begin());
  std::copy_n(marks.sums, kStepSums, reading.sums.begin());
  return reading;
}

std::int64_t CudaClock::Now() {
  C10_CUDA_CHECK(ReadClock(&shared_->answer_ns, Stream()));
  C10_CUDA_CHECK(cudaStreamSynchronize(Stream()));
  return shared_->answer_ns;
}

std::string CudaClock::method() const {
  return absl::StrCat("device clock (globaltimer, steps of ", resolution_ns_, " ns), read in stream order");
}

}  // namespace packtrain::trainer
