// Sums over the ranks that devices make by themselves.
#ifndef PACKTRAIN_TRAINER_RANKS_COMMUNICATOR_H_
#define PACKTRAIN_TRAINER_RANKS_COMMUNICATOR_H_

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/ranks/world.h"

namespace packtrain::trainer {

// What the devices of all ranks have in common. Its destruction is an Abort.
class Communicator {
 public:
  virtual ~Communicator() = default;

  // Enqueues the replacement of `tensor`, contiguous, by its sum over the ranks, after the work issued so far;
  // may be captured in a CUDA graph. ABORTED: a rank is gone, or this one has aborted. Called by one thread.
  virtual absl::Status Sum(const at::Tensor& tensor) = 0;

  // Sums that have been enqueued end, with any result. May wait until the graphs that hold one are destroyed.
  // Any thread may call it.
  virtual void Abort() = 0;
};

// Makes communicators for one device. Used by one thread.
class CommunicatorMaker {
 public:
  virtual ~CommunicatorMaker() = default;

  // Names the device among those of all hosts. Each rank of a communicator must have one of its own.
  virtual std::string card() const = 0;
  // By which the ranks of one communicator find each other; made by one of them.
  virtual absl::StatusOr<std::string> NewToken() const = 0;
  // Waits for the ranks of `world`, without limit.
  virtual absl::StatusOr<std::unique_ptr<Communicator>> Connect(const std::string& token,
                                                                const World& world) const = 0;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RANKS_COMMUNICATOR_H_
