// What ListSteps sends.
#ifndef PACKTRAIN_SERVER_RUNS_STEP_LISTING_H_
#define PACKTRAIN_SERVER_RUNS_STEP_LISTING_H_

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "packtrain/v1/run.pb.h"
#include "server/runs/run_store.h"

namespace packtrain::runs {

// Most rows of one message.
inline constexpr std::size_t kMaxListedRows = 2000;

// Hands the messages of RunService.ListSteps to `send`, in order; stops at the first status that is not OK
// and returns it. Codes as RunStore::ReadSteps.
using ListedBlockSink = absl::FunctionRef<absl::Status(const v1::ListStepsResponse& block)>;
absl::Status ListSteps(const RunStore& store, const v1::ListStepsRequest& request, ListedBlockSink send);

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_STEP_LISTING_H_
