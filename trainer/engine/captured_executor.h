// Issues the work of each shape, or of inputs that are read in place, as one CUDA graph.
#ifndef PACKTRAIN_TRAINER_ENGINE_CAPTURED_EXECUTOR_H_
#define PACKTRAIN_TRAINER_ENGINE_CAPTURED_EXECUTOR_H_

#include <ATen/cuda/CUDAGraph.h>

#include <list>
#include <memory>
#include <optional>

#include "trainer/engine/shape_executor.h"

namespace packtrain::trainer {

// Memory of Torch's allocators for captures, of the card and of the host, kept over the time in which no
// capture uses it: by itself an allocator ends a pool with its last capture, and refuses the next one.
class CapturePool {
 public:
  explicit CapturePool(c10::DeviceIndex device);
  ~CapturePool();
  CapturePool(const CapturePool&) = delete;
  CapturePool& operator=(const CapturePool&) = delete;

  at::cuda::MempoolId_t id() const { return id_; }

 private:
  const c10::DeviceIndex device_;
  const at::cuda::MempoolId_t id_;
};

// A shape, or inputs that are read in place, is captured when it first comes and replayed from then on. What
// comes first of all runs operation by operation as well, before it is captured: libraries make their handles
// and workspaces then. So each Run issues its work once, whatever else it does. The current stream is not the
// default one, and the same in all calls.
class CapturedExecutor final : public ShapeExecutor {
 public:
  CapturedExecutor(at::Device device, const InputLayout& layout, std::size_t max_captures, Work work);

  const GraphTensors& InputsFor(const wire::Shape& padded) override;
  void ReadInPlace(const GraphTensors& inputs) override;
  absl::StatusOr<std::uint64_t> Run() override;
  CaptureCounts counts() const override { return counts_; }

 private:
  struct Capture {
    std::optional<wire::Shape> shape;  // none: its inputs are somebody else's
    GraphTensors inputs;
    std::unique_ptr<at::cuda::CUDAGraph> graph;  // null: not captured yet
  };

  absl::StatusOr<std::uint64_t> WarmUp();
  absl::StatusOr<std::uint64_t> CaptureFront();
  absl::StatusOr<std::unique_ptr<at::cuda::CUDAGraph>> CaptureWork(const GraphTensors& inputs);
  // To the front; false where there is none.
  template <typename Predicate>
  bool BringToFront(Predicate is_wanted);
  // In front of the others, in place of the last one where there is no room.
  void Push(Capture capture);
  void EvictLast();

  const at::Device device_;
  const InputLayout layout_;
  const std::size_t max_captures_;
  const Work work_;
  const CapturePool pool_;  // of all captures: no two run at a time
  bool warm_ = false;
  std::list<Capture> captures_;  // the one used last comes first
  CaptureCounts counts_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_CAPTURED_EXECUTOR_H_
