// The energy that a run takes, out of the readings of its devices' energy counters.
#ifndef PACKTRAIN_SERVER_ANALYSIS_ENERGY_H_
#define PACKTRAIN_SERVER_ANALYSIS_ENERGY_H_

#include <optional>

#include "server/analysis/loaded_run.h"

namespace packtrain::analysis {

// Without captures. Counters are refreshed up to 100 ms late: over a span as short as this the power is off by
// 5 % at most.
inline constexpr double kMinSpanSeconds = 2;

// What a run's devices took for one real graph, where its steady steps take `seconds_per_graph`; how it is told
// is at SummarizeRunResponse.joules_per_graph. Absent where a rank has no span of readings that counts, and
// where `seconds_per_graph` is 0: the steps held no graph. Needs steps and samples.
std::optional<double> JoulesPerGraph(const LoadedRun& run, double seconds_per_graph);

}  // namespace packtrain::analysis

#endif  // PACKTRAIN_SERVER_ANALYSIS_ENERGY_H_
