// The power of a run's devices, out of the readings of their energy counters.
#ifndef PACKTRAIN_SERVER_RUNS_ENERGY_H_
#define PACKTRAIN_SERVER_RUNS_ENERGY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "packtrain/v1/run.pb.h"
#include "server/runs/run_store.h"
#include "server/runs/summary.h"

namespace packtrain::runs {

// Without captures. Counters are refreshed up to 100 ms late: over a span as short as this the power is off by
// 5 % at most.
inline constexpr double kShortestSpanSeconds = 2;

// A sample that has a step and an energy.
struct EnergyReading {
  std::int64_t time_ns = 0;
  std::uint64_t step = 0;
  std::uint64_t energy_uj = 0;
};

// What one process read.
struct ProcessReadings {
  std::string device_id;                // empty: not named
  std::vector<EnergyReading> readings;  // by time
};
using RankAttempt = std::pair<std::uint32_t, std::uint32_t>;
using EnergyReadings = std::map<RankAttempt, ProcessReadings>;

// Adds what a sample says of energy, if anything. To be called in the order of RunStore::ReadSamples.
void AddReading(const Reporter& reporter, const v1::Sample& sample, EnergyReadings& readings);

// Mean power of the devices of all ranks together while steady steps ran; how it is told is at
// SummarizeRunResponse.joules_per_graph. Absent where a rank has no span of readings that counts.
std::optional<double> SteadyWatts(const RunSteps& run, const EnergyReadings& readings);

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_ENERGY_H_
