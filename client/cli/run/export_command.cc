// packtrain run export
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "client/cli/commands.h"
#include "client/cli/run/run_argument.h"
#include "client/cli/run/step_rows.h"
#include "proto/base/json_text.h"
#include "proto/base/status_macros.h"

namespace packtrain::cli {
namespace {

struct ExportFlags {
  std::string run;
  std::string format;
  bool all_attempts = false;
};

v1::ListStepsRequest ToRequest(const ExportFlags& flags) {
  v1::ListStepsRequest request;
  request.set_run(flags.run);
  request.set_all_attempts(flags.all_attempts);
  return request;
}

absl::StatusOr<ExitCode> ExportSteps(const ExportFlags& flags, const GlobalOptions& global, Output& output) {
  const bool csv = flags.format == "csv";
  bool begun = false;
  const auto take = [&](const v1::ListStepsResponse& block) {
    Table rows{StepColumns(), {}};
    std::string lines;
    absl::Status status = EachStepRow(block, [&](const StepRow& row) {
      if (csv) {
        rows.rows.push_back(StepCells(row));
      } else {
        lines += base::JsonText(StepToJson(row)) + '\n';
      }
    });
    ABSL_RETURN_IF_ERROR(status);
    status = output.Write(csv ? FormatCsv(rows, /*header=*/!begun) : lines);
    begun = true;
    return status;
  };
  ABSL_RETURN_IF_ERROR(ReadStepBlocks(ToRequest(flags), global, take));
  if (begun || !csv) return ExitCode::kDone;
  ABSL_RETURN_IF_ERROR(output.Write(FormatCsv({StepColumns(), {}})));
  return ExitCode::kDone;
}

}  // namespace

void AddRunExport(CLI::App& run, Invocation& invocation) {
  CLI::App* whole = AddCommand(run, "export", "Writes all step records of a run to stdout",
                               {"packtrain run export RUN --format csv > steps.csv"});
  const auto flags = std::make_shared<ExportFlags>();
  AddRunArgument(*whole, flags->run);
  whole->add_option("--format", flags->format, "csv or jsonl")
      ->check(CLI::IsMember({"csv", "jsonl"}))
      ->required();
  whole->add_flag("--all-attempts", flags->all_attempts, "Also records that a later attempt replaced");
  OnChosen(*whole, invocation, WithFlags(flags, ExportSteps));
}

}  // namespace packtrain::cli
