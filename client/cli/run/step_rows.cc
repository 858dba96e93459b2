#include "client/cli/run/step_rows.h"

#include <concepts>

#include "client/cli/service_call.h"
#include "proto/base/status_macros.h"
#include "proto/wire/step_convert.h"

namespace packtrain::cli {
namespace {

std::string Cell(std::integral auto value) { return std::to_string(value); }
std::string Cell(double value) { return FormatExact(value); }

}  // namespace

std::vector<std::string> StepColumns() {
  std::vector<std::string> names = {"rank", "attempt"};
  wire::ForEachStepColumn([&names](const auto& column) { names.emplace_back(column.name); });
  return names;
}

std::vector<std::string> StepCells(const StepRow& row) {
  std::vector<std::string> cells = {Cell(row.rank), Cell(row.attempt)};
  wire::ForEachStepColumn([&](const auto& column) { cells.push_back(Cell(column.Of(row.step))); });
  return cells;
}

Json StepToJson(const StepRow& row) {
  Json json = {{"rank", row.rank}, {"attempt", row.attempt}};
  wire::ForEachStepColumn([&](const auto& column) { json[std::string(column.name)] = column.Of(row.step); });
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
