// Reads runs out of a store for the questions of server/analysis, which know no store.
//
// A question about one run loads the parts that it needs; one about several adds them one by one, so that only
// one is in memory at a time.
//
//   ABSL_ASSIGN_OR_RETURN(analysis::Comparison comparison, analysis::Comparison::Create(request));
//   ABSL_ASSIGN_OR_RETURN(const auto selected, SelectRuns(store, request.runs(), request.where(), hold));
//   ABSL_RETURN_IF_ERROR(AddRuns(store, selected, cancelled, comparison));
//   return comparison.Answer();
#ifndef PACKTRAIN_SERVER_RUNS_RUN_LOADER_H_
#define PACKTRAIN_SERVER_RUNS_RUN_LOADER_H_

#include <google/protobuf/repeated_ptr_field.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/run.pb.h"
#include "proto/base/status_macros.h"
#include "server/analysis/loaded_run.h"
#include "server/runs/run_store.h"

namespace packtrain::runs {

// Called before so many bytes are held in all, by steps, evaluations and descriptions of runs and by what a
// question makes of them. A failure ends the load with it.
using HoldMemory = absl::FunctionRef<absl::Status(std::uint64_t bytes)>;
inline absl::Status HoldAny(std::uint64_t) { return absl::OkStatus(); }

// All steps of a run, of all attempts, by step, then rank, then attempt. Codes as RunStore::ReadSteps.
absl::StatusOr<std::vector<analysis::RankStep>> LoadSteps(const RunStore& store, std::string_view run,
                                                          HoldMemory hold = HoldAny);

// What of a run's records counts. Codes as RunStore::Get.
absl::StatusOr<analysis::CountedRecords> LoadCounted(const RunStore& store, std::string_view run);

// A run and those parts of it, of each what counts: one that was got from the store, or one by its name, with
// the codes of RunStore::Get.
absl::StatusOr<analysis::LoadedRun> LoadRun(const RunStore& store, const v1::Run& run,
                                            const analysis::RunParts& parts, HoldMemory hold = HoldAny);
absl::StatusOr<analysis::LoadedRun> LoadRun(const RunStore& store, std::string_view run,
                                            const analysis::RunParts& parts, HoldMemory hold = HoldAny);

// The runs that are named, each once, in this order; without names those that `where` takes, newest first.
// What is held of them goes to `hold`, a run before it is kept. NOT_FOUND: a named run. INVALID_ARGUMENT: both
// are given, a name is ambiguous, or the filter does not parse.
absl::StatusOr<std::vector<v1::Run>> SelectRuns(const RunStore& store,
                                                const google::protobuf::RepeatedPtrField<std::string>& names,
                                                std::string_view where, HoldMemory hold = HoldAny);

inline bool NeverCancelled() { return false; }

// Loads of each run what `question.PartsOf(run)` says and hands it to `question.Add`. CANCELLED: `cancelled`
// said so before one of them.
template <typename Question>
absl::Status AddRuns(const RunStore& store, const std::vector<v1::Run>& runs,
                     absl::FunctionRef<bool()> cancelled, Question& question, HoldMemory hold = HoldAny) {
  for (const v1::Run& run : runs) {
    if (cancelled()) return absl::CancelledError("nobody waits for the answer any more");
    ABSL_ASSIGN_OR_RETURN(const analysis::LoadedRun loaded, LoadRun(store, run, question.PartsOf(run), hold));
    question.Add(loaded);
  }
  return absl::OkStatus();
}

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_RUN_LOADER_H_
