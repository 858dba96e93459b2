#include "server/runs/energy.h"

#include <algorithm>

namespace packtrain::runs {
namespace {

// Energy over a time.
struct Consumption {
  double joules = 0;
  double seconds = 0;

  Consumption& operator+=(const Consumption& other) {
    joules += other.joules;
    seconds += other.seconds;
    return *this;
  }
};

// The whole device's, between two readings of its counter.
Consumption Between(const EnergyReading& from, const EnergyReading& to) {
  return {static_cast<double>(to.energy_uj - from.energy_uj) * 1e-6,
          static_cast<double>(to.time_ns - from.time_ns) * 1e-9};
}

RankAttempt ProcessOf(const RankStep& step) { return {step.rank, step.attempt}; }

// For each process, the steps that count and are steady; ascending.
using StepsOfProcesses = std::map<RankAttempt, std::vector<std::uint64_t>>;
StepsOfProcesses SteadyStepsOfProcesses(const RunSteps& run) {
  StepsOfProcesses steady;
  auto made = run.of_ranks.begin();
  for (const TrainingStep& step : run.joined) {
    const bool counts = IsSteady(step) && IsComplete(step, run.run.description().world_size());
    for (; made != run.of_ranks.end() && made->record.step == step.slowest.step; ++made) {
      if (counts) steady[ProcessOf(*made)].push_back(made->record.step);
    }
  }
  return steady;
}

// Whether each of the steps `first` .. `last` is among `steps`, which ascend.
bool HoldsAll(const std::vector<std::uint64_t>& steps, std::uint64_t first, std::uint64_t last) {
  const auto begin = std::lower_bound(steps.begin(), steps.end(), first);
  if (last < first || last - first >= static_cast<std::uint64_t>(steps.end() - begin)) return false;
  return *begin == first && begin[static_cast<std::ptrdiff_t>(last - first)] == last;
}

class SteadyEnergy {
 public:
  SteadyEnergy(const RunSteps& run, const EnergyReadings& readings)
      : run_(run), readings_(readings), steady_(SteadyStepsOfProcesses(run)) {}

  // The process's part of its device's consumption, over the spans that are long enough.
  Consumption Of(const RankAttempt& process) const {
    const std::vector<EnergyReading>& list = readings_.at(process).readings;
    Consumption total, span, part;
    const auto end_span = [&] {
      if (span.seconds >= kShortestSpanSeconds) total += part;
      span = part = {};
    };
    for (std::size_t i = 1; i < list.size(); ++i) {
      if (!Counts(process, list[i - 1], list[i])) {
        end_span();
        continue;
      }
      const Consumption window = Between(list[i - 1], list[i]);
      span += window;
      part += {window.joules / SharersOfDevice(process, list[i].step), window.seconds};
    }
    end_span();
    return total;
  }

 private:
  // At either reading a step is under way, the one behind the last that had ended.
  bool Counts(const RankAttempt& process, const EnergyReading& from, const EnergyReading& to) const {
    const auto steady = steady_.find(process);
    return steady != steady_.end() && to.energy_uj >= from.energy_uj && to.time_ns > from.time_ns &&
           HoldsAll(steady->second, from.step, to.step + 1);
  }

  // Ranks that made this step on the process's device.
  int SharersOfDevice(const RankAttempt& process, std::uint64_t step) const {
    const std::string& device = readings_.at(process).device_id;
    if (device.empty()) return 1;
    const auto is_before = [](const RankStep& made, std::uint64_t wanted) { return made.record.step < wanted; };
    auto made = std::lower_bound(run_.of_ranks.begin(), run_.of_ranks.end(), step, is_before);
    int sharers = 0;
    for (; made != run_.of_ranks.end() && made->record.step == step; ++made) {
      const auto other = readings_.find(ProcessOf(*made));
      if (other != readings_.end() && other->second.device_id == device) ++sharers;
    }
    return sharers;
  }

  const RunSteps& run_;
  const EnergyReadings& readings_;
  const StepsOfProcesses steady_;
};

}  // namespace

void AddReading(const Reporter& reporter, const v1::Sample& sample, EnergyReadings& readings) {
  if (!sample.has_device_energy_uj() || !sample.has_step()) return;
  ProcessReadings& process = readings[{reporter.rank, reporter.attempt}];
  process.device_id = sample.device_id();
  process.readings.push_back({sample.time_ns(), sample.step(), sample.device_energy_uj()});
}

std::optional<double> SteadyWatts(const RunSteps& run, const EnergyReadings& readings) {
  const SteadyEnergy energy(run, readings);
  std::map<std::uint32_t, Consumption> of_rank;
  for (const auto& [process, list] : readings) {
    const Consumption part = energy.Of(process);
    if (part.seconds > 0) of_rank[process.first] += part;
  }
  if (of_rank.empty() || of_rank.size() != run.run.description().world_size()) return std::nullopt;
  double watts = 0;
  for (const auto& [rank, part] : of_rank) watts += part.joules / part.seconds;
  return watts;
}

}  // namespace packtrain::runs
