// The steps of a run, with the evaluations and checkpoints between them.
#ifndef PACKTRAIN_TRAINER_RUN_TRAINING_LOOP_H_
#define PACKTRAIN_TRAINER_RUN_TRAINING_LOOP_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/run_reporter.h"
#include "trainer/data/device_feed.h"
#include "trainer/data/training_batches.h"
#include "trainer/data/training_data.h"
#include "trainer/engine/step_clock.h"
#include "trainer/engine/step_timeline.h"
#include "trainer/engine/trained_model.h"
#include "trainer/run/checkpoint.h"
#include "trainer/run/checkpoint_folder.h"
#include "trainer/run/evaluation.h"
#include "trainer/run/step_files.h"
#include "trainer/run/step_statistics.h"
#include "trainer/run/training.h"

namespace packtrain::trainer {

// What one rank trains with. All borrowed.
struct TrainingParts {
  const TrainingData& data;
  DeviceFeed& feed;
  TrainedModel& trained;
  Evaluator& evaluator;
  GradientSync& sync;
  client::RunReporter& reporter;
  const std::optional<CheckpointFolder>& folder;  // of rank 0, where checkpoints are wanted
  const std::optional<StepFiles>& step_files;     // where they are wanted
};

// One rank's part. Used by one thread.
class TrainingLoop {
 public:
  // Goes on from `start`, whose model has been restored and whose unsent records have been passed on.
  TrainingLoop(const TrainingParts& parts, const TrainingOptions& options, Checkpoint start,
               const std::stop_token& stop);

  // Makes the steps that are left, and evaluates. Where a rank cannot go on, or is asked to stop, all end
  // after the same step and leave a checkpoint of it. CANCELLED: asked to stop. ABORTED: another rank is gone
  // or cannot go on; says why. Other codes: why this rank cannot.
  absl::Status Run();

  // Of this rank, and before a resume of all.
  const StepStatistics& statistics() const { return statistics_; }
  // Of the last evaluation of each split that the data set has.
  const std::map<std::string, SplitMetrics>& splits() const { return splits_; }
  // Made in all, also before a resume.
  std::uint64_t steps() const { return state_.position.steps; }

 private:
  // The corrupt graphs that a batch came without, if any.
  struct SkippedGraphs {
    std::uint64_t epoch = 0;
    std::uint64_t batch_index = 0;
    std::vector<std::uint64_t> graphs = {};
  };
  struct Issued {
    Position after = {};
    SkippedGraphs skipped = {};
  };

  absl::Status MakeSteps();
  absl::StatusOr<std::unique_ptr<TrainingBatches>> OpenSource() const;
  absl::Status MakeStep(TrainingBatches& batches);
  absl::Status NextBatch(TrainingBatches& batches) const;
  absl::Status BringInputs(TrainingBatches& batches) const;
  wire::StepRecord RecordOf(const wire::BatchHeader& header, const wire::BatchTiming& timing);
  static SkippedGraphs SkippedIn(const wire::BatchHeader& header);
  Position PositionAfter(const wire::BatchHeader& header) const;

  void Settle();
  void Learn(const wire::StepRecord& step, const StepReading& reading);
  void Report(const wire::StepRecord& step);
  // Tells the run, and once the user, of what a batch of the step came without.
  void ReportCorrupt(std::uint64_t step, const std::string& split, const SkippedGraphs& skipped);

  absl::Status Withdraw(const absl::Status& reason);
  absl::Status EndTogether(const absl::Status& reason);
  absl::Status Save();

  absl::Status EvaluateSplits();
  absl::Status EvaluateSplit(const std::string& split);
  absl::Status ReadSplit(const std::string& split);
  void ReportEvaluation(const std::string& split, std::uint64_t duration_ns);
  void ReportEvent(const std::string& name, std::chrono::steady_clock::time_point start) const;

  bool IsEvaluationDue() const;
  bool IsCheckpointDue() const;
  void Progress(const std::string& line) const;
  std::uint64_t issued_steps() const { return steps() + issued_.size(); }

  const TrainingParts parts_;
  const TrainingOptions& options_;
  const std::stop_token stop_;
  const StreamStart start_;
  const std::uint64_t first_step_;
  Checkpoint state_;                  // its totals are statistics_, its model is parts_
  std::deque<Issued> issued_;         // steps that may or may not have been made
  std::optional<absl::Status> halt_;  // why no step is made any more
  std::uint64_t saved_steps_;
  std::uint32_t flags_of_next_ = 0;
  bool told_of_corrupt_ = false;
  StepStatistics statistics_;
  std::map<std::string, SplitMetrics> splits_;
  std::chrono::steady_clock::time_point next_progress_;
  StepTimeline timeline_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_TRAINING_LOOP_H_
