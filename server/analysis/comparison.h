// Which runs were faster, by how much, and whether the difference is real.
//
// Answers RunService.CompareRuns, and so `packtrain run compare`. The unit is the run: see there.
//
//   ABSL_ASSIGN_OR_RETURN(Comparison comparison, Comparison::Create(request));
//   for (const LoadedRun& run : runs) comparison.Add(run);
//   for (const v1::ComparisonCell& cell : comparison.Answer().cells()) Print(cell);
#ifndef PACKTRAIN_SERVER_ANALYSIS_COMPARISON_H_
#define PACKTRAIN_SERVER_ANALYSIS_COMPARISON_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "packtrain/v1/run.pb.h"
#include "server/analysis/loaded_run.h"
#include "server/analysis/run_metric.h"

namespace packtrain::analysis {

inline constexpr double kAlpha = 0.05;
inline constexpr double kConfidence = 0.95;
// Runs a side: for an interval and p, for a verdict, for the Mann-Whitney test.
inline constexpr std::size_t kMinRunsForTest = 2;
inline constexpr std::size_t kMinRunsForVerdict = 3;
inline constexpr std::size_t kMinRunsForMannWhitney = 5;

// A run and its figure.
struct MeasuredRun {
  std::string run;
  double value = 0;
};

// Runs are added one by one, and of each only its figure is kept. Used by one thread.
class Comparison {
 public:
  // INVALID_ARGUMENT: unknown factor, metric or test. The runs that the request names are the caller's to add.
  static absl::StatusOr<Comparison> Create(const v1::CompareRunsRequest& request);

  // What Add needs of a run: nothing of one that is not done.
  RunParts PartsOf(const v1::Run& run) const;
  // A run that is not done, or that has no figure, is listed with the reason and not compared.
  void Add(const LoadedRun& run);

  // What RunService.CompareRuns answers. Cells are in order of their factors, the values of a pair in order of
  // numbers or of text.
  v1::CompareRunsResponse Answer() const;

 private:
  // Numbers by size, then text by bytes.
  struct ValueLess {
    bool operator()(const std::string& a, const std::string& b) const;
  };
  using FactorMap = std::map<std::string, std::string>;
  // The runs of one cell by their value of the compared factor.
  using Cell = std::map<std::string, std::vector<MeasuredRun>, ValueLess>;

  Comparison(std::string by, RunMetric metric, v1::TestKind test);

  v1::ComparisonCell CompareCell(const FactorMap& factors, const Cell& values) const;

  std::string by_;
  RunMetric metric_;
  v1::TestKind test_;
  std::map<FactorMap, Cell> cells_;
  std::vector<v1::ExcludedRun> excluded_;
};

// The verdict in words, such as "dynamic is 1.23x faster than static-multiple (95 % 1.15 to 1.32,
// p = .0004, 3 against 3 runs)"; or, of a metric other than seconds per graph and per epoch, "total.stddev of
// dynamic is 1.23x smaller than that of static-multiple (...)".
std::string VerdictSentence(const v1::PairComparison& pair, const RunMetric& metric);

}  // namespace packtrain::analysis

#endif  // PACKTRAIN_SERVER_ANALYSIS_COMPARISON_H_
