// One number for a run, by which runs are compared.
#ifndef PACKTRAIN_SERVER_RUNS_RUN_METRIC_H_
#define PACKTRAIN_SERVER_RUNS_RUN_METRIC_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "packtrain/v1/run.pb.h"
#include "server/runs/run_store.h"

namespace packtrain::runs {

// Immutable; any number of threads may use it.
class RunMetric {
 public:
  // "seconds_per_graph" (also for an empty name), "seconds_per_epoch", "joules_per_graph",
  // "PHASE.QUANTILE", "SPLIT.mae", "SPLIT.rmse"; see CompareRunsRequest. INVALID_ARGUMENT: none of them; the
  // message lists them.
  static absl::StatusOr<RunMetric> Parse(std::string_view name);

  const std::string& name() const { return name_; }
  // Whether it says how fast a run trains: seconds per graph and per epoch do; a phase, a spread or an error
  // is only smaller or greater.
  bool is_speed() const { return is_speed_; }

  // FAILED_PRECONDITION: the run has no such figure; the message says why. Other codes are the store's.
  absl::StatusOr<double> Measure(const RunStore& store, const v1::Run& run) const;

 private:
  using Reader = std::function<absl::StatusOr<double>(const RunStore& store, const v1::Run& run)>;
  RunMetric(std::string name, bool is_speed, Reader reader);

  static Reader PhaseQuantile(std::string_view phase, std::string_view quantile);
  static Reader SplitError(std::string_view split, std::string_view error);

  std::string name_;
  bool is_speed_ = true;
  Reader reader_;
};

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_RUN_METRIC_H_
