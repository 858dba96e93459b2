// The ranks of several processes.
#ifndef PACKTRAIN_TRAINER_RANKS_GLOO_SYNC_H_
#define PACKTRAIN_TRAINER_RANKS_GLOO_SYNC_H_

#include <memory>

#include "absl/status/statusor.h"
#include "trainer/ranks/gradient_sync.h"

namespace packtrain::trainer {

// Host memory goes through Gloo; the ranks meet at a store of rank 0. Codes as RendezvousAtStore. Throws what
// these throw.
absl::StatusOr<std::unique_ptr<GradientSync>> ConnectGloo(const World& world, const SyncOptions& options);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RANKS_GLOO_SYNC_H_
