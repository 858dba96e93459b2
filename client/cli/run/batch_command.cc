// packtrain run batch
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/message_json.h"
#include "client/cli/run/run_argument.h"
#include "client/cli/run/step_rows.h"
#include "client/cli/service_call.h"
#include "proto/base/flag_checks.h"
#include "proto/base/status_macros.h"
#include "proto/wire/run_words.h"

namespace packtrain::cli {
namespace {

struct BatchFlags {
  std::string run;
  std::uint64_t step = 0;
  std::uint32_t rank = 0;
  std::string data_server;
};

// What a rank stepped on, and what the plan has in its place.
struct SteppedBatch {
  wire::StepRecord record;
  v1::GetPlannedBatchResponse planned;
};

absl::Status NoSuchStep(const v1::Run& run, const BatchFlags& flags) {
  const std::uint32_t ranks = run.description().world_size();
  if (flags.rank >= ranks) {
    return absl::NotFoundError(absl::StrCat("run ", run.run(), " has no rank ", flags.rank,
                                            " (--rank): it has ", ranks, ", counted from 0"));
  }
  return absl::NotFoundError(absl::StrCat("run ", run.run(), " has no record of step ", flags.step,
                                          " (--step) of rank ", flags.rank, " (--rank): it has ", run.steps(),
                                          " steps, and `packtrain run steps` lists them"));
}

absl::StatusOr<wire::StepRecord> ReadRecord(const v1::Run& run, const BatchFlags& flags,
                                            const GlobalOptions& global) {
  v1::ListStepsRequest request;
  request.set_run(run.run());
  request.set_first_step(flags.step);
  request.set_end_step(flags.step + 1);
  std::optional<wire::StepRecord> record;
  ABSL_RETURN_IF_ERROR(ReadStepBlocks(request, global, [&](const v1::ListStepsResponse& block) {
    return EachStepRow(block, [&](const StepRow& row) {
      // An older server sends all steps.
      if (row.rank == flags.rank && row.step.step == flags.step) record = row.step;
    });
  }));
  if (record.has_value()) return *record;
  return NoSuchStep(run, flags);
}

// What such a run stepped on is not what the plan has in its place.
absl::Status CheckServed(const v1::Run& run) {
  if (wire::InputOf(run.description()) != "synthetic") return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "run ", run.run(), " repeated its first batches (--synthetic): the plan does not tell which at a step"));
}

absl::Status CheckFingerprint(const v1::RunDescription& about, const std::string& planned) {
  if (about.plan_fingerprint().empty() || planned == about.plan_fingerprint()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("the run had plan ", about.plan_fingerprint(),
                                                    "; the server of its data (--data-server) plans ",
                                                    about.dataset(), " as ", planned));
}

std::uint64_t Sum(const google::protobuf::RepeatedField<std::uint32_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

// What is planned must be what was trained on, less graphs that were skipped as corrupt.
absl::Status CheckRecord(const v1::RunDescription& about, const SteppedBatch& batch) {
  if (about.on_corrupt() == v1::ON_CORRUPT_SKIP) return absl::OkStatus();
  const std::uint64_t nodes = Sum(batch.planned.n_node()), edges = Sum(batch.planned.n_edge());
  const wire::Shape& real = batch.record.real;
  if (nodes == real.nodes && edges == real.edges) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the plan alone does not tell the graphs of step ", batch.record.step, ": its batch ",
                   batch.record.batch_index, " of epoch ", batch.record.epoch, " has ", nodes, " nodes and ",
                   edges, " edges, and the step was made on ", real.nodes, " nodes and ", real.edges,
                   " edges; that is so where the number of ranks changed within the epoch"));
}

absl::StatusOr<SteppedBatch> PlanBatch(const v1::RunDescription& about, const wire::StepRecord& record,
                                       const GlobalOptions& data) {
  v1::GetPlannedBatchRequest request;
  request.set_dataset(about.dataset());
  *request.mutable_spec() = about.spec();
  request.set_epoch(record.epoch);
  request.set_world_size(about.world_size());
  request.set_index(record.batch_index);
  request.set_without_checksum(true);
  absl::StatusOr<v1::GetPlannedBatchResponse> planned = Ask<v1::GetPlannedBatchResponse>(data, request);
  if (absl::IsNotFound(planned.status())) {
    return absl::NotFoundError(absl::StrCat(planned.status().message(),
                                            ": --data-server names a server that has the run's data set, ",
                                            about.dataset()));
  }
  ABSL_RETURN_IF_ERROR(planned.status());
  SteppedBatch batch{record, *std::move(planned)};
  ABSL_RETURN_IF_ERROR(CheckFingerprint(about, batch.planned.fingerprint()));
  ABSL_RETURN_IF_ERROR(CheckRecord(about, batch));
  return batch;
}

// Share of the padded slots that is real; null where there are none.
Json Fill(std::uint64_t real, std::uint64_t padded) {
  return padded == 0 ? Json() : Json(static_cast<double>(real) / static_cast<double>(padded));
}

Json ToJson(const v1::Run& run, const BatchFlags& flags, const SteppedBatch& batch) {
  const wire::StepRecord& record = batch.record;
  const v1::Shape& padded = batch.planned.padded();
  return {{"run", run.run()},
          {"step", record.step},
          {"rank", flags.rank},
          {"dataset", run.description().dataset()},
          {"epoch", record.epoch},
          {"batch", record.batch_index},
          {"ids", batch.planned.source_ids()},
          {"n_node", batch.planned.n_node()},
          {"n_edge", batch.planned.n_edge()},
          {"shape", MessageToJson(padded, {.fields = {{"Shape.block_nodes", OmitIfAbsent()}}})},
          {"fill",
           {{"graphs", Fill(record.real.graphs, padded.graphs())},
            {"nodes", Fill(record.real.nodes, padded.nodes())},
            {"edges", Fill(record.real.edges, padded.edges())}}},
          {"total_ns", record.total_ns},
          {"loss", record.loss}};
}

Table ToTable(const v1::GetPlannedBatchResponse& planned) {
  Table table{{"id", "n_node", "n_edge"}, {}};
  for (int i = 0; i < planned.source_ids_size(); ++i) {
    table.rows.push_back(
        {planned.source_ids(i), std::to_string(planned.n_node(i)), std::to_string(planned.n_edge(i))});
  }
  return table;
}

std::string ToText(const BatchFlags& flags, const SteppedBatch& batch) {
  const wire::StepRecord& record = batch.record;
  const v1::Shape& padded = batch.planned.padded();
  std::string text = absl::StrCat(
      "step ", record.step, ", rank ", flags.rank, ": batch ", record.batch_index, " of epoch ", record.epoch,
      "; ", record.real.graphs, " of ", padded.graphs(), " graphs, ", record.real.nodes, " of ", padded.nodes(),
      " nodes, ", record.real.edges, " of ", padded.edges(), " edges; ",
      FormatNumber(static_cast<double>(record.total_ns) / 1000), " us, loss ", FormatNumber(record.loss), "\n");
  const auto planned = static_cast<std::uint64_t>(batch.planned.source_ids_size());
  if (record.real.graphs < planned) {
    absl::StrAppend(&text, planned - record.real.graphs, " of the graphs were skipped as corrupt\n");
  }
  return text;
}

absl::StatusOr<ExitCode> ShowBatch(const BatchFlags& flags, const GlobalOptions& global, Output& output) {
  v1::GetRunRequest request;
  request.set_run(flags.run);
  ABSL_ASSIGN_OR_RETURN(const v1::GetRunResponse found,
                        Ask<v1::GetRunResponse>(global, request, client::kLookUp));
  const v1::Run& run = found.run();
  ABSL_RETURN_IF_ERROR(CheckServed(run));
  ABSL_ASSIGN_OR_RETURN(const wire::StepRecord record, ReadRecord(run, flags, global));
  GlobalOptions data = global;
  if (!flags.data_server.empty()) data.server = flags.data_server;
  ABSL_ASSIGN_OR_RETURN(const SteppedBatch batch, PlanBatch(run.description(), record, data));
  output.Print(ToJson(run, flags, batch), ToTable(batch.planned), ToText(flags, batch));
  return ExitCode::kDone;
}

}  // namespace

void AddRunBatch(CLI::App& run, Invocation& invocation) {
  CLI::App* batch =
      AddCommand(run, "batch", "Shows which graphs were in the batch of a step, by their plan",
                 {"packtrain run batch RUN --step 4711", "packtrain run batch RUN --step 0 --rank 1 --csv"});
  const auto flags = std::make_shared<BatchFlags>();
  AddRunArgument(*batch, flags->run);
  batch->add_option("--step", flags->step, "Number of the step, from 0, as `run steps` has it")
      ->required()
      ->check(base::CountFrom(0));
  batch->add_option("--rank", flags->rank, "Rank whose batch it was [0]")->check(base::CountFrom(0));
  batch->add_option("--data-server", flags->data_server,
                    "Address of a server that holds the run's data set [--server]");
  OnChosenPrintTable(*batch, invocation, WithFlags(flags, ShowBatch));
}

}  // namespace packtrain::cli
