// Which ranks have left, and why: a rank that leaves writes its reason to the store of the rendezvous.
//
//   PeerStatus peers(store, world, std::chrono::seconds(5));
//   if (!collective.ok()) return peers.Diagnose(collective.message());  // ABORTED: "rank 1 failed: ..."
#ifndef PACKTRAIN_TRAINER_RANKS_PEER_STATUS_H_
#define PACKTRAIN_TRAINER_RANKS_PEER_STATUS_H_

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "trainer/ranks/world.h"

namespace packtrain::trainer {

// Used by one thread.
class PeerStatus {
 public:
  // A rank that has not written its reason after `timeout` counts as gone. Nobody else uses `store`, this
  // rank's connection to that of rank 0.
  PeerStatus(c10::intrusive_ptr<c10d::Store> store, World world, std::chrono::milliseconds timeout);

  // Writes why this rank leaves; an empty reason says that it only met the failure of another rank. The first
  // reason stays. ABORTED: the store is gone, and rank 0 with it.
  absl::Status Leave(const std::string& reason);

  // Whether `rank` has written a reason. Throws what the store throws.
  bool HasLeft(std::uint32_t rank) const;

  // Waits for the reasons of all other ranks. ABORTED: names the ranks that are gone or have failed, with their
  // reasons.
  absl::Status AwaitOthers();

  // For a rank that has met `failure`: leaves with an empty reason, and finds out whose failure it is. Always
  // ABORTED.
  absl::Status Diagnose(const std::string& failure);

 private:
  bool LeavesBy(std::uint32_t rank, std::chrono::steady_clock::time_point deadline);

  const c10::intrusive_ptr<c10d::Store> store_;
  const World world_;
  const std::chrono::milliseconds timeout_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RANKS_PEER_STATUS_H_
