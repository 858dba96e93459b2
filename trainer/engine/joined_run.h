// The run on the server that the ranks report to.
#ifndef PACKTRAIN_TRAINER_ENGINE_JOINED_RUN_H_
#define PACKTRAIN_TRAINER_ENGINE_JOINED_RUN_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/connection.h"
#include "client/run_reporter.h"
#include "trainer/engine/checkpoint.h"
#include "trainer/engine/gradient_sync.h"

namespace packtrain::trainer {

struct JoinedRun {
  std::string key;
  std::unique_ptr<client::RunReporter> reporter;  // of this rank
};

// `state` is that of a training which had another number of ranks. A run has one, since speed depends on it.
bool HasOtherWorld(const Checkpoint& state, const World& world);

// All ranks call it. Begins a run; where `state` is that of a training that has made steps, a new attempt of
// its run, or, where it has another world, a run of its own, which names the former one in the label
// "resumed_from" and closes it. Passes on what `state` has of unsent records. Codes as client::RunReporter and
// GradientSync.
absl::StatusOr<JoinedRun> JoinRun(std::shared_ptr<client::Connection> connection,
                                  client::RunDescription description, const Checkpoint& state,
                                  GradientSync& sync);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_JOINED_RUN_H_
