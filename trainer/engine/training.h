// A whole training run: from the connection to the final evaluation.
#ifndef PACKTRAIN_TRAINER_ENGINE_TRAINING_H_
#define PACKTRAIN_TRAINER_ENGINE_TRAINING_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "client/batch_spec.h"
#include "trainer/data/read_ahead.h"
#include "trainer/engine/evaluation.h"
#include "trainer/engine/shape_executor.h"
#include "trainer/engine/step_statistics.h"
#include "trainer/engine/world.h"

namespace packtrain::trainer {

struct CheckpointOptions {
  std::string folder;       // empty: no checkpoints
  std::uint64_t every = 0;  // steps; 0: only at the end, whether it is done, asked to stop or has failed
  bool resume = false;      // go on from the checkpoint in `folder`, where there is one
};

struct TrainingOptions {
  std::string server;
  std::chrono::milliseconds give_up{60'000};
  std::string dataset;
  client::BatchSpec spec;
  std::string target;
  std::string model;
  std::optional<std::int64_t> classes;
  std::uint32_t model_seed = 0;
  std::uint64_t steps = 0;  // in all, those before a resume too
  double learning_rate = 1e-4;
  std::uint64_t evaluate_every = 0;  // 0: only at the end
  CheckpointOptions checkpoint;
  std::string device = "cpu";
  std::string precision = "f32";  // f32, tf32, bf16: see SetPrecision
  std::optional<bool> captured;   // absent: where the device and the ranks can
  std::size_t max_captures = EngineOptions().max_captures;
  bool plain_kernels = false;  // Torch's operators in place of kernels of ours
  std::uint64_t read_ahead_mib = kReadAheadMib;
  bool synthetic = false;  // serve the first batches again and again, as if input cost nothing
  std::map<std::string, std::string> labels;
  World world;
  // Ends the process, whose device waits for ever for a rank that is gone; `status` says which. Called on
  // another thread.
  std::function<void(const absl::Status& status)> end_process;
  // Gets lines about the progress, on rank 0, and on every rank those of its connection's `on_notice`; from any
  // thread.
  std::function<void(const std::string& line)> progress;
};

struct TrainingResult {
  std::string run;
  std::uint64_t steps = 0;
  std::uint64_t graphs = 0;      // of all ranks
  SteadyFigures steady;          // of this rank
  double graphs_per_second = 0;  // of all ranks, in this rank's steady time
  double loss = 0;               // of this rank's last step that had one
  CaptureCounts captures;
  CaptureCounts evaluation_captures;
  std::map<std::string, SplitErrors> splits;  // val, test: those that the data set has, after the last step
};

// Trains as this rank of the world. A failure, or a request to stop, is reported to the server as the run's
// end. CANCELLED: asked to stop. UNAVAILABLE: the server could not be reached. ABORTED: another rank is gone.
absl::StatusOr<TrainingResult> Train(const TrainingOptions& options, const std::stop_token& stop);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_TRAINING_H_
