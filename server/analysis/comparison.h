// Which runs were faster, by how much, and whether the difference is real.
//
// Answers RunService.CompareRuns, and so `packtrain run compare`. The unit is the run: see there.
//
//   ABSL_ASSIGN_OR_RETURN(Comparison comparison, Comparison::Create(request));
//   for (const LoadedRun& run : runs) comparison.Add(run);
//   ABSL_ASSIGN_OR_RETURN(const v1::CompareRunsResponse response, comparison.Answer());
#ifndef PACKTRAIN_SERVER_ANALYSIS_COMPARISON_H_
#define PACKTRAIN_SERVER_ANALYSIS_COMPARISON_H_

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/run.pb.h"
#include "server/analysis/loaded_run.h"
#include "server/analysis/measured_run.h"
#include "server/analysis/run_metric.h"
#include "server/analysis/run_settings.h"
#include "server/analysis/setting_value.h"
#include "server/analysis/side_settings.h"

namespace packtrain::analysis {

inline constexpr double kAlpha = 0.05;
inline constexpr double kConfidence = 0.95;
// Runs a side, copies counted once: for an interval and p, for a verdict, for the Mann-Whitney test.
inline constexpr std::size_t kMinRunsForTest = 2;
inline constexpr std::size_t kMinRunsForVerdict = 3;
inline constexpr std::size_t kMinRunsForMannWhitney = 5;

// Pairs of one answer.
inline constexpr std::size_t kMaxPairs = 10'000;

// Runs are added one by one, and of each only its figure is kept, with its settings, which are shared. Used by
// one thread.
class Comparison {
 public:
  // INVALID_ARGUMENT: unknown setting, metric or test. The runs that the request names are the caller's to add.
  static absl::StatusOr<Comparison> Create(const v1::CompareRunsRequest& request);

  // Runs borrow from the comparison that they were added to.
  Comparison(Comparison&&) = default;
  Comparison& operator=(Comparison&&) = default;

  // What Add needs of a run: nothing of one that is not done.
  RunParts PartsOf(const v1::Run& run) const;
  // A run that is not done, or that has no figure, is listed with the reason and not compared.
  void Add(const LoadedRun& run);

  // What RunService.CompareRuns answers. INVALID_ARGUMENT: above kMaxPairs. Cells are in order of their
  // factors, the values of a pair in order of numbers or of text.
  absl::StatusOr<v1::CompareRunsResponse> Answer() const;

 private:
  // The runs of one cell by their value of the compared setting.
  using Cell = std::map<std::string, std::vector<MeasuredRun>, SettingValueLess>;

  Comparison(RunSetting by, PairQuestion question, RunMetric metric, v1::TestKind test);

  // Takes the run's value of the compared setting out of `factors`, with the parts that belong to it.
  std::optional<std::string> TakeSide(const v1::Run& run, SettingTexts& factors) const;
  MeasuredRun Keep(const v1::Run& run, double value);
  absl::Status CheckPairs() const;
  v1::ComparisonCell CompareCell(const SettingTexts& factors, const Cell& values) const;

  RunSetting by_;
  PairQuestion question_;
  RunMetric metric_;
  v1::TestKind test_;
  std::set<SettingTexts> texts_;  // what the runs of `cells_` borrow
  std::map<SettingTexts, Cell> cells_;
  std::vector<v1::ExcludedRun> excluded_;
};

}  // namespace packtrain::analysis

#endif  // PACKTRAIN_SERVER_ANALYSIS_COMPARISON_H_
