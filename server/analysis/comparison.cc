#include "server/analysis/comparison.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/wire/run_words.h"
#include "server/analysis/run_fields.h"
#include "server/analysis/significance.h"

namespace packtrain::analysis {
namespace {

absl::Status CheckFactor(const std::string& by) {
  const std::map<std::string, std::string> known = Factors(v1::RunDescription());
  if (known.contains(by)) return absl::OkStatus();
  const std::string names =
      absl::StrJoin(known, ", ", [](std::string* out, const auto& factor) { out->append(factor.first); });
  return absl::InvalidArgumentError(by.empty() ? absl::StrCat("say by which factor to compare: ", names)
                                               : absl::StrCat("unknown factor ", by, "; known are ", names));
}

v1::ExcludedRun Excluded(const std::string& run, std::string reason) {
  v1::ExcludedRun excluded;
  excluded.set_run(run);
  excluded.set_reason(std::move(reason));
  return excluded;
}

// Takes the compared factor out of `factors`. A version belongs to its data set, so comparing data sets takes
// both, as NAME@VERSION: two versions of one name are never one side.
std::string TakeCompared(const std::string& by, const v1::RunDescription& description,
                         std::map<std::string, std::string>& factors) {
  std::string value = factors.extract(by).mapped();
  if (by != "dataset") return value;
  factors.erase("version");
  return description.dataset();
}

std::vector<double> Values(const std::vector<MeasuredRun>& runs) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const MeasuredRun& run : runs) values.push_back(run.value);
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

bool Comparison::ValueLess::operator()(const std::string& a, const std::string& b) const {
  double x = 0;
  double y = 0;
  if (absl::SimpleAtod(a, &x) && absl::SimpleAtod(b, &y) && x != y) return x < y;
  return a < b;
}

Comparison::Comparison(std::string by, RunMetric metric, v1::TestKind test)
    : by_(std::move(by)), metric_(std::move(metric)), test_(test) {}

absl::StatusOr<Comparison> Comparison::Create(const v1::CompareRunsRequest& request) {
  ABSL_RETURN_IF_ERROR(CheckFactor(request.by()));
  ABSL_ASSIGN_OR_RETURN(RunMetric metric, RunMetric::Parse(request.metric()));
  if (!v1::TestKind_IsValid(request.test())) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown test ", static_cast<int>(request.test()), "; known are Welch's and Student's"));
  }
  const bool chosen = request.test() != v1::TEST_KIND_UNSPECIFIED;
  return Comparison(request.by(), std::move(metric), chosen ? request.test() : v1::TEST_KIND_WELCH);
}

RunParts Comparison::PartsOf(const v1::Run& run) const {
  return run.state() == v1::RUN_STATE_DONE ? metric_.parts() : RunParts();
}

void Comparison::Add(const LoadedRun& run) {
  const std::string& name = run.record.run();
  if (run.record.state() != v1::RUN_STATE_DONE) {
    excluded_.push_back(
        Excluded(name, absl::StrCat("its state is ", wire::StateName(run.record.state()), ", not done")));
    return;
  }
  const absl::StatusOr<double> value = metric_.Measure(run);
  if (!value.ok()) {
    excluded_.push_back(Excluded(name, std::string(value.status().message())));
    return;
  }
  FactorMap factors = Factors(run.record.description());
  const std::string compared = TakeCompared(by_, run.record.description(), factors);
  cells_[std::move(factors)][compared].push_back({name, *value});
}

v1::ComparisonCell Comparison::CompareCell(const FactorMap& factors, const Cell& values) const {
  v1::ComparisonCell cell;
  cell.mutable_factors()->insert(factors.begin(), factors.end());
  for (auto a = values.begin(); a != values.end(); ++a) {
    for (auto b = std::next(a); b != values.end(); ++b) {
      v1::PairComparison pair = ComparePair(Values(a->second), Values(b->second), test_);
      pair.set_a(a->first);
      pair.set_b(b->first);
      *cell.add_pairs() = std::move(pair);
    }
  }
  return cell;
}

v1::CompareRunsResponse Comparison::Answer() const {
  v1::CompareRunsResponse response;
  response.set_metric(metric_.name());
  response.set_alpha(kAlpha);
  response.set_test(test_);
  response.mutable_excluded()->Add(excluded_.begin(), excluded_.end());
  for (const auto& [factors, values] : cells_) {
    if (values.size() > 1) {
      *response.add_cells() = CompareCell(factors, values);
      continue;
    }
    for (const MeasuredRun& run : values.begin()->second) {
      *response.add_excluded() =
          Excluded(run.run, absl::StrCat("no other value of ", by_, " agrees with it in all other factors"));
    }
  }
  Judge(metric_, response);
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

}  // namespace packtrain::analysis
