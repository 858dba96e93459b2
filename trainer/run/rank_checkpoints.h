// One checkpoint of all ranks: rank 0 alone reads and writes it, so it is whole or not there.
#ifndef PACKTRAIN_TRAINER_RUN_RANK_CHECKPOINTS_H_
#define PACKTRAIN_TRAINER_RUN_RANK_CHECKPOINTS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer/engine/adam.h"
#include "trainer/engine/flat_parameters.h"
#include "trainer/ranks/gradient_sync.h"
#include "trainer/run/checkpoint.h"
#include "trainer/run/checkpoint_folder.h"

namespace packtrain::trainer {

// The checkpoint that is `file`, or was when it was opened; nullopt: there is none. DATA_LOSS,
// FAILED_PRECONDITION: it cannot be used.
absl::StatusOr<std::optional<Checkpoint>> ReadCheckpoint(const std::string& file);

// All ranks make these calls together; `folder` is read on rank 0 alone. ABORTED: another rank is gone, or has
// failed at its part.

// The checkpoint of rank 0's folder, whose unsent records are those of all ranks on rank 0 and none on the
// others; nullopt: there is none. DATA_LOSS, FAILED_PRECONDITION: it cannot be used.
absl::StatusOr<std::optional<Checkpoint>> LoadCheckpoint(const std::optional<CheckpointFolder>& folder,
                                                         GradientSync& sync);

// Puts together what the ranks pass, each with the totals and unsent records of its own, and the model as it is
// on rank 0, and writes it to rank 0's folder.
absl::Status SaveCheckpoint(Checkpoint checkpoint, const FlatParameters& parameters, const Adam& adam,
                            const std::optional<CheckpointFolder>& folder, GradientSync& sync);

// FAILED_PRECONDITION: the checkpoint's model has another number of parameters; both.
absl::Status RestoreParameters(const Checkpoint& checkpoint, FlatParameters& parameters);
absl::Status RestoreModel(const Checkpoint& checkpoint, FlatParameters& parameters, Adam& adam);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_RANK_CHECKPOINTS_H_
