#include "server/analysis/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/wire/run_words.h"
#include "server/analysis/run_copies.h"
#include "server/analysis/significance.h"
#include "server/analysis/verdict_sentence.h"

namespace packtrain::analysis {
namespace {

std::string KnownSides() {
  return absl::StrCat(KnownSettings({SettingKind::kFactor, SettingKind::kCondition, SettingKind::kNote}),
                      ", label.NAME");
}

absl::StatusOr<RunSetting> FindSides(const std::string& by) {
  if (by.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("say by which setting to compare: ", KnownSides()));
  }
  std::optional<RunSetting> setting = FindSetting(by);
  if (!setting.has_value() || setting->kind == SettingKind::kRecord) {
    return absl::InvalidArgumentError(absl::StrCat("unknown setting ", by, "; known are ", KnownSides()));
  }
  if (setting->kind == SettingKind::kRepeat && !by.starts_with("label.")) {
    return absl::InvalidArgumentError(absl::StrCat("runs are not compared by ", by,
                                                   ", in which repeats may differ; known are ", KnownSides()));
  }
  return *std::move(setting);
}

absl::Status CheckAllowMixed(const std::string& key) {
  const std::optional<RunSetting> setting = FindSetting(key);
  if (setting.has_value() && setting->kind == SettingKind::kCondition) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--allow-mixed ", key, ": not a condition; conditions are ",
                                                 KnownSettings({SettingKind::kCondition})));
}

// What is learnt depends on seeds, the other figures on the machine.
bool IsOfLearning(const RunMetric& metric) { return metric.parts().evaluations; }

v1::ExcludedRun Excluded(const std::string& run, std::string reason) {
  v1::ExcludedRun excluded;
  excluded.set_run(run);
  excluded.set_reason(std::move(reason));
  return excluded;
}

// A part that belongs to the compared factor is named with it, so two versions of one data set are never one
// side: "qm9@1", "H200, Xeon".
std::string WithPart(const std::string& by, const std::string& value, const std::string& part) {
  if (part.empty() || part == value) return value;
  return absl::StrCat(value, by == "dataset" ? "@" : ", ", part);
}

std::vector<double> Values(const std::vector<MeasuredRun>& runs) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const MeasuredRun& run : runs) values.push_back(run.value);
  return values;
}

// One value of what is compared.
struct Side {
  std::string value;
  std::vector<double> figures;
  std::vector<v1::RunCopy> copies;
  SideSettings settings;
  bool shares_seeds = false;
};

Side MakeSide(const std::string& value, const std::vector<MeasuredRun>& runs, bool of_learning) {
  DistinctRuns distinct = SetCopiesAside(runs, of_learning);
  return {.value = value,
          .figures = Values(distinct.runs),
          .copies = std::move(distinct.copies),
          .settings = SettingsOf(runs),
          .shares_seeds = !of_learning && ShareSeeds(distinct.runs)};
}

std::vector<double> Logarithms(const std::vector<double>& values) {
  std::vector<double> logarithms;
  logarithms.reserve(values.size());
  for (const double value : values) logarithms.push_back(std::log(value));
  return logarithms;
}

// Interval, p and effect, as far as there are runs for them.
void TestPair(const std::vector<double>& a, const std::vector<double>& b, v1::TestKind test,
              v1::PairComparison& pair) {
  const Moments log_a = MomentsOf(Logarithms(a));
  const Moments log_b = MomentsOf(Logarithms(b));
  const std::size_t fewer = std::min(a.size(), b.size());
  if (fewer >= kMinRunsForMannWhitney) pair.set_mann_whitney_p(MannWhitneyP(a, b));
  if (fewer < kMinRunsForTest) return;
  const bool student = test == v1::TEST_KIND_STUDENT;
  const Interval interval =
      student ? StudentInterval(log_a, log_b, kConfidence) : WelchInterval(log_a, log_b, kConfidence);
  pair.set_ci95_low(std::exp(interval.low));
  pair.set_ci95_high(std::exp(interval.high));
  pair.set_welch_p(WelchP(log_a, log_b));
  if (student) pair.set_student_p(StudentP(log_a, log_b));
  if (const std::optional<double> effect = HedgesG(log_a, log_b)) pair.set_effect(*effect);
}

// Everything of a pair but what depends on the other pairs: adjusted p, verdict, sentence.
v1::PairComparison ComparePair(const Side& a, const Side& b, const PairQuestion& question, v1::TestKind test) {
  v1::PairComparison pair;
  pair.set_a(a.value);
  pair.set_b(b.value);
  pair.set_n_a(static_cast<std::uint32_t>(a.figures.size()));
  pair.set_n_b(static_cast<std::uint32_t>(b.figures.size()));
  pair.set_ratio(std::exp(MomentsOf(Logarithms(a.figures)).mean - MomentsOf(Logarithms(b.figures)).mean));
  const PairSettings settings = CompareSettings(a.settings, b.settings, question);
  pair.mutable_mixed()->Add(settings.mixed.begin(), settings.mixed.end());
  pair.mutable_also_differs()->Add(settings.also_differs.begin(), settings.also_differs.end());
  for (const Side* side : {&a, &b}) pair.mutable_copies()->Add(side->copies.begin(), side->copies.end());
  pair.set_shares_seeds(a.shares_seeds || b.shares_seeds);
  if (settings.mixed.empty()) TestPair(a.figures, b.figures, test, pair);
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
  if (pair.mixed_size() > 0) return v1::VERDICT_MIXED;
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

}  // namespace

Comparison::Comparison(RunSetting by, PairQuestion question, RunMetric metric, v1::TestKind test)
    : by_(std::move(by)), question_(std::move(question)), metric_(std::move(metric)), test_(test) {}

absl::StatusOr<Comparison> Comparison::Create(const v1::CompareRunsRequest& request) {
  ABSL_ASSIGN_OR_RETURN(RunSetting by, FindSides(request.by()));
  ABSL_ASSIGN_OR_RETURN(RunMetric metric, RunMetric::Parse(request.metric()));
  for (const std::string& key : request.allow_mixed()) ABSL_RETURN_IF_ERROR(CheckAllowMixed(key));
  if (!v1::TestKind_IsValid(request.test())) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown test ", static_cast<int>(request.test()), "; known are Welch's and Student's"));
  }
  const bool chosen = request.test() != v1::TEST_KIND_UNSPECIFIED;
  PairQuestion question = {.by = request.by(),
                           .allow_mixed = {request.allow_mixed().begin(), request.allow_mixed().end()},
                           .of_learning = IsOfLearning(metric)};
  return Comparison(std::move(by), std::move(question), std::move(metric),
                    chosen ? request.test() : v1::TEST_KIND_WELCH);
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
  SettingTexts factors = ReadSettings(run.record, SettingKind::kFactor);
  const std::optional<std::string> side = TakeSide(run.record, factors);
  if (!side.has_value()) {
    excluded_.push_back(Excluded(name, absl::StrCat("its ", by_.key, " is not given")));
    return;
  }
  cells_[std::move(factors)][*side].push_back(Keep(run.record, *value));
}

std::optional<std::string> Comparison::TakeSide(const v1::Run& run, SettingTexts& factors) const {
  if (by_.kind != SettingKind::kFactor) return by_.read(run);
  std::string side = factors.extract(by_.key).mapped();
  for (const RunSetting& setting : AllSettings()) {
    if (setting.kind != SettingKind::kFactor || setting.belongs_to != by_.key) continue;
    side = WithPart(by_.key, side, factors.extract(setting.key).mapped());
  }
  return side;
}

MeasuredRun Comparison::Keep(const v1::Run& run, double value) {
  SettingTexts notes = ReadSettings(run, SettingKind::kNote);
  const auto started = notes.extract(kStartedKey);
  return {.run = run.run(),
          .value = value,
          .conditions = &*texts_.insert(ReadSettings(run, SettingKind::kCondition)).first,
          .notes = &*texts_.insert(std::move(notes)).first,
          .started = started.empty() ? "" : started.mapped(),
          .seeds = SeedsOf(run.description())};
}

v1::ComparisonCell Comparison::CompareCell(const SettingTexts& factors, const Cell& values) const {
  v1::ComparisonCell cell;
  cell.mutable_factors()->insert(factors.begin(), factors.end());
  std::vector<Side> sides;
  for (const auto& [value, runs] : values) sides.push_back(MakeSide(value, runs, question_.of_learning));
  for (std::size_t a = 0; a < sides.size(); ++a) {
    for (std::size_t b = a + 1; b < sides.size(); ++b) {
      *cell.add_pairs() = ComparePair(sides[a], sides[b], question_, test_);
    }
  }
  return cell;
}

absl::Status Comparison::CheckPairs() const {
  std::size_t pairs = 0;
  for (const auto& [factors, values] : cells_) pairs += values.size() * (values.size() - 1) / 2;
  if (pairs <= kMaxPairs) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("these runs have so many values of ", by_.key,
                                                 " that they make ", pairs, " pairs, and at most ", kMaxPairs,
                                                 " are compared at once: select fewer runs"));
}

absl::StatusOr<v1::CompareRunsResponse> Comparison::Answer() const {
  ABSL_RETURN_IF_ERROR(CheckPairs());
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
      *response.add_excluded() = Excluded(
          run.run, absl::StrCat("no other value of ", by_.key, " agrees with it in all other factors"));
    }
  }
  Judge(metric_, response);
  return response;
}

}  // namespace packtrain::analysis
