#include "server/analysis/energy.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "proto/wire/step_columns.h"

namespace packtrain::analysis {
namespace {

constexpr double kSecondsPerNs = 1e-9;
// A spread below this share of the values may be rounding error alone.
constexpr double kRounding = 1e-9;

// Energy over a time of which captures took a part. Sums over windows between two readings, each of joules E,
// seconds T and capture seconds C.
struct Consumption {
  double joules = 0;
  double seconds = 0;
  double capture_seconds = 0;
  double capture_joules_share = 0;   // sum of E C / T
  double capture_seconds_share = 0;  // sum of C C / T

  Consumption& operator+=(const Consumption& other) {
    joules += other.joules;
    seconds += other.seconds;
    capture_seconds += other.capture_seconds;
    capture_joules_share += other.capture_joules_share;
    capture_seconds_share += other.capture_seconds_share;
    return *this;
  }

  double steady_seconds() const { return seconds - capture_seconds; }
};

// The whole device's, between two readings of its counter, shared by `sharers`.
Consumption Between(const EnergyReading& from, const EnergyReading& to, double capture_seconds, int sharers) {
  const double joules = static_cast<double>(to.energy_uj - from.energy_uj) * 1e-6 / sharers;
  const double seconds = static_cast<double>(to.time_ns - from.time_ns) * kSecondsPerNs;
  const double captures = std::min(capture_seconds, seconds), share = captures / seconds;
  return {joules, seconds, captures, joules * share, captures * share};
}

// Steady power P and capture power Q by least squares of E = P (T - C) + Q C, weighted by 1 / T, so that both
// add up to all joules. Where windows do not tell them apart Q is anything from 0 to P, and is held there.
double SteadyPower(const Consumption& all) {
  const double low = all.joules / all.seconds, high = all.joules / all.steady_seconds();
  const double spread = all.seconds * all.capture_seconds_share - all.capture_seconds * all.capture_seconds;
  const double slope = all.seconds * all.capture_joules_share - all.joules * all.capture_seconds;
  if (spread <= kRounding * all.seconds * all.capture_seconds_share) return low;
  return std::clamp((all.joules - slope / spread * all.capture_seconds) / all.seconds, low, high);
}

std::vector<EnergyReading> ByTime(std::vector<EnergyReading> readings) {
  std::ranges::stable_sort(readings, {}, &EnergyReading::time_ns);
  return readings;
}

RankAttempt ProcessOf(const RankStep& step) { return {step.rank, step.attempt}; }

// A step of a process in which its device does nothing but train or capture.
struct TrainedStep {
  std::uint64_t step = 0;
  double capture_seconds = 0;  // its whole time where something was captured in it, else 0
};

// For each process, ascending.
using StepsOfProcesses = std::map<RankAttempt, std::vector<TrainedStep>>;
StepsOfProcesses TrainedStepsOfProcesses(const LoadedRun& run) {
  StepsOfProcesses trained;
  auto made = run.of_ranks.begin();
  for (const TrainingStep& step : run.joined) {
    const std::uint32_t other = step.flags & wire::kNotSteady;
    const bool counts =
        (other & ~wire::kCapture) == 0 && IsComplete(step, run.record.description().world_size());
    const double captures = other == 0 ? 0 : static_cast<double>(step.slowest.total_ns) * kSecondsPerNs;
    for (; made != run.of_ranks.end() && made->record.step == step.slowest.step; ++made) {
      if (counts) trained[ProcessOf(*made)].push_back({made->record.step, captures});
    }
  }
  return trained;
}

// Those among `steps`, which ascend, from `first` to `last`; nothing unless each of these is there.
std::span<const TrainedStep> FindAll(const std::vector<TrainedStep>& steps, std::uint64_t first,
                                     std::uint64_t last) {
  const auto begin = std::ranges::lower_bound(steps, first, {}, &TrainedStep::step);
  if (last < first || last - first >= static_cast<std::uint64_t>(steps.end() - begin)) return {};
  const auto end = begin + static_cast<std::ptrdiff_t>(last - first) + 1;
  if (begin->step != first || std::prev(end)->step != last) return {};
  return {begin, end};
}

class TrainingEnergy {
 public:
  explicit TrainingEnergy(const LoadedRun& run)
      : run_(run), readings_(run.samples.energy()), trained_(TrainedStepsOfProcesses(run)) {}

  // The process's part of its device's consumption, over the spans that are long enough.
  Consumption Of(const RankAttempt& process) const {
    const std::vector<EnergyReading> list = ByTime(readings_.at(process).readings);
    Consumption total, span;
    const auto end_span = [&] {
      if (span.steady_seconds() >= kMinSpanSeconds) total += span;
      span = {};
    };
    for (std::size_t i = 1; i < list.size(); ++i) {
      if (const std::optional<Consumption> window = Window(process, list[i - 1], list[i])) {
        span += *window;
      } else {
        end_span();
      }
    }
    end_span();
    return total;
  }

 private:
  // Nothing where the device did something else, too. At either reading a step is under way, the one behind
  // the last that had ended.
  std::optional<Consumption> Window(const RankAttempt& process, const EnergyReading& from,
                                    const EnergyReading& to) const {
    if (to.energy_uj < from.energy_uj || to.time_ns <= from.time_ns || to.step < from.step) {
      return std::nullopt;
    }
    const auto trained = trained_.find(process);
    if (trained == trained_.end()) return std::nullopt;
    const std::span<const TrainedStep> steps = FindAll(trained->second, from.step, to.step + 1);
    if (steps.empty()) return std::nullopt;
    double capture_seconds = 0;
    for (const TrainedStep& step : steps.subspan(1, steps.size() - 2)) capture_seconds += step.capture_seconds;
    return Between(from, to, capture_seconds, SharersOfDevice(process, to.step));
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

  const LoadedRun& run_;
  const EnergyReadings& readings_;
  const StepsOfProcesses trained_;
};

// Mean power of the devices of all ranks together while steady steps ran. Absent where a rank has no span of
// readings that counts.
std::optional<double> SteadyWatts(const LoadedRun& run) {
  const TrainingEnergy energy(run);
  std::map<std::uint32_t, Consumption> of_rank;
  for (const auto& [process, list] : run.samples.energy()) {
    const Consumption part = energy.Of(process);
    if (part.seconds > 0) of_rank[process.rank] += part;
  }
  if (of_rank.empty() || of_rank.size() != run.record.description().world_size()) return std::nullopt;
  double watts = 0;
  for (const auto& [rank, part] : of_rank) watts += SteadyPower(part);
  return watts;
}

}  // namespace

std::optional<double> JoulesPerGraph(const LoadedRun& run, double seconds_per_graph) {
  const std::optional<double> watts = SteadyWatts(run);
  if (!watts.has_value() || seconds_per_graph <= 0) return std::nullopt;
  return *watts * seconds_per_graph;
}

}  // namespace packtrain::analysis
