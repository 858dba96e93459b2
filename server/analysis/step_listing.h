// What ListSteps sends.
#ifndef PACKTRAIN_SERVER_ANALYSIS_STEP_LISTING_H_
#define PACKTRAIN_SERVER_ANALYSIS_STEP_LISTING_H_

#include <cstddef>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "packtrain/v1/run.pb.h"
#include "server/analysis/counted_records.h"
#include "server/analysis/step_selection.h"

namespace packtrain::analysis {

// Most rows of one message.
inline constexpr std::size_t kMaxListedRows = 2000;

// Hands the messages of RunService.ListSteps to `send`, in order; stops at the first status that is not OK and
// returns it. `steps` are all of the run, of all attempts, in the order of SortSteps; without `all_attempts`
// those of `counted` are listed.
using ListedBlockSink = absl::FunctionRef<absl::Status(const v1::ListStepsResponse& block)>;
absl::Status ListSteps(std::vector<RankStep> steps, const CountedRecords& counted,
                       const v1::ListStepsRequest& request, ListedBlockSink send);

}  // namespace packtrain::analysis

#endif  // PACKTRAIN_SERVER_ANALYSIS_STEP_LISTING_H_
