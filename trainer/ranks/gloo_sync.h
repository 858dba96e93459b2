// The ranks of several processes.
#ifndef PACKTRAIN_TRAINER_RANKS_GLOO_SYNC_H_
#define PACKTRAIN_TRAINER_RANKS_GLOO_SYNC_H_

#include <memory>

#include "absl/status/statusor.h"
#include "trainer/ranks/gradient_sync.h"
#include "trainer/ranks/meeting.h"

namespace packtrain::trainer {

// Host memory goes through Gloo; the ranks meet at a store of rank 0. Codes as RendezvousAtStore;
// FAILED_PRECONDITION also where this host has no network for Gloo. Throws what these throw, and may go on
// waiting after the deadline and after a request to stop: see MeetInTime.
absl::StatusOr<std::unique_ptr<GradientSync>> ConnectGloo(const World& world, const SyncOptions& options,
                                                          Meeting& meeting);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RANKS_GLOO_SYNC_H_
