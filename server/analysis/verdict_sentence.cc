#include "server/analysis/verdict_sentence.h"

#include <google/protobuf/repeated_ptr_field.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "server/analysis/comparison.h"
#include "server/analysis/run_settings.h"

namespace packtrain::analysis {
namespace {

// Values of a setting, and copies, that a sentence names.
constexpr int kMaxNamed = 4;

// "p = .0004": without the leading zero, to the digits that are significant.
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

using Texts = google::protobuf::RepeatedPtrField<std::string>;
using Differences = google::protobuf::RepeatedPtrField<v1::SettingDifference>;

std::string SomeOf(const Texts& values) {
  const std::vector<std::string> some(values.begin(), values.begin() + std::min(values.size(), kMaxNamed));
  return absl::StrCat(absl::StrJoin(some, ", "), values.size() > kMaxNamed ? ", ..." : "");
}

// "learning_rate (0.01 against 0.0001)".
std::string FormatDifference(const v1::SettingDifference& difference, const v1::PairComparison& pair) {
  if (difference.key() == kStartedKey) {
    const bool a_first = *difference.a().begin() < *difference.b().begin();
    return absl::StrCat(kStartedKey, " (all of ", a_first ? pair.a() : pair.b(), " before all of ",
                        a_first ? pair.b() : pair.a(), ")");
  }
  return absl::StrCat(difference.key(), " (", SomeOf(difference.a()), " against ", SomeOf(difference.b()), ")");
}

std::string FormatAll(const Differences& differences, const v1::PairComparison& pair) {
  return absl::StrJoin(differences, ", ", [&pair](std::string* out, const v1::SettingDifference& difference) {
    out->append(FormatDifference(difference, pair));
  });
}

std::string Mixed(const v1::PairComparison& pair) {
  return absl::StrFormat(
      "no verdict on %s and %s: runs of one side differ in %s; --allow-mixed KEY compares them all the same "
      "(ratio "
      "%s, %d against %d runs)",
      pair.a(), pair.b(), FormatAll(pair.mixed(), pair), FormatRatio(pair.ratio()), pair.n_a(), pair.n_b());
}

std::string FormatCopies(const v1::PairComparison& pair) {
  const int named = std::min(pair.copies_size(), kMaxNamed);
  std::vector<std::string> copies;
  copies.reserve(static_cast<std::size_t>(named) + 1);
  for (int i = 0; i < named; ++i) {
    copies.push_back(absl::StrCat(pair.copies(i).run(), " (of ", pair.copies(i).of(), ")"));
  }
  if (named < pair.copies_size()) copies.push_back(absl::StrCat(pair.copies_size() - named, " more"));
  return absl::StrJoin(copies, ", ");
}

std::string Remarks(const v1::PairComparison& pair) {
  std::string remarks;
  if (pair.also_differs_size() > 0) {
    absl::StrAppend(&remarks, "; also differs: ", FormatAll(pair.also_differs(), pair));
  }
  if (pair.copies_size() > 0) {
    absl::StrAppend(&remarks, "; copies, which count once: ", FormatCopies(pair));
  }
  if (pair.shares_seeds()) {
    absl::StrAppend(&remarks, "; runs of a side share their seeds, so they repeat one order of batches");
  }
  return remarks;
}

std::string Verdict(const v1::PairComparison& pair, const RunMetric& metric) {
  switch (pair.verdict()) {
    case v1::VERDICT_FASTER:
      return absl::StrCat(Difference(pair, metric, 1 / pair.ratio()), " ",
                          FormatEvidence(pair, 1 / pair.ci95_high(), 1 / pair.ci95_low()));
    case v1::VERDICT_SLOWER:
      return absl::StrCat(Difference(pair, metric, pair.ratio()), " ",
                          FormatEvidence(pair, pair.ci95_low(), pair.ci95_high()));
    case v1::VERDICT_TOO_FEW_RUNS:
      return TooFewRuns(pair);
    case v1::VERDICT_MIXED:
      return Mixed(pair);
    default:
      return absl::StrFormat("no difference seen between %s and %s: ratio %s %s", pair.a(), pair.b(),
                             FormatRatio(pair.ratio()),
                             FormatEvidence(pair, pair.ci95_low(), pair.ci95_high()));
  }
}

}  // namespace

std::string VerdictSentence(const v1::PairComparison& pair, const RunMetric& metric) {
  return absl::StrCat(Verdict(pair, metric), Remarks(pair));
}

}  // namespace packtrain::analysis
