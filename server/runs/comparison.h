// Which runs were faster, and whether the difference is real.
#ifndef PACKTRAIN_SERVER_RUNS_COMPARISON_H_
#define PACKTRAIN_SERVER_RUNS_COMPARISON_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/run.pb.h"
#include "server/runs/run_metric.h"
#include "server/runs/run_store.h"

namespace packtrain::runs {

inline constexpr double kAlpha = 0.05;
inline constexpr double kConfidence = 0.95;
// Runs a side: for an interval and p, for a verdict, for the Mann-Whitney test.
inline constexpr std::size_t kMinRunsForTest = 2;
inline constexpr std::size_t kMinRunsForVerdict = 3;
inline constexpr std::size_t kMinRunsForMannWhitney = 5;

inline bool NeverCancelled() { return false; }

// See RunService.CompareRuns. Only finished runs with a figure are compared; the others are listed with
// the reason. Cells are in order of their factors, the values of a pair in order of numbers or of text.
// CANCELLED: `cancelled` said so between two runs.
absl::StatusOr<v1::CompareRunsResponse> Compare(const RunStore& store, const v1::CompareRunsRequest& request,
                                                absl::FunctionRef<bool()> cancelled = NeverCancelled);

// The verdict in words, such as "dynamic is 1.23x faster than static-multiple (95 % 1.15 to 1.32,
// p = .0004, 3 against 3 runs)"; or, of a metric other than seconds per graph and per epoch, "total.stddev of
// dynamic is 1.23x smaller than that of static-multiple (...)".
std::string VerdictSentence(const v1::PairComparison& pair, const RunMetric& metric);

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_COMPARISON_H_
