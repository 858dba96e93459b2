#include "trainer/engine/captured_executor.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/types.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "proto/base/status_macros.h"

namespace packtrain::trainer {
namespace {

using Clock = std::chrono::steady_clock;

// At least 1, since 0 says that nothing was captured.
std::uint64_t NanosecondsSince(Clock::time_point start) {
  return std::max<std::uint64_t>(1, std::chrono::nanoseconds(Clock::now() - start).count());
}

// Ends a capture whose work has failed, which may have ended it already.
void Abandon(at::cuda::CUDAGraph& graph) {
  try {
    graph.capture_end();
  } catch (const std::exception&) {
  }
}

}  // namespace

CapturePool::CapturePool(c10::DeviceIndex device) : device_(device), id_(at::cuda::graph_pool_handle()) {
  c10::cuda::CUDACachingAllocator::createOrIncrefPool(device_, id_);
}

CapturePool::~CapturePool() { c10::cuda::CUDACachingAllocator::releasePool(device_, id_); }

CapturedExecutor::CapturedExecutor(at::Device device, const InputLayout& layout, std::size_t max_captures,
                                   Work work)
    : device_(device),
      layout_(layout),
      max_captures_(max_captures),
      work_(std::move(work)),
      pool_(device.index()) {}

const GraphTensors& CapturedExecutor::InputsFor(const wire::Shape& padded) {
  const auto found = std::ranges::find(captures_, padded, &Capture::shape);
  if (found != captures_.end()) {
    captures_.splice(captures_.begin(), captures_, found);
  } else {
    if (captures_.size() == max_captures_) EvictLast();
    captures_.push_front(
        {.shape = padded, .inputs = NewGraphTensors(padded, layout_, device_), .graph = nullptr});
  }
  return captures_.front().inputs;
}

absl::StatusOr<std::uint64_t> CapturedExecutor::Run() {
  if (!warm_) return WarmUp();
  std::uint64_t capture_ns = 0;
  if (captures_.front().graph == nullptr) {
    ABSL_ASSIGN_OR_RETURN(const std::uint64_t captured, CaptureFront());
    capture_ns = captured;
  }
  captures_.front().graph->replay();
  return capture_ns;
}

absl::StatusOr<std::uint64_t> CapturedExecutor::WarmUp() {
  ABSL_RETURN_IF_ERROR(work_(captures_.front().inputs));
  warm_ = true;
  return CaptureFront();
}

absl::StatusOr<std::uint64_t> CapturedExecutor::CaptureFront() {
  const Clock::time_point start = Clock::now();
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<at::cuda::CUDAGraph> graph, CaptureWork(captures_.front().inputs));
  captures_.front().graph = std::move(graph);
  ++counts_.captures;
  return NanosecondsSince(start);
}

// Other threads may go on calling CUDA meanwhile.
absl::StatusOr<std::unique_ptr<at::cuda::CUDAGraph>> CapturedExecutor::CaptureWork(const GraphTensors& inputs) {
  auto graph = std::make_unique<at::cuda::CUDAGraph>();
  graph->capture_begin(pool_.id(), cudaStreamCaptureModeThreadLocal);
  try {
    if (absl::Status status = work_(inputs); !status.ok()) {
      Abandon(*graph);
      return status;
    }
  } catch (...) {
    Abandon(*graph);
    throw;
  }
  graph->capture_end();
  return graph;
}

// Its memory goes to the next capture, so its last replay must have ended.
void CapturedExecutor::EvictLast() {
  C10_CUDA_CHECK(cudaStreamSynchronize(c10::cuda::getCurrentCUDAStream()));
  if (captures_.back().graph != nullptr) ++counts_.evictions;
  captures_.pop_back();
}

}  // namespace packtrain::trainer
