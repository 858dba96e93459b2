// What the ranks of a run tell each other: gradients, sums, and what all must agree on.
//
//   ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<GradientSync> sync, GradientSync::Connect(world, options));
//   ABSL_RETURN_IF_ERROR(sync->JoinDevices(device.communicators()));
//   ABSL_RETURN_IF_ERROR(sync->Agree("--steps", "5000"));     // or all ranks end with the difference
//   ABSL_RETURN_IF_ERROR(sync->SumOnDevice(gradients));       // in each step
#ifndef PACKTRAIN_TRAINER_RANKS_GRADIENT_SYNC_H_
#define PACKTRAIN_TRAINER_RANKS_GRADIENT_SYNC_H_

#include <ATen/core/Tensor.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/ranks/communicator.h"
#include "trainer/ranks/rank_watch.h"
#include "trainer/ranks/world.h"

namespace packtrain::trainer {

struct SyncOptions {
  // The ranks meet within this time, or Connect fails a second later at the latest.
  std::chrono::milliseconds meet_timeout{120'000};
  // A later call that waits longer than this for another rank fails.
  std::chrono::milliseconds timeout{120'000};
  // How long a name of rank 0's host that does not resolve is looked up again.
  std::chrono::milliseconds resolve_timeout{10'000};
  // Ends Connect within a second.
  std::stop_token stop = {};
  // How long the others' reasons are waited for once something has failed; and when ranks whose devices sum by
  // themselves are gone.
  WatchOptions watch;
  // Ends the process, in which a device waits for ever for a rank that is gone. Called on another thread.
  std::function<void(const absl::Status&)> end_process;
};

// All ranks make the same calls in the same order. After a failure nothing but Leave may be called. Used by
// one thread.
class GradientSync {
 public:
  // Finds the other ranks within `options.meet_timeout`. A world of one process needs no network. CANCELLED:
  // asked to stop. INVALID_ARGUMENT: the master address does not resolve. FAILED_PRECONDITION: another process
  // is this rank, the ranks differ in the world's size, or there is no network among them. DEADLINE_EXCEEDED:
  // the ranks did not meet in time. ABORTED: they did not meet, and another rank or the network is the cause.
  // Each message has the time that was spent.
  static absl::StatusOr<std::unique_ptr<GradientSync>> Connect(const World& world, const SyncOptions& options);
  virtual ~GradientSync() = default;

  virtual const World& world() const = 0;

  // Has sums of devices made by these themselves, where each rank has one of its own and a maker for it; null:
  // it has none. Codes as Sum; INTERNAL, FAILED_PRECONDITION: the devices did not meet.
  virtual absl::Status JoinDevices(const CommunicatorMaker* maker) = 0;
  // OK: SumOnDevice enqueues and may be captured. FAILED_PRECONDITION: it waits on the host; says why.
  virtual absl::Status device_sums() const = 0;

  // Replaces `tensor`, on the host, by its sum over the ranks. ABORTED names the ranks that are gone or have
  // failed.
  virtual absl::Status Sum(at::Tensor tensor) = 0;

  // The same for a contiguous tensor of the device, after the work issued so far. Where it enqueues, the sum
  // is right if CheckRanks is OK once the device is past it.
  virtual absl::Status SumOnDevice(at::Tensor tensor) = 0;

  // Each rank's `bytes`, by rank, on all ranks. Codes as Sum.
  absl::StatusOr<std::vector<std::string>> Gather(const std::string& bytes);

  // Rank 0's `value`, on all ranks. Codes as Sum.
  absl::StatusOr<std::string> Share(const std::string& value);

  // What a rank has done by itself, such as loading data, is done on all of them: OK on all ranks. Else
  // `outcome` where that is a failure, and ABORTED on the others, naming the ranks that failed with their
  // reasons. So no rank goes before the others have its reason, however much later they come.
  absl::Status AllSucceed(const absl::Status& outcome);

  // FAILED_PRECONDITION on all ranks where their values differ; `name` goes into the message.
  absl::Status Agree(const std::string& name, const std::string& value);

  // Returns once all ranks have called it.
  virtual absl::Status Barrier() = 0;

  // Never waits. ABORTED: a rank is known to be gone or to have failed; what the device has summed is void.
  virtual absl::Status CheckRanks() const = 0;

  // Tells the others why this rank leaves. Rank 0, which serves the store, waits a moment for the others'
  // reasons.
  virtual void Leave(const absl::Status& reason) = 0;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RANKS_GRADIENT_SYNC_H_
