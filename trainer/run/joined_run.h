// The run on the server that the ranks report to.
#ifndef PACKTRAIN_TRAINER_RUN_JOINED_RUN_H_
#define PACKTRAIN_TRAINER_RUN_JOINED_RUN_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/connection.h"
#include "client/run_reporter.h"
#include "trainer/ranks/gradient_sync.h"
#include "trainer/run/checkpoint.h"

namespace packtrain::trainer {

struct JoinedRun {
  std::string key;
  std::unique_ptr<client::RunReporter> reporter;  // of this rank
  bool follows = false;                           // it is another run than that of the steps made before
};

// All ranks call it. Begins a run, or goes on with that of `state`, a training that has made steps: joins it,
// and passes on what `state` has of unsent records.
//
// A run has one number of ranks, since speed depends on it. So with another one, and where the server lacks the
// run, one of its own begins, which names the former in the label "resumed_from"; the former is then closed as
// failed. Where no step is left to make, none begins: rank 0 reports to the former, the others to none. A run
// that is done stays as it is.
//
// `options` says how records wait; its key, rank and steps are those of the run. `progress` gets lines on rank
// 0. Codes as client::RunReporter and GradientSync; then no run is left open.
absl::StatusOr<JoinedRun> JoinRun(std::shared_ptr<client::Connection> connection,
                                  client::RunDescription description, client::ReporterOptions options,
                                  const Checkpoint& state, GradientSync& sync,
                                  const std::function<void(const std::string&)>& progress);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_JOINED_RUN_H_
