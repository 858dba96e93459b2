// Which runs of a side repeat others and so say nothing of chance.
#ifndef PACKTRAIN_SERVER_ANALYSIS_RUN_COPIES_H_
#define PACKTRAIN_SERVER_ANALYSIS_RUN_COPIES_H_

#include <vector>

#include "packtrain/v1/run.pb.h"
#include "server/analysis/measured_run.h"

namespace packtrain::analysis {

struct DistinctRuns {
  std::vector<MeasuredRun> runs;    // in the order of the side
  std::vector<v1::RunCopy> copies;  // by name
};

// Of runs that are copies of each other, the first by name stays. Copies have one value to the last bit; or,
// where the metric is `of_learning`, equal seeds, both given, and equal conditions.
DistinctRuns SetCopiesAside(const std::vector<MeasuredRun>& side, bool of_learning);

// Whether two of the runs have equal seeds, both given.
bool ShareSeeds(const std::vector<MeasuredRun>& runs);

}  // namespace packtrain::analysis

#endif  // PACKTRAIN_SERVER_ANALYSIS_RUN_COPIES_H_
