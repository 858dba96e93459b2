// packtrain run steps
#include <cstdint>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "client/cli/commands.h"
#include "client/cli/run/run_argument.h"
#include "client/cli/run/step_rows.h"
#include "proto/base/flag_checks.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {
namespace {

struct StepsFlags {
  std::string run;
  std::uint64_t max_points = 0;
};

v1::ListStepsRequest ToRequest(const StepsFlags& flags) {
  v1::ListStepsRequest request;
  request.set_run(flags.run);
  request.set_max_points(flags.max_points);
  return request;
}

absl::StatusOr<ExitCode> ShowSteps(const StepsFlags& flags, const GlobalOptions& global, Output& output) {
  Json list = Json::array();
  Table table{StepColumns(), {}};
  absl::Status read = ReadStepBlocks(ToRequest(flags), global, [&](const v1::ListStepsResponse& block) {
    return EachStepRow(block, [&](const StepRow& row) {
      if (global.json) {
        list.push_back(StepToJson(row));
      } else {
        table.rows.push_back(StepCells(row));
      }
    });
  });
  ABSL_RETURN_IF_ERROR(read);
  output.Print(list, table);
  return ExitCode::kDone;
}

}  // namespace

void AddRunSteps(CLI::App& run, Invocation& invocation) {
  CLI::App* steps = AddCommand(run, "steps", "Shows the step records of a run, one for each rank and step",
                               {"packtrain run steps RUN --max-points 1000 --csv"});
  const auto flags = std::make_shared<StepsFlags>();
  AddRunArgument(*steps, flags->run);
  steps
      ->add_option("--max-points", flags->max_points,
                   "At most this many records; each interval keeps its least and greatest total [all]")
      ->check(base::CountFrom(1));
  OnChosenPrintTable(*steps, invocation, WithFlags(flags, ShowSteps));
}

}  // namespace packtrain::cli
