// Signs of life between the ranks, through the store where they met.
#ifndef PACKTRAIN_TRAINER_RANKS_HEARTBEATS_H_
#define PACKTRAIN_TRAINER_RANKS_HEARTBEATS_H_

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "trainer/ranks/roll_call.h"
#include "trainer/ranks/world.h"

namespace packtrain::trainer {

// Each rank counts up a number of its own; one whose number stands still for too long is gone. Used by one
// thread.
class Heartbeats {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  struct Options {
    std::chrono::milliseconds patience;   // without a sign of life
    std::chrono::milliseconds roll_call;  // for the others' words, and for their ends
  };

  // Nobody else uses `store`, this rank's connection to that of rank 0.
  Heartbeats(c10::intrusive_ptr<c10d::Store> store, const World& world, const Options& options, TimePoint now);

  // Gives a sign of life, and looks for those of the others. ABORTED: a rank is gone or has left; names it and
  // the reason it left. The others then learn that this one leaves, too.
  absl::Status Beat(TimePoint now);

  // This rank is done, and not missed. On rank 0, where the ranks meet, waits for the others' ends, which need
  // it.
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
  RollCall roll_call_;
  std::vector<Peer> peers_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RANKS_HEARTBEATS_H_
