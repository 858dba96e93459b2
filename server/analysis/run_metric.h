// One number for a run, by which runs are compared.
//
//   ABSL_ASSIGN_OR_RETURN(const RunMetric metric, RunMetric::Parse("forward.p95"));
//   ABSL_ASSIGN_OR_RETURN(const LoadedRun run, runs::LoadRun(store, name, metric.parts()));
//   ABSL_ASSIGN_OR_RETURN(const double microseconds, metric.Measure(run));
#ifndef PACKTRAIN_SERVER_ANALYSIS_RUN_METRIC_H_
#define PACKTRAIN_SERVER_ANALYSIS_RUN_METRIC_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/analysis/loaded_run.h"

namespace packtrain::analysis {

// Immutable; any number of threads may use it.
class RunMetric {
 public:
  // "seconds_per_graph" (also for an empty name), "seconds_per_epoch", "joules_per_graph",
  // "PHASE.QUANTILE", "SPLIT.mae", "SPLIT.rmse", "SPLIT.accuracy"; see CompareRunsRequest. INVALID_ARGUMENT:
  // none of them; the message lists them.
  static absl::StatusOr<RunMetric> Parse(std::string_view name);

  const std::string& name() const { return name_; }
  // Whether it says how fast a run trains: seconds per graph and per epoch do; a phase, a spread or an error
  // is only smaller or greater.
  bool is_speed() const { return is_speed_; }

  // What Measure needs of a run.
  const RunParts& parts() const { return parts_; }

  // FAILED_PRECONDITION: the run has no such figure; the message says why.
  absl::StatusOr<double> Measure(const LoadedRun& run) const;

 private:
  using Reader = std::function<absl::StatusOr<double>(const LoadedRun& run)>;
  RunMetric(std::string_view name, bool is_speed, RunParts parts, Reader reader);

  static Reader PhaseQuantile(std::string_view phase, std::string_view quantile);
  static Reader SplitMetric(std::string_view split, std::string_view metric);

  std::string name_;
  bool is_speed_ = true;
  RunParts parts_;
  Reader reader_;
};

}  // namespace packtrain::analysis

#endif  // PACKTRAIN_SERVER_ANALYSIS_RUN_METRIC_H_
