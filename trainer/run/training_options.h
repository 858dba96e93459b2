// What a training run is told to do.
#ifndef PACKTRAIN_TRAINER_RUN_TRAINING_OPTIONS_H_
#define PACKTRAIN_TRAINER_RUN_TRAINING_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "client/batch_reader.h"
#include "client/run_reporter.h"
#include "proto/wire/batch_spec.h"
#include "trainer/data/read_ahead.h"
#include "trainer/engine/engine_options.h"
#include "trainer/engine/rate_schedule.h"
#include "trainer/models/model_flags.h"
#include "trainer/ranks/world.h"

namespace packtrain::trainer {

struct CheckpointOptions {
  std::string folder;       // empty: no checkpoints
  std::uint64_t every = 0;  // steps; 0: only at the end, whether it is done, asked to stop or has failed
  bool resume = false;      // go on from the checkpoint in `folder`, where there is one
};

struct TrainingOptions {
  std::string server;      // of batches
  std::string run_server;  // that the run is reported to; empty: `server`
  std::chrono::milliseconds give_up{60'000};
  std::chrono::milliseconds meet_timeout{120'000};                           // for the ranks to find each other
  std::uint64_t report_spool_bytes = client::ReporterOptions().spool_bytes;  // see there
  std::string dataset;
  wire::BatchSpec spec;
  std::string target;  // "A,B,.."; empty: the first one
  std::string model;
  ModelFlags model_flags;
  std::optional<std::int64_t> classes;  // of the embedding; absent: as many as the data set has
  std::uint32_t model_seed = 0;
  std::uint64_t steps = 0;  // in all, those before a resume too
  double learning_rate = 1e-4;
  RateSchedule schedule = RateSchedule::kStaircase;
  std::uint64_t warmup_steps = 0;    // fewer than `steps`
  std::uint64_t evaluate_every = 0;  // 0: only at the end
  CheckpointOptions checkpoint;
  std::string device = "cpu";
  std::string precision = "f32";  // f32, tf32, bf16, f64: see SetPrecision
  std::optional<bool> captured;   // absent: where the device and the ranks can
  std::size_t max_captures = EngineOptions().max_captures;
  bool plain_kernels = false;  // Torch's operators in place of kernels of ours
  std::uint64_t read_ahead_mib = kReadAheadMib;
  client::OnCorrupt on_corrupt = client::OnCorrupt::kStop;
  bool synthetic = false;  // serve the first batches again and again, as if input cost nothing
  std::string step_files;  // folder of StepFiles; empty: none are written
  std::map<std::string, std::string> labels;
  World world;
  // Ends the process, whose device waits for ever for a rank that is gone; `status` says which. Called on
  // another thread.
  std::function<void(const absl::Status& status)> end_process;
  // Gets lines about the progress, on rank 0, and on every rank those of its connection's `on_notice`; from any
  // thread.
  std::function<void(const std::string& line)> progress;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_TRAINING_OPTIONS_H_
