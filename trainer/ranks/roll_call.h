// Which ranks have gone, and why: each leaves a word at the store where they met.
#ifndef PACKTRAIN_TRAINER_RANKS_ROLL_CALL_H_
#define PACKTRAIN_TRAINER_RANKS_ROLL_CALL_H_

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "trainer/ranks/world.h"

namespace packtrain::trainer {

// ABORTED: "rank 1 is gone or does not answer".
absl::Status RankIsGone(std::uint32_t rank);

// Used by one thread.
class RollCall {
 public:
  // The call is at an end after `patience`, whoever has not answered. Nobody else uses `store`, this rank's
  // connection to that of rank 0.
  RollCall(c10::intrusive_ptr<c10d::Store> store, World world, std::chrono::milliseconds patience);

  // Leaves `word`, why this rank goes. The first one stays. ABORTED: the store is gone, and rank 0 with it.
  absl::Status Leave(const std::string& word);

  // Throws what the store throws.
  bool HasLeft(std::uint32_t rank) const;

  // Waits for the word of each of the others. ABORTED: names those that do not answer or have failed. Ranks
  // with an empty word have only met the failure of another.
  absl::Status Call();

  // For a rank that has met `failure`: leaves an empty word, and finds out whose failure it is. Always ABORTED.
  absl::Status Diagnose(const std::string& failure);

 private:
  bool Awaits(std::uint32_t rank, std::chrono::steady_clock::time_point deadline);

  const c10::intrusive_ptr<c10d::Store> store_;
  const World world_;
  const std::chrono::milliseconds patience_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RANKS_ROLL_CALL_H_
