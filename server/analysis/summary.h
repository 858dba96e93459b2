// The figures of one run: times of each phase, rates, fill, captures, epochs, energy.
//
// Answers RunService.SummarizeRun, and so `packtrain run summary` and `run show`.
//
//   ABSL_ASSIGN_OR_RETURN(const LoadedRun run, runs::LoadRun(store, name, kSummaryParts));
//   const v1::SummarizeRunResponse summary = Summarize(run);
//   std::cout << summary.steady().graphs_per_second() << " graphs/s in steady state";
#ifndef PACKTRAIN_SERVER_ANALYSIS_SUMMARY_H_
#define PACKTRAIN_SERVER_ANALYSIS_SUMMARY_H_

#include "packtrain/v1/run.pb.h"
#include "server/analysis/loaded_run.h"

namespace packtrain::analysis {

// What Summarize needs of a run.
inline constexpr RunParts kSummaryParts = {
    .steps = true, .evaluations = true, .samples = true, .events = true, .corrupt_graphs = true};

v1::SummarizeRunResponse Summarize(const LoadedRun& run);

}  // namespace packtrain::analysis

#endif  // PACKTRAIN_SERVER_ANALYSIS_SUMMARY_H_
