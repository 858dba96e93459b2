#include "server/analysis/run_metric.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "server/analysis/energy.h"
#include "server/analysis/step_figures.h"

namespace packtrain::analysis {
namespace {

using Phases = std::map<std::string, wire::StepPhase, std::less<>>;
using QuantileReader = double (v1::Quantiles::*)() const;
using QuantileReaders = std::map<std::string, QuantileReader, std::less<>>;

const std::string_view kSplits[] = {"train", "val", "test"};

Phases AllPhases() {
  Phases phases;
  for (const wire::StepPhase& phase : wire::kStepPhases) phases.emplace(phase.name, phase);
  return phases;
}

QuantileReaders AllQuantiles() {
  return {{"mean", &v1::Quantiles::mean},    {"median", &v1::Quantiles::median}, {"p5", &v1::Quantiles::p5},
          {"p90", &v1::Quantiles::p90},      {"p95", &v1::Quantiles::p95},       {"p99", &v1::Quantiles::p99},
          {"stddev", &v1::Quantiles::stddev}};
}

using EvaluationReaders = std::map<std::string_view, double (*)(const v1::Evaluation&)>;

// NaN where the task has no such metric.
EvaluationReaders AllEvaluationMetrics() {
  return {{"accuracy",
           [](const v1::Evaluation& e) {
             return e.has_accuracy() ? e.accuracy() : std::numeric_limits<double>::quiet_NaN();
           }},
          {"mae", [](const v1::Evaluation& e) { return e.mae(); }},
          {"rmse", [](const v1::Evaluation& e) { return e.rmse(); }}};
}

template <typename Map>
std::string Names(const Map& map) {
  return absl::StrJoin(map, ", ", [](std::string* out, const auto& entry) { out->append(entry.first); });
}

absl::Status UnknownMetric(std::string_view name) {
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown metric ", std::string(name), "; known are seconds_per_graph, seconds_per_epoch, ",
      "joules_per_graph, PHASE.QUANTILE with PHASE one of ", Names(AllPhases()), " and QUANTILE one of ",
      Names(AllQuantiles()), ", and train, val or test with .accuracy, .mae or .rmse"));
}

// The steady steps of a run, of which there is at least one.
absl::StatusOr<std::vector<TrainingStep>> SteadyStepsOf(const LoadedRun& run) {
  CountedSteps steady = SteadySteps(run);
  if (!steady.steps.empty()) return std::move(steady.steps);
  return absl::FailedPreconditionError(absl::StrCat("none of its ", run.joined.size(),
                                                    " steps is steady, measured and reported by all ",
                                                    run.record.description().world_size(), " ranks"));
}

absl::StatusOr<double> SecondsPerGraph(const LoadedRun& run) {
  ABSL_ASSIGN_OR_RETURN(const std::vector<TrainingStep> steady, SteadyStepsOf(run));
  const StepSums sums = SumOf(steady);
  if (sums.real.graphs == 0) return absl::FailedPreconditionError("its steady steps held no graph");
  return sums.seconds / static_cast<double>(sums.real.graphs);
}

absl::StatusOr<double> MeasureEpoch(const LoadedRun& run) {
  const std::optional<double> seconds = SecondsPerEpoch(run);
  if (!seconds.has_value()) return absl::FailedPreconditionError("it has no complete epoch");
  return *seconds;
}

absl::StatusOr<double> MeasureEnergy(const LoadedRun& run) {
  const absl::StatusOr<double> seconds_per_graph = SecondsPerGraph(run);
  const std::optional<double> joules = JoulesPerGraph(run, seconds_per_graph.value_or(0));
  if (!joules.has_value()) return absl::FailedPreconditionError("its energy is not known");
  return *joules;
}

constexpr RunParts kSteps = {.steps = true};
constexpr RunParts kStepsAndSamples = {.steps = true, .samples = true};
constexpr RunParts kEvaluations = {.evaluations = true};

}  // namespace

RunMetric::RunMetric(std::string_view name, bool is_speed, RunParts parts, Reader reader)
    : name_(name), is_speed_(is_speed), parts_(parts), reader_(std::move(reader)) {}

RunMetric::Reader RunMetric::PhaseQuantile(std::string_view phase, std::string_view quantile) {
  const Phases phases = AllPhases();
  const QuantileReaders quantiles = AllQuantiles();
  const auto found_phase = phases.find(phase);
  const auto found_quantile = quantiles.find(quantile);
  if (found_phase == phases.end() || found_quantile == quantiles.end()) return {};
  return [phase = found_phase->second,
          read_quantile = found_quantile->second](const LoadedRun& run) -> absl::StatusOr<double> {
    ABSL_ASSIGN_OR_RETURN(const std::vector<TrainingStep> steady, SteadyStepsOf(run));
    return (DescribePhase(steady, phase).*read_quantile)();
  };
}

RunMetric::Reader RunMetric::SplitMetric(std::string_view split, std::string_view metric) {
  const EvaluationReaders readers = AllEvaluationMetrics();
  const auto found = readers.find(metric);
  const bool known_split = std::find(std::begin(kSplits), std::end(kSplits), split) != std::end(kSplits);
  if (!known_split || found == readers.end()) return {};
  return [split = std::string(split), read = found->second](const LoadedRun& run) -> absl::StatusOr<double> {
    const auto last = std::find_if(run.evaluations.rbegin(), run.evaluations.rend(),
                                   [&split](const v1::Evaluation& e) { return e.split() == split; });
    if (last == run.evaluations.rend()) {
      return absl::FailedPreconditionError(absl::StrCat("it has no evaluation on ", split));
    }
    return read(*last);
  };
}

absl::StatusOr<RunMetric> RunMetric::Parse(std::string_view name) {
  if (name.empty() || name == "seconds_per_graph") {
    return RunMetric("seconds_per_graph", true, kSteps, SecondsPerGraph);
  }
  if (name == "seconds_per_epoch") return RunMetric(name, true, kSteps, MeasureEpoch);
  if (name == "joules_per_graph") return RunMetric(name, false, kStepsAndSamples, MeasureEnergy);
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return UnknownMetric(name);
  const std::string_view left = name.substr(0, dot);
  const std::string_view right = name.substr(dot + 1);
  if (Reader reader = PhaseQuantile(left, right)) return RunMetric(name, false, kSteps, std::move(reader));
  if (Reader reader = SplitMetric(left, right)) return RunMetric(name, false, kEvaluations, std::move(reader));
  return UnknownMetric(name);
}

absl::StatusOr<double> RunMetric::Measure(const LoadedRun& run) const {
  absl::StatusOr<double> value = reader_(run);
  if (!value.ok() || (std::isfinite(*value) && *value > 0)) return value;
  return absl::FailedPreconditionError(
      absl::StrCat("its ", name_, " is ", *value, ", and only what is finite and above 0 has a logarithm"));
}

}  // namespace packtrain::analysis
