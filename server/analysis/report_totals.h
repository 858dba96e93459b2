// Running sums over what a run reports beside its steps: they take one message at a time and keep only what
// questions need of it.
#ifndef PACKTRAIN_SERVER_ANALYSIS_REPORT_TOTALS_H_
#define PACKTRAIN_SERVER_ANALYSIS_REPORT_TOTALS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "packtrain/v1/run.pb.h"
#include "server/analysis/step_selection.h"

namespace packtrain::analysis {

// A sample that has a step and an energy.
struct EnergyReading {
  std::int64_t time_ns =
      0;  // of the process's monotonic clock; of its wall clock where an older client has no other
  std::uint64_t step = 0;
  std::uint64_t energy_uj = 0;
};

// What one process read.
struct ProcessReadings {
  std::string device_id;                // empty: not named
  std::vector<EnergyReading> readings;  // as they were stored: by the wall clock
};
using EnergyReadings = std::map<RankAttempt, ProcessReadings>;

class SampleTotals {
 public:
  // In any order.
  void Add(const RankAttempt& process, const v1::Sample& sample);

  const EnergyReadings& energy() const { return energy_; }
  // The largest device memory of any sample; nothing where none says it.
  std::optional<std::uint64_t> peak_device_bytes() const { return peak_device_bytes_; }

 private:
  EnergyReadings energy_;
  std::optional<std::uint64_t> peak_device_bytes_;
};

class EventTotals {
 public:
  void Add(const v1::Event& event);

  // Count and time by name, longest first: as SummarizeRunResponse.events.
  std::vector<v1::EventTotal> Longest() const;

 private:
  std::map<std::string, v1::EventTotal> by_name_;
};

class CorruptGraphTotals {
 public:
  // Batches come in the order in which SummarizeRunResponse lists their graphs.
  void Add(const v1::CorruptGraphs& batch);

  const v1::CorruptGraphSummary& summary() const { return summary_; }

 private:
  v1::CorruptGraphSummary summary_;
  std::set<std::uint64_t> graphs_;
};

}  // namespace packtrain::analysis

#endif  // PACKTRAIN_SERVER_ANALYSIS_REPORT_TOTALS_H_
