#include "trainer/ranks/nccl_communicator.h"

#include <c10/cuda/CUDAException.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <torch/csrc/cuda/nccl.h>
#include <torch/types.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "trainer/ranks/rank_errors.h"

namespace packtrain::trainer {
namespace {

namespace nccl = torch::cuda::nccl;

// As nccl.h declares it, for a library that LibTorch loads: the one call that LibTorch has no name for.
using AbortFunction = int (*)(nccl::ncclComm_t);
AbortFunction FindAbort() { return reinterpret_cast<AbortFunction>(dlsym(RTLD_DEFAULT, "ncclCommAbort")); }

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(nccl::ncclComm_t handle, AbortFunction abort) : abort_(abort), handle_(handle) {}
  ~NcclCommunicator() override { Abort(); }
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  absl::Status Sum(const at::Tensor& tensor) override {
    const std::lock_guard lock(enqueuing_);
    const nccl::ncclComm_t handle = handle_;
    if (handle == nullptr) return absl::AbortedError("NCCL's communicator has been aborted");
    try {
      std::vector<at::Tensor> tensors = {tensor};
      nccl::all_reduce(tensors, tensors, static_cast<int>(nccl::ncclRedOp::Sum), {}, {handle});
      return absl::OkStatus();
    } catch (const std::exception& error) {
      return absl::AbortedError(FirstLine(error));
    }
  }

  // A Sum takes microseconds to enqueue; one that takes longer waits for another rank itself, and this ends it.
  void Abort() override {
    const std::unique_lock lock(enqueuing_, std::chrono::seconds(1));
    if (const nccl::ncclComm_t handle = handle_.exchange(nullptr)) abort_(handle);
  }

 private:
  const AbortFunction abort_;
  std::timed_mutex enqueuing_;
  std::atomic<nccl::ncclComm_t> handle_;  // null: aborted
};

class NcclMaker final : public CommunicatorMaker {
 public:
  explicit NcclMaker(c10::DeviceIndex index) : index_(index) {}

  std::string card() const override {
    cudaDeviceProp properties{};
    C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, index_));
    const std::string_view uuid(properties.uuid.bytes, sizeof(properties.uuid.bytes));
    return absl::BytesToHexString({uuid.data(), uuid.size()});
  }

  absl::StatusOr<std::string> NewToken() const override {
    try {
      nccl::ncclUniqueId id;
      nccl::get_unique_id(id);
      return std::string(id.internal, sizeof(id.internal));
    } catch (const std::exception& error) {
      return absl::InternalError(absl::StrCat("NCCL: ", FirstLine(error)));
    }
  }

  absl::StatusOr<std::unique_ptr<Communicator>> Connect(const std::string& token,
                                                        const World& world) const override {
    const AbortFunction abort = FindAbort();
    if (abort == nullptr) return absl::FailedPreconditionError("the NCCL that LibTorch uses has no abort");
    nccl::ncclUniqueId id;
    if (token.size() != sizeof(id.internal)) return absl::InternalError("NCCL's token has another size");
    std::memcpy(id.internal, token.data(), token.size());
    try {
      return std::make_unique<NcclCommunicator>(
          nccl::comm_init_rank(static_cast<int>(world.size), id, static_cast<int>(world.rank)), abort);
    } catch (const std::exception& error) {
      return absl::InternalError(absl::StrCat("NCCL: ", FirstLine(error)));
    }
  }

 private:
  const c10::DeviceIndex index_;
};

}  // namespace

std::unique_ptr<CommunicatorMaker> NcclOn(c10::DeviceIndex index) { return std::make_unique<NcclMaker>(index); }

}  // namespace packtrain::trainer
