// A run that has been loaded: its record, its steps, and sums over the rest of what was reported of it. It
// holds what counts (counted_records.h) and nothing else.
//
// What every question about runs takes, so that this folder knows no store; server/runs/run_loader.h loads one.
// Each question says which parts it needs (RunParts), and the others stay empty.
//
//   analysis::LoadedRun run;
//   run.record = record;
//   run.counted = analysis::CountedRecords(record, attempts);
//   run.SetSteps(std::move(steps));
//   for (const v1::Event& event : events) run.events.Add(event);
//   const v1::SummarizeRunResponse summary = analysis::Summarize(run);
#ifndef PACKTRAIN_SERVER_ANALYSIS_LOADED_RUN_H_
#define PACKTRAIN_SERVER_ANALYSIS_LOADED_RUN_H_

#include <vector>

#include "packtrain/v1/run.pb.h"
#include "server/analysis/counted_records.h"
#include "server/analysis/report_totals.h"
#include "server/analysis/step_selection.h"

namespace packtrain::analysis {

// What is read of a run, beside its record.
struct RunParts {
  bool steps = false;
  bool evaluations = false;
  bool samples = false;
  bool events = false;
  bool corrupt_graphs = false;
};

struct LoadedRun {
  // Takes all steps of the run, of all attempts, in any order, and keeps those of `counted`.
  void SetSteps(std::vector<RankStep> all);

  v1::Run record;
  CountedRecords counted;
  std::vector<RankStep> of_ranks;           // one for each (rank, step), by step, then rank
  std::vector<TrainingStep> joined;         // one for each step, ascending
  std::vector<v1::Evaluation> evaluations;  // by step, then split
  SampleTotals samples;
  EventTotals events;
  CorruptGraphTotals corrupt_graphs;
};

}  // namespace packtrain::analysis

#endif  // PACKTRAIN_SERVER_ANALYSIS_LOADED_RUN_H_
