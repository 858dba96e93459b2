// packtrain run steps | export
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "client/cli/run/run_commands.h"
#include "client/cli/service_call.h"
#include "proto/base/flag_checks.h"
#include "proto/base/status_macros.h"
#include "proto/wire/step_convert.h"
#include "proto/wire/step_record.h"

namespace packtrain::cli {
namespace {

struct StepsFlags {
  std::string run;
  std::uint64_t max_points = 0;
  std::string format;
  bool all_attempts = false;
};

struct Row {
  std::uint32_t rank;
  std::uint32_t attempt;
  const wire::StepRecord& step;
};

struct RowColumn {
  const char* name;
  std::uint64_t (*value)(const Row&);
};

// Every column but the loss, which alone is no integer and comes last.
constexpr RowColumn kColumns[] = {
    {"rank", [](const Row& row) -> std::uint64_t { return row.rank; }},
    {"attempt", [](const Row& row) -> std::uint64_t { return row.attempt; }},
    {"step", [](const Row& row) { return row.step.step; }},
    {"epoch", [](const Row& row) { return row.step.epoch; }},
    {"batch_index", [](const Row& row) { return row.step.batch_index; }},
    {"real_graphs", [](const Row& row) -> std::uint64_t { return row.step.real.graphs; }},
    {"real_nodes", [](const Row& row) -> std::uint64_t { return row.step.real.nodes; }},
    {"real_edges", [](const Row& row) -> std::uint64_t { return row.step.real.edges; }},
    {"padded_graphs", [](const Row& row) -> std::uint64_t { return row.step.padded.graphs; }},
    {"padded_nodes", [](const Row& row) -> std::uint64_t { return row.step.padded.nodes; }},
    {"padded_edges", [](const Row& row) -> std::uint64_t { return row.step.padded.edges; }},
    {"wait_ns", [](const Row& row) { return row.step.wait_ns; }},
    {"copy_ns", [](const Row& row) { return row.step.copy_ns; }},
    {"forward_ns", [](const Row& row) { return row.step.forward_ns; }},
    {"backward_ns", [](const Row& row) { return row.step.backward_ns; }},
    {"optimizer_ns", [](const Row& row) { return row.step.optimizer_ns; }},
    {"comm_ns", [](const Row& row) { return row.step.comm_ns; }},
    {"total_ns", [](const Row& row) { return row.step.total_ns; }},
    {"server_build_ns", [](const Row& row) { return row.step.server_build_ns; }},
    {"server_queue_ns", [](const Row& row) { return row.step.server_queue_ns; }},
    {"capture_ns", [](const Row& row) { return row.step.capture_ns; }},
    {"flags", [](const Row& row) -> std::uint64_t { return row.step.flags; }},
};
constexpr char kLoss[] = "loss";

std::vector<std::string> Columns() {
  std::vector<std::string> names;
  for (const RowColumn& column : kColumns) names.emplace_back(column.name);
  names.emplace_back(kLoss);
  return names;
}

std::vector<std::string> Cells(const Row& row) {
  std::vector<std::string> cells;
  for (const RowColumn& column : kColumns) cells.push_back(std::to_string(column.value(row)));
  cells.push_back(FormatExact(row.step.loss));
  return cells;
}

Json ToJson(const Row& row) {
  Json json = Json::object();
  for (const RowColumn& column : kColumns) json[column.name] = column.value(row);
  json[kLoss] = row.step.loss;
  return json;
}

absl::Status EachRow(const v1::ListStepsResponse& block, const std::function<void(const Row&)>& take) {
  ABSL_ASSIGN_OR_RETURN(const std::vector<wire::StepRecord> steps, wire::FromStepBlock(block.steps()));
  for (const wire::StepRecord& step : steps) take({block.rank(), block.attempt(), step});
  return absl::OkStatus();
}

absl::Status ReadRows(const StepsFlags& flags, const GlobalOptions& global,
                      const std::function<absl::Status(const v1::ListStepsResponse&)>& take) {
  v1::ListStepsRequest request;
  request.set_run(flags.run);
  request.set_max_points(flags.max_points);
  request.set_all_attempts(flags.all_attempts);
  return CallService(global,
                     [&](client::ServiceClient& services) -> absl::StatusOr<bool> {
                       ABSL_RETURN_IF_ERROR(services.ListSteps(request, take));
                       return true;
                     })
      .status();
}

absl::StatusOr<ExitCode> ShowSteps(const StepsFlags& flags, const GlobalOptions& global, Output& output) {
  Json list = Json::array();
  Table table{Columns(), {}};
  absl::Status read = ReadRows(flags, global, [&](const v1::ListStepsResponse& block) {
    return EachRow(block, [&](const Row& row) {
      if (global.json) {
        list.push_back(ToJson(row));
      } else {
        table.rows.push_back(Cells(row));
      }
    });
  });
  ABSL_RETURN_IF_ERROR(read);
  output.Print(list, table);
  return ExitCode::kDone;
}

absl::StatusOr<ExitCode> ExportSteps(const StepsFlags& flags, const GlobalOptions& global, Output& output) {
  const bool csv = flags.format == "csv";
  bool begun = false;
  const auto take = [&](const v1::ListStepsResponse& block) {
    Table rows{Columns(), {}};
    std::string lines;
    absl::Status status = EachRow(block, [&](const Row& row) {
      if (csv) {
        rows.rows.push_back(Cells(row));
      } else {
        lines += ToJson(row).dump() + '\n';
      }
    });
    ABSL_RETURN_IF_ERROR(status);
    status = output.Write(csv ? FormatCsv(rows, /*header=*/!begun) : lines);
    begun = true;
    return status;
  };
  ABSL_RETURN_IF_ERROR(ReadRows(flags, global, take));
  if (begun || !csv) return ExitCode::kDone;
  ABSL_RETURN_IF_ERROR(output.Write(FormatCsv({Columns(), {}})));
  return ExitCode::kDone;
}

}  // namespace

void AddRunStepsCommands(CLI::App& run, Invocation& invocation) {
  const auto flags = std::make_shared<StepsFlags>();
  CLI::App* steps = AddCommand(run, "steps", "Shows the step records of a run, one for each rank and step",
                               {"packtrain run steps RUN --max-points 1000 --csv"});
  steps->add_option("RUN", flags->run, "Name of a run, or an unambiguous beginning of it")->required();
  steps
      ->add_option("--max-points", flags->max_points,
                   "At most this many records; each interval keeps its least and greatest total [all]")
      ->check(base::CountFrom(1));
  OnChosenPrintTable(*steps, invocation, [flags](const GlobalOptions& global, Output& output) {
    return ShowSteps(*flags, global, output);
  });

  CLI::App* whole = AddCommand(run, "export", "Writes all step records of a run to stdout",
                               {"packtrain run export RUN --format csv > steps.csv"});
  whole->add_option("RUN", flags->run, "Name of a run, or an unambiguous beginning of it")->required();
  whole->add_option("--format", flags->format, "csv or jsonl")
      ->check(CLI::IsMember({"csv", "jsonl"}))
      ->required();
  whole->add_flag("--all-attempts", flags->all_attempts, "Also records that a later attempt replaced");
  OnChosen(*whole, invocation, [flags](const GlobalOptions& global, Output& output) {
    return ExportSteps(*flags, global, output);
  });
}

}  // namespace packtrain::cli
