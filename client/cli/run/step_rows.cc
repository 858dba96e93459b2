#include "client/cli/run/step_rows.h"

#include "client/cli/service_call.h"
#include "proto/base/status_macros.h"
#include "proto/wire/step_convert.h"

namespace packtrain::cli {
namespace {

struct RowColumn {
  const char* name;
  std::uint64_t (*value)(const StepRow&);
};

// Every column but the loss, which alone is no integer and comes last.
constexpr RowColumn kColumns[] = {
    {"rank", [](const StepRow& row) -> std::uint64_t { return row.rank; }},
    {"attempt", [](const StepRow& row) -> std::uint64_t { return row.attempt; }},
    {"step", [](const StepRow& row) { return row.step.step; }},
    {"epoch", [](const StepRow& row) { return row.step.epoch; }},
    {"batch_index", [](const StepRow& row) { return row.step.batch_index; }},
    {"real_graphs", [](const StepRow& row) -> std::uint64_t { return row.step.real.graphs; }},
    {"real_nodes", [](const StepRow& row) -> std::uint64_t { return row.step.real.nodes; }},
    {"real_edges", [](const StepRow& row) -> std::uint64_t { return row.step.real.edges; }},
    {"padded_graphs", [](const StepRow& row) -> std::uint64_t { return row.step.padded.graphs; }},
    {"padded_nodes", [](const StepRow& row) -> std::uint64_t { return row.step.padded.nodes; }},
    {"padded_edges", [](const StepRow& row) -> std::uint64_t { return row.step.padded.edges; }},
    {"wait_ns", [](const StepRow& row) { return row.step.wait_ns; }},
    {"copy_ns", [](const StepRow& row) { return row.step.copy_ns; }},
    {"forward_ns", [](const StepRow& row) { return row.step.forward_ns; }},
    {"backward_ns", [](const StepRow& row) { return row.step.backward_ns; }},
    {"optimizer_ns", [](const StepRow& row) { return row.step.optimizer_ns; }},
    {"comm_ns", [](const StepRow& row) { return row.step.comm_ns; }},
    {"total_ns", [](const StepRow& row) { return row.step.total_ns; }},
    {"server_build_ns", [](const StepRow& row) { return row.step.server_build_ns; }},
    {"server_queue_ns", [](const StepRow& row) { return row.step.server_queue_ns; }},
    {"capture_ns", [](const StepRow& row) { return row.step.capture_ns; }},
    {"flags", [](const StepRow& row) -> std::uint64_t { return row.step.flags; }},
};
constexpr char kLoss[] = "loss";

}  // namespace

std::vector<std::string> StepColumns() {
  std::vector<std::string> names;
  for (const RowColumn& column : kColumns) names.emplace_back(column.name);
  names.emplace_back(kLoss);
  return names;
}

std::vector<std::string> StepCells(const StepRow& row) {
  std::vector<std::string> cells;
  for (const RowColumn& column : kColumns) cells.push_back(std::to_string(column.value(row)));
  cells.push_back(FormatExact(row.step.loss));
  return cells;
}

Json StepToJson(const StepRow& row) {
  Json json = Json::object();
  for (const RowColumn& column : kColumns) json[column.name] = column.value(row);
  json[kLoss] = row.step.loss;
  return json;
}

absl::Status EachStepRow(const v1::ListStepsResponse& block, const std::function<void(const StepRow&)>& take) {
  ABSL_ASSIGN_OR_RETURN(const std::vector<wire::StepRecord> steps, wire::FromStepBlock(block.steps()));
  for (const wire::StepRecord& step : steps) take({block.rank(), block.attempt(), step});
  return absl::OkStatus();
}

absl::Status ReadStepBlocks(const v1::ListStepsRequest& request, const GlobalOptions& global,
                            const std::function<absl::Status(const v1::ListStepsResponse&)>& take) {
  return CallService(global,
                     [&](client::ServiceClient& services) -> absl::StatusOr<bool> {
                       ABSL_RETURN_IF_ERROR(services.ListSteps(request, take));
                       return true;
                     })
      .status();
}

}  // namespace packtrain::cli
