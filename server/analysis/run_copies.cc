#include "server/analysis/run_copies.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace packtrain::analysis {
namespace {

using SeedsAndSettings = std::pair<RunSeeds, const SettingTexts*>;

// The runs added so far, by the properties that a copy shares with its original.
class KnownRuns {
 public:
  explicit KnownRuns(bool of_learning) : of_learning_(of_learning) {}

  // The name of the run that `run` is a copy of; its own where it is none.
  std::string Add(const MeasuredRun& run) {
    std::string original = run.run;
    const bool by_seeds = of_learning_ && run.seeds.has_value();
    const auto alike = by_value_.find(run.value);
    if (alike != by_value_.end()) original = alike->second;
    if (by_seeds) {
      const auto [same, is_new] = by_seeds_.try_emplace({*run.seeds, run.conditions}, original);
      if (!is_new) original = same->second;
    }
    by_value_.emplace(run.value, original);
    return original;
  }

 private:
  const bool of_learning_;
  std::map<double, std::string> by_value_;
  std::map<SeedsAndSettings, std::string> by_seeds_;
};

}  // namespace

DistinctRuns SetCopiesAside(const std::vector<MeasuredRun>& side, bool of_learning) {
  std::vector<const MeasuredRun*> by_name;
  by_name.reserve(side.size());
  for (const MeasuredRun& run : side) by_name.push_back(&run);
  std::sort(by_name.begin(), by_name.end(), [](const auto* a, const auto* b) { return a->run < b->run; });

  DistinctRuns distinct;
  KnownRuns known(of_learning);
  std::set<std::string> copied;
  for (const MeasuredRun* run : by_name) {
    const std::string original = known.Add(*run);
    if (original == run->run) continue;
    copied.insert(run->run);
    v1::RunCopy& copy = distinct.copies.emplace_back();
    copy.set_run(run->run);
    copy.set_of(original);
  }
  for (const MeasuredRun& run : side) {
    if (!copied.contains(run.run)) distinct.runs.push_back(run);
  }
  return distinct;
}

bool ShareSeeds(const std::vector<MeasuredRun>& runs) {
  std::set<RunSeeds> met;
  for (const MeasuredRun& run : runs) {
    if (run.seeds.has_value() && !met.insert(*run.seeds).second) return true;
  }
  return false;
}

}  // namespace packtrain::analysis
