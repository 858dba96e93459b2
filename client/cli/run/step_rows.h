// Step records as rows: what `packtrain run steps`, `packtrain run export` and `packtrain run batch` read.
#ifndef PACKTRAIN_CLIENT_CLI_RUN_STEP_ROWS_H_
#define PACKTRAIN_CLIENT_CLI_RUN_STEP_ROWS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/cli/command.h"
#include "packtrain/v1/run.pb.h"
#include "proto/wire/step_columns.h"

namespace packtrain::cli {

// One record. `step` is borrowed.
struct StepRow {
  std::uint32_t rank;
  std::uint32_t attempt;
  const wire::StepRecord& step;
};

// The names of the columns, which are also the keys of a row's JSON.
std::vector<std::string> StepColumns();
// As long as StepColumns.
std::vector<std::string> StepCells(const StepRow& row);
Json StepToJson(const StepRow& row);

// Hands each block of the listing to `take`, in order; ends early with whatever error `take` returns. Codes as
// RunService.ListSteps.
absl::Status ReadStepBlocks(const v1::ListStepsRequest& request, const GlobalOptions& global,
                            const std::function<absl::Status(const v1::ListStepsResponse&)>& take);

// Hands each row of a block to `take`. INVALID_ARGUMENT: as wire::FromStepBlock.
absl::Status EachStepRow(const v1::ListStepsResponse& block, const std::function<void(const StepRow&)>& take);

}  // namespace packtrain::cli

#endif  // PACKTRAIN_CLIENT_CLI_RUN_STEP_ROWS_H_
