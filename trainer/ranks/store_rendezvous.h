// How the ranks of a run find each other: at a store that rank 0 serves.
#ifndef PACKTRAIN_TRAINER_RANKS_STORE_RENDEZVOUS_H_
#define PACKTRAIN_TRAINER_RANKS_STORE_RENDEZVOUS_H_

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>

#include "absl/status/statusor.h"
#include "trainer/ranks/meeting.h"
#include "trainer/ranks/world.h"

namespace packtrain::trainer {

// Connects to the store of rank 0, at the world's master address, and returns once all ranks have joined. The
// name of the address is looked up for `resolve_timeout`. What the store is asked for later it waits for until
// the deadline, too.
// CANCELLED: asked to stop. INVALID_ARGUMENT: the address does not resolve. DEADLINE_EXCEEDED names the ranks
// that did not join, or says what listens in rank 0's place. FAILED_PRECONDITION: another process came as this
// rank, or rank 0's world is of another size, or rank 0 cannot listen there. ABORTED: another rank was asked to
// stop or has a world of another size, or rank 0 is gone. Throws what the store throws.
absl::StatusOr<c10::intrusive_ptr<c10d::Store>> RendezvousAtStore(const World& world,
                                                                  std::chrono::milliseconds resolve_timeout,
                                                                  Meeting& meeting);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RANKS_STORE_RENDEZVOUS_H_
