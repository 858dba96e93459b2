#include "server/analysis/loaded_run.h"

#include <utility>

namespace packtrain::analysis {

void LoadedRun::SetSteps(std::vector<RankStep> all) {
  SortSteps(all);
  of_ranks = counted.Keep(std::move(all));
  joined = JoinRanks(of_ranks);
}

}  // namespace packtrain::analysis
