// Which records of a run count: the one rule for steps, evaluations, samples, events and corrupt graphs.
//
// A run may be resumed from a step behind which an earlier process had already reported, be gone on with by
// another run, or end earlier than it had once got. What was reported beyond is kept, and in no figure;
// RunService in packtrain/v1/run.proto states the rule.
//
//   const CountedRecords counted(run, attempts);
//   if (counted.Counts({rank, attempt}, sample)) totals.Add({rank, attempt}, sample);
#ifndef PACKTRAIN_SERVER_ANALYSIS_COUNTED_RECORDS_H_
#define PACKTRAIN_SERVER_ANALYSIS_COUNTED_RECORDS_H_

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "packtrain/v1/run.pb.h"
#include "server/analysis/step_selection.h"

namespace packtrain::analysis {

// An attempt, and the first step that it reports.
struct OpenedAttempt {
  RankAttempt process;
  std::uint64_t first_step = 0;
};

// Immutable; any number of threads may use it. By default everything counts.
class CountedRecords {
 public:
  CountedRecords() = default;
  // `attempts` are all of the run, in any order.
  CountedRecords(const v1::Run& run, std::span<const OpenedAttempt> attempts);

  // The first step that no longer counts for an attempt.
  std::uint64_t EndOf(const RankAttempt& process) const;

  bool Counts(const RankAttempt& process, const wire::StepRecord& step) const;
  // A sample and an event lie behind the step that they name. One without a step counts unless no step of its
  // attempt does.
  bool Counts(const RankAttempt& process, const v1::Sample& sample) const;
  bool Counts(const RankAttempt& process, const v1::Event& event) const;
  // Of the model behind as many steps as it says, so that one at the first step of a later attempt counts. One
  // without an attempt, of an older store, is held against the end of the run alone.
  bool Counts(const v1::Evaluation& evaluation) const;
  // Of a training batch as its step, of another one as an evaluation.
  bool Counts(const v1::CorruptGraphs& batch) const;

  // The steps that count, one record for each (rank, step): of several the last attempt's. Takes and gives the
  // order of SortSteps.
  std::vector<RankStep> Keep(std::vector<RankStep> steps) const;
  // The evaluations that count, one for each (step, split): of several the last one's. By step, then split.
  std::vector<v1::Evaluation> Keep(std::vector<v1::Evaluation> evaluations) const;

 private:
  struct Extent {
    std::uint64_t first_step = 0;
    std::uint64_t end = 0;
  };

  // Whether anything that lies behind `step` counts, or before the first step where there is none.
  template <typename Record>
  bool CountsBehindStep(const RankAttempt& process, const Record& record) const;

  std::uint64_t end_of_run_ = std::numeric_limits<std::uint64_t>::max();
  std::string training_split_;
  std::map<RankAttempt, Extent> extents_;
};

}  // namespace packtrain::analysis

#endif  // PACKTRAIN_SERVER_ANALYSIS_COUNTED_RECORDS_H_
