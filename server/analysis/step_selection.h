// What a step is when several ranks made it, and which steps are measured, warm-up and steady.
#ifndef PACKTRAIN_SERVER_ANALYSIS_STEP_SELECTION_H_
#define PACKTRAIN_SERVER_ANALYSIS_STEP_SELECTION_H_

#include <cstdint>
#include <span>
#include <vector>

#include "proto/wire/step_columns.h"

namespace packtrain::analysis {

// A process of a run: the one that made an attempt of a rank.
struct RankAttempt {
  std::uint32_t rank = 0;
  std::uint32_t attempt = 0;

  friend auto operator<=>(const RankAttempt&, const RankAttempt&) = default;
};

// A step of one rank.
struct RankStep {
  std::uint32_t rank = 0;
  std::uint32_t attempt = 0;
  wire::StepRecord record;
};

// Puts steps in order: by step, then rank, then attempt. Costs little where they are so already.
void SortSteps(std::vector<RankStep>& steps);

// Keeps one record for each (rank, step): that of the last attempt that reported it. Takes and gives the order
// of SortSteps.
std::vector<RankStep> KeepLastAttempts(std::vector<RankStep> steps);

// Real content of a step, summed over ranks.
struct RealCounts {
  std::uint64_t graphs = 0;
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
};

// One step of the whole run.
struct TrainingStep {
  std::uint32_t ranks = 0;  // that reported it
  std::uint32_t flags = 0;  // of any rank
  RealCounts real;
  wire::StepRecord slowest;  // record of the rank with the largest total
  bool all_measured = true;  // IsMeasured holds for each rank's record
};

// Takes one record for each (rank, step), by step; gives one entry for each step, ascending.
std::vector<TrainingStep> JoinRanks(const std::vector<RankStep>& steps);

// Whether every time of a step is a measurement. What lies above 2^53 ns (104 days) is what NaN and infinity
// become; a total of 0 says that nothing was measured, while a phase may not have happened.
bool IsMeasured(const wire::StepRecord& record);

// Whether a step's time may enter a figure: measured, and reported by all `world_size` ranks.
bool IsComplete(const TrainingStep& step, std::uint32_t world_size);

// Sets the flag of warm-up by each step's place in its attempt, which begins with `first_step`.
void MarkWarmUp(std::span<wire::StepRecord> steps, std::uint64_t first_step);

// Neither warm-up (the first 10 steps of an attempt) nor capture, checkpoint or evaluation on any rank.
bool IsSteady(const TrainingStep& step);

}  // namespace packtrain::analysis

#endif  // PACKTRAIN_SERVER_ANALYSIS_STEP_SELECTION_H_
