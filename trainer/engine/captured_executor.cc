#include "trainer/engine/captured_executor.h"

#include <ATen/core/CachingHostAllocator.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/types.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "proto/base/status_macros.h"

namespace packtrain::trainer {
namespace {

using Clock = std::chrono::steady_clock;

// At least 1, since 0 says that nothing was captured.
std::uint64_t NanosecondsSince(Clock::time_point start) {
  return std::max<std::uint64_t>(1, std::chrono::nanoseconds(Clock::now() - start).count());
}

at::HostAllocator& HostAllocator() { return *at::getHostAllocator(at::kCUDA); }

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
  // The host allocator makes a pool only when an allocation to it begins.
  HostAllocator().begin_allocate_to_pool(id_, [](c10::Stream) { return false; });
  HostAllocator().end_allocate_to_pool(id_);
}

CapturePool::~CapturePool() {
  HostAllocator().release_pool(id_);
  c10::cuda::CUDACachingAllocator::releasePool(device_, id_);
}

CapturedExecutor::CapturedExecutor(at::Device device, const InputLayout& layout, std::size_t max_captures,
                                   Work work)
    : device_(device),
      layout_(layout),
      max_captures_(max_captures),
      work_(std::move(work)),
      pool_(device.index()) {}

const GraphTensors& CapturedExecutor::InputsFor(const wire::Shape& padded) {
  if (!BringToFront([&](const Capture& capture) { return capture.shape == padded; })) {
    Push({.shape = padded, .inputs = NewGraphTensors(padded, layout_, device_), .graph = nullptr});
  }
  return captures_.front().inputs;
}

void CapturedExecutor::ReadInPlace(const GraphTensors& inputs) {
  const auto reads_them = [&](const Capture& capture) {
    return !capture.shape && capture.inputs.senders.is_same(inputs.senders);
  };
  if (!BringToFront(reads_them)) Push({.shape = std::nullopt, .inputs = inputs, .graph = nullptr});
}

template <typename Predicate>
bool CapturedExecutor::BringToFront(Predicate is_wanted) {
  const auto found = std::ranges::find_if(captures_, is_wanted);
  if (found == captures_.end()) return false;
  captures_.splice(captures_.begin(), captures_, found);
  return true;
}

void CapturedExecutor::Push(Capture capture) {
  if (captures_.size() == max_captures_) EvictLast();
  captures_.push_front(std::move(capture));
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

// What the step has used is given back first, as captures have memory of their own.
absl::StatusOr<std::uint64_t> CapturedExecutor::WarmUp() {
  ABSL_RETURN_IF_ERROR(work_(captures_.front().inputs));
  c10::cuda::CUDACachingAllocator::emptyCache();
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
