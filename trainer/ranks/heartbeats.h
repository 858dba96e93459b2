// Heartbeats between the ranks, through the store of the rendezvous.
#ifndef PACKTRAIN_TRAINER_RANKS_HEARTBEATS_H_
#define PACKTRAIN_TRAINER_RANKS_HEARTBEATS_H_

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "trainer/ranks/peer_status.h"
#include "trainer/ranks/world.h"

namespace packtrain::trainer {

// Each rank increments a counter of its own; a rank whose counter stands still for too long is gone. Used by
// one thread.
class Heartbeats {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  struct Options {
    std::chrono::milliseconds timeout;       // without a heartbeat, after which a rank is gone
    std::chrono::milliseconds peer_timeout;  // for the others' reasons, and for their ends
  };

  // Nobody else uses `store`, this rank's connection to that of rank 0.
  Heartbeats(c10::intrusive_ptr<c10d::Store> store, const World& world, const Options& options, TimePoint now);

  // Increments this rank's counter, and reads those of the others. ABORTED: a rank is gone or has left; names
  // it and the reason it left. The others then learn that this one leaves, too.
  absl::Status Beat(TimePoint now);

  // This rank is done: the others do not take its silence for a loss. Rank 0, which serves the store, waits for
  // the others' ends.
  void End();

 private:
  struct Peer {
    std::uint32_t rank;
    std::int64_t beats;
    TimePoint heard;
    bool ended;
  };

  absl::Status Look(TimePoint now);
  void Listen(Peer& peer, TimePoint now);

  const c10::intrusive_ptr<c10d::Store> store_;
  const World world_;
  const Options options_;
  PeerStatus peer_status_;
  std::vector<Peer> peers_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RANKS_HEARTBEATS_H_
