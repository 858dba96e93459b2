// A whole training run: from the connection to the final evaluation.
//
//   TrainingOptions options = {.server = "127.0.0.1:7077", .dataset = "qm9", .model = "schnet", .steps = 5000};
//   const absl::StatusOr<TrainingResult> result = Train(options, stop);
//   if (result.ok()) Print(result->splits.at("test").Find("mae")->value);
#ifndef PACKTRAIN_TRAINER_RUN_TRAINING_H_
#define PACKTRAIN_TRAINER_RUN_TRAINING_H_

#include <cstdint>
#include <map>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "trainer/engine/shape_executor.h"
#include "trainer/run/evaluation.h"
#include "trainer/run/step_statistics.h"
#include "trainer/run/training_options.h"

namespace packtrain::trainer {

struct TrainingResult {
  std::string run;
  std::uint64_t steps = 0;
  std::uint64_t graphs = 0;      // of all ranks
  SteadyFigures steady;          // of this rank
  double graphs_per_second = 0;  // of all ranks, in this rank's steady time
  double loss = 0;               // of the last step that had one
  CaptureCounts captures;
  CaptureCounts evaluation_captures;
  std::map<std::string, SplitMetrics> splits;  // val, test: those that the data set has, after the last step
};

// Trains as this rank of the world. A failure, or a request to stop, is reported to the server as the run's
// end. CANCELLED: asked to stop. UNAVAILABLE: the server could not be reached. ABORTED: another rank is gone.
absl::StatusOr<TrainingResult> Train(const TrainingOptions& options, const std::stop_token& stop);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_TRAINING_H_
