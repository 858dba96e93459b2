#include "server/runs/comparison.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/wire/run_words.h"
#include "server/runs/run_fields.h"
#include "server/runs/run_filter.h"
#include "server/runs/significance.h"

namespace packtrain::runs {
namespace {

using FactorMap = std::map<std::string, std::string>;

// Numbers by size, then text by bytes.
struct ValueLess {
  bool operator()(const std::string& a, const std::string& b) const {
    double x = 0;
    double y = 0;
    if (absl::SimpleAtod(a, &x) && absl::SimpleAtod(b, &y) && x != y) return x < y;
    return a < b;
  }
};

struct Measured {
  std::string run;
  double value = 0;
};
// The runs of one cell by their value of the compared factor.
using Cell = std::map<std::string, std::vector<Measured>, ValueLess>;
using Cells = std::map<FactorMap, Cell>;

absl::Status CheckFactor(const std::string& by) {
  const FactorMap known = Factors(v1::RunDescription());
  if (known.contains(by)) return absl::OkStatus();
  const std::string names =
      absl::StrJoin(known, ", ", [](std::string* out, const auto& factor) { out->append(factor.first); });
  return absl::InvalidArgumentError(by.empty() ? absl::StrCat("say by which factor to compare: ", names)
                                               : absl::StrCat("unknown factor ", by, "; known are ", names));
}

absl::StatusOr<std::vector<v1::Run>> NamedRuns(const RunStore& store, const v1::CompareRunsRequest& request) {
  std::vector<v1::Run> runs;
  std::set<std::string> seen;
  for (const std::string& name : request.runs()) {
    ABSL_ASSIGN_OR_RETURN(v1::Run run, store.Get(name));
    if (seen.insert(run.run()).second) runs.push_back(std::move(run));
  }
  return runs;
}

absl::StatusOr<std::vector<v1::Run>> SelectedRuns(const RunStore& store,
                                                  const v1::CompareRunsRequest& request) {
  if (request.runs_size() > 0 && !request.where().empty()) {
    return absl::InvalidArgumentError("give either names of runs or a filter, not both");
  }
  if (request.runs_size() > 0) return NamedRuns(store, request);
  ABSL_ASSIGN_OR_RETURN(const RunFilter filter, RunFilter::Parse(request.where()));
  ABSL_ASSIGN_OR_RETURN(std::vector<v1::Run> runs, store.List());
  std::erase_if(runs, [&filter](const v1::Run& run) { return !filter.Matches(run); });
  return runs;
}

void Exclude(const std::string& run, const std::string& reason, v1::CompareRunsResponse& response) {
  v1::ExcludedRun& excluded = *response.add_excluded();
  excluded.set_run(run);
  excluded.set_reason(reason);
}

absl::StatusOr<double> MeasureFinished(const RunStore& store, const RunMetric& metric, const v1::Run& run) {
  if (run.state() == v1::RUN_STATE_DONE) return metric.Measure(store, run);
  return absl::FailedPreconditionError(
      absl::StrCat("its state is ", wire::StateName(run.state()), ", not done"));
}

// Takes the compared factor out of `factors`. A version belongs to its data set, so comparing data sets takes
// both, as NAME@VERSION: two versions of one name are never one side.
std::string TakeCompared(const std::string& by, const v1::RunDescription& description, FactorMap& factors) {
  std::string value = factors.extract(by).mapped();
  if (by != "dataset") return value;
  factors.erase("version");
  return description.dataset();
}

// Sorts the runs into cells; those without a figure are excluded.
absl::StatusOr<Cells> MeasureAll(const RunStore& store, const RunMetric& metric, const std::string& by,
                                 const std::vector<v1::Run>& runs, absl::FunctionRef<bool()> cancelled,
                                 v1::CompareRunsResponse& response) {
  Cells cells;
  for (const v1::Run& run : runs) {
    if (cancelled()) return absl::CancelledError("nobody waits for the comparison any more");
    const absl::StatusOr<double> value = MeasureFinished(store, metric, run);
    if (absl::IsFailedPrecondition(value.status())) {
      Exclude(run.run(), std::string(value.status().message()), response);
      continue;
    }
    ABSL_RETURN_IF_ERROR(value.status());
    FactorMap factors = Factors(run.description());
    const std::string compared = TakeCompared(by, run.description(), factors);
    cells[std::move(factors)][compared].push_back({run.run(), *value});
  }
  return cells;
}

std::vector<double> Values(const std::vector<Measured>& runs) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const Measured& run : runs) values.push_back(run.value);
  return values;
}

std::vector<double> Logarithms(const std::vector<double>& values) {
  std::vector<double> logarithms;
  logarithms.reserve(values.size());
  for (const double value : values) logarithms.push_back(std::log(value));
  return logarithms;
}

// Everything of a pair but what depends on the other pairs: adjusted p, verdict, sentence.
v1::PairComparison ComparePair(const std::vector<double>& a, const std::vector<double>& b, v1::TestKind test) {
  const Moments log_a = MomentsOf(Logarithms(a));
  const Moments log_b = MomentsOf(Logarithms(b));
  v1::PairComparison pair;
  pair.set_n_a(static_cast<std::uint32_t>(a.size()));
  pair.set_n_b(static_cast<std::uint32_t>(b.size()));
  pair.set_ratio(std::exp(log_a.mean - log_b.mean));
  const std::size_t fewer = std::min(a.size(), b.size());
  if (fewer >= kMinRunsForMannWhitney) pair.set_mann_whitney_p(MannWhitneyP(a, b));
  if (fewer < kMinRunsForTest) return pair;
  const bool student = test == v1::TEST_KIND_STUDENT;
  const Interval interval =
      student ? StudentInterval(log_a, log_b, kConfidence) : WelchInterval(log_a, log_b, kConfidence);
  pair.set_ci95_low(std::exp(interval.low));
  pair.set_ci95_high(std::exp(interval.high));
  pair.set_welch_p(WelchP(log_a, log_b));
  if (student) pair.set_student_p(StudentP(log_a, log_b));
  if (const std::optional<double> effect = HedgesG(log_a, log_b)) pair.set_effect(*effect);
  return pair;
}

v1::ComparisonCell CompareCell(const FactorMap& factors, const Cell& values, v1::TestKind test) {
  v1::ComparisonCell cell;
  cell.mutable_factors()->insert(factors.begin(), factors.end());
  for (auto a = values.begin(); a != values.end(); ++a) {
    for (auto b = std::next(a); b != values.end(); ++b) {
      v1::PairComparison pair = ComparePair(Values(a->second), Values(b->second), test);
      pair.set_a(a->first);
      pair.set_b(b->first);
      *cell.add_pairs() = std::move(pair);
    }
  }
  return cell;
}

void CompareCells(const Cells& cells, const std::string& by, v1::TestKind test,
                  v1::CompareRunsResponse& response) {
  for (const auto& [factors, values] : cells) {
    if (values.size() > 1) {
      *response.add_cells() = CompareCell(factors, values, test);
      continue;
    }
    for (const Measured& run : values.begin()->second) {
      Exclude(run.run, absl::StrCat("no other value of ", by, " agrees with it in all other factors"),
              response);
    }
  }
}

// Of the chosen test.
void AdjustByHolm(v1::CompareRunsResponse& response) {
  std::vector<v1::PairComparison*> tested;
  std::vector<double> p;
  for (v1::ComparisonCell& cell : *response.mutable_cells()) {
    for (v1::PairComparison& pair : *cell.mutable_pairs()) {
      if (!pair.has_welch_p()) continue;
      tested.push_back(&pair);
      p.push_back(pair.has_student_p() ? pair.student_p() : pair.welch_p());
    }
  }
  const std::vector<double> adjusted = HolmAdjust(p);
  for (std::size_t i = 0; i < tested.size(); ++i) tested[i]->set_holm_p(adjusted[i]);
}

v1::Verdict VerdictOf(const v1::PairComparison& pair) {
  if (std::min(pair.n_a(), pair.n_b()) < kMinRunsForVerdict) return v1::VERDICT_TOO_FEW_RUNS;
  if (pair.holm_p() > kAlpha) return v1::VERDICT_NO_DIFFERENCE_SEEN;
  return pair.ratio() < 1 ? v1::VERDICT_FASTER : v1::VERDICT_SLOWER;
}

void Judge(const RunMetric& metric, v1::CompareRunsResponse& response) {
  AdjustByHolm(response);
  for (v1::ComparisonCell& cell : *response.mutable_cells()) {
    for (v1::PairComparison& pair : *cell.mutable_pairs()) {
      pair.set_verdict(VerdictOf(pair));
      pair.set_sentence(VerdictSentence(pair, metric));
    }
  }
}

// "p = .0004": no zero in front, as many digits as tell.
std::string FormatP(double p) {
  if (p < 0.0001) return "p < .0001";
  if (p > 0.9995) return "p = 1";
  const std::string digits = p < 0.001 ? absl::StrFormat("%.4f", p) : absl::StrFormat("%.3f", p);
  return absl::StrCat("p = ", digits.substr(1));
}

// A ratio with enough digits to differ from 1 where it does.
std::string FormatRatio(double ratio) {
  return std::abs(ratio - 1) < 0.095 ? absl::StrFormat("%.3f", ratio) : absl::StrFormat("%.2f", ratio);
}

std::string FormatEvidence(const v1::PairComparison& pair, double low, double high) {
  return absl::StrFormat("(95 %% %s to %s, %s, %d against %d runs)", FormatRatio(low), FormatRatio(high),
                         FormatP(pair.holm_p()), pair.n_a(), pair.n_b());
}

// `factor` is above 1.
std::string Difference(const v1::PairComparison& pair, const RunMetric& metric, double factor) {
  const bool less = pair.ratio() < 1;
  if (metric.is_speed()) {
    return absl::StrFormat("%s is %sx %s than %s", pair.a(), FormatRatio(factor), less ? "faster" : "slower",
                           pair.b());
  }
  return absl::StrFormat("%s of %s is %sx %s than that of %s", metric.name(), pair.a(), FormatRatio(factor),
                         less ? "smaller" : "greater", pair.b());
}

std::string TooFewRuns(const v1::PairComparison& pair) {
  return absl::StrFormat(
      "too few runs to compare %s with %s: %d against %d, and %d a side are needed (ratio %s)", pair.a(),
      pair.b(), pair.n_a(), pair.n_b(), kMinRunsForVerdict, FormatRatio(pair.ratio()));
}

}  // namespace

absl::StatusOr<v1::CompareRunsResponse> Compare(const RunStore& store, const v1::CompareRunsRequest& request,
                                                absl::FunctionRef<bool()> cancelled) {
  ABSL_RETURN_IF_ERROR(CheckFactor(request.by()));
  ABSL_ASSIGN_OR_RETURN(const RunMetric metric, RunMetric::Parse(request.metric()));
  if (!v1::TestKind_IsValid(request.test())) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown test ", static_cast<int>(request.test()), "; known are Welch's and Student's"));
  }
  ABSL_ASSIGN_OR_RETURN(const std::vector<v1::Run> runs, SelectedRuns(store, request));
  v1::CompareRunsResponse response;
  response.set_metric(metric.name());
  response.set_alpha(kAlpha);
  response.set_test(request.test() == v1::TEST_KIND_UNSPECIFIED ? v1::TEST_KIND_WELCH : request.test());
  ABSL_ASSIGN_OR_RETURN(const Cells cells, MeasureAll(store, metric, request.by(), runs, cancelled, response));
  CompareCells(cells, request.by(), response.test(), response);
  Judge(metric, response);
  return response;
}

std::string VerdictSentence(const v1::PairComparison& pair, const RunMetric& metric) {
  switch (pair.verdict()) {
    case v1::VERDICT_FASTER:
      return absl::StrCat(Difference(pair, metric, 1 / pair.ratio()), " ",
                          FormatEvidence(pair, 1 / pair.ci95_high(), 1 / pair.ci95_low()));
    case v1::VERDICT_SLOWER:
      return absl::StrCat(Difference(pair, metric, pair.ratio()), " ",
                          FormatEvidence(pair, pair.ci95_low(), pair.ci95_high()));
    case v1::VERDICT_TOO_FEW_RUNS:
      return TooFewRuns(pair);
    default:
      return absl::StrFormat("no difference seen between %s and %s: ratio %s %s", pair.a(), pair.b(),
                             FormatRatio(pair.ratio()),
                             FormatEvidence(pair, pair.ci95_low(), pair.ci95_high()));
  }
}

}  // namespace packtrain::runs
