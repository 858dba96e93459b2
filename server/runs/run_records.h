// What the run database holds under the keys of run_keys.h.
#ifndef PACKTRAIN_SERVER_RUNS_RUN_RECORDS_H_
#define PACKTRAIN_SERVER_RUNS_RUN_RECORDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "packtrain/v1/run.pb.h"
#include "proto/wire/step_columns.h"
#include "server/runs/run_database.h"
#include "server/runs/run_store.h"

namespace packtrain::runs {

// DATA_LOSS where `value` is no such message.
template <typename Message>
absl::Status ParseRecord(std::string_view value, Message& message) {
  if (message.ParseFromArray(value.data(), static_cast<int>(value.size()))) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the run database holds a damaged ", message.GetTypeName()));
}
absl::StatusOr<std::vector<wire::StepRecord>> ParseSteps(std::string_view value);

// What changes rarely, and what every report changes.
rocks::Change DescriptionEntry(const v1::Run& run);
rocks::Change ProgressEntry(std::string_view run, std::uint64_t steps, std::int64_t last_report_ms);
rocks::Change AttemptEntry(const Reporter& reporter, v1::StartRunRequest request);
rocks::Change PlaceEntry(std::string_view run, std::uint64_t place);
// DATA_LOSS where `value` is none.
absl::StatusOr<std::uint64_t> ParsePlace(std::string_view value);

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_RUN_RECORDS_H_
