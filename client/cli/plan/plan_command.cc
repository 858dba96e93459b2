// packtrain plan
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "CLI/CLI.hpp"
#include "client/cli/commands.h"
#include "client/cli/plan/local_plan.h"
#include "client/cli/plan/plan_json.h"
#include "client/cli/service_call.h"
#include "client/flags/spec_flags.h"
#include "proto/base/escape_controls.h"
#include "proto/base/flag_checks.h"
#include "proto/base/status_macros.h"
#include "proto/wire/batch_spec_convert.h"

namespace packtrain::cli {
namespace {

constexpr int kShapesShown = 5;
constexpr int kGraphsShown = 10;

struct PlanFlags {
  std::string dataset;
  std::string sizes;
  std::optional<std::uint64_t> batch;
  bool tune = false;
  bool table = false;
  client::SpecFlags spec;
};

std::string ShapeText(const v1::Shape& shape) {
  return FormatCount(shape.graphs()) + " graphs, " + FormatCount(shape.nodes()) + " nodes, " +
         FormatCount(shape.edges()) + " edges";
}

std::string ShapesText(const v1::GetPlanResponse& plan) {
  std::ostringstream text;
  text << "shapes    " << plan.shapes_size() << " distinct\n";
  for (int i = 0; i < plan.shapes_size() && i < kShapesShown; ++i) {
    text << "          " << ShapeText(plan.shapes(i).shape()) << ": " << plan.shapes(i).batches()
         << " batches\n";
  }
  if (plan.shapes_size() > kShapesShown) text << "          ... (--json lists all)\n";
  return text.str();
}

std::string ToText(const client::SpecFlags& flags, const v1::GetPlanResponse& plan) {
  std::ostringstream text;
  text << plan.dataset() << ", " << wire::PolicyText(flags.spec)
       << (flags.spec.pad ? " " + wire::PadText(flags.spec) : "") << ", epoch " << flags.epoch << ", ranks "
       << flags.world_size << '\n'
       << "batches   " << plan.batches() << " in " << plan.steps() << " steps (at least "
       << plan.bound_batches() << (plan.has_budget() ? " by the budget)\n" : " by --graphs)\n") << "graphs    "
       << FormatCount(static_cast<double>(plan.graphs())) << ", a batch " << FormatNumber(plan.mean_graphs())
       << " (" << plan.min_graphs() << " to " << plan.max_graphs() << ")\n"
       << "fill      nodes " << FormatNumber(plan.fill().nodes()) << ", edges "
       << FormatNumber(plan.fill().edges()) << ", graphs " << FormatNumber(plan.fill().graphs()) << '\n';
  if (plan.has_budget()) text << "budget    " << ShapeText(plan.budget()) << '\n';
  text << ShapesText(plan);
  if (flags.world_size > 1) {
    text << "balance   mean load is " << FormatNumber(plan.rank_load_mean_over_max()) << " of the greatest\n";
  }
  if (plan.dropped_graphs() > 0) {
    text << "dropped   " << FormatCount(static_cast<double>(plan.dropped_graphs()))
         << " graphs of the incomplete last step (--drop-last)\n";
  }
  if (plan.skipped_graphs() > 0) {
    text << "skipped   " << FormatCount(static_cast<double>(plan.skipped_graphs())) << " graphs (--skip-above "
         << wire::SkipAboveText(flags.spec) << ")\n";
  }
  if (plan.oversize().count() > 0) {
    text << "oversize  " << plan.oversize().count() << " graphs above the budget, each "
         << (plan.oversize().action() == v1::OVERSIZE_SKIP ? "skipped" : "alone in a batch") << '\n';
  }
  return text.str();
}

std::string ToText(const v1::GetPlannedBatchResponse& batch) {
  std::ostringstream text;
  text << "batch " << batch.index() << " (step " << batch.step() << ", rank " << batch.rank()
       << "): " << batch.source_ids_size() << " graphs, padded to " << ShapeText(batch.padded()) << '\n';
  for (int i = 0; i < batch.source_ids_size() && i < kGraphsShown; ++i) {
    text << "  " << base::EscapeControls(batch.source_ids(i)) << ": " << batch.n_node(i) << " nodes, "
         << batch.n_edge(i) << " edges\n";
  }
  if (batch.source_ids_size() > kGraphsShown) text << "  ... (--json lists all)\n";
  return text.str();
}

// Fills what GetPlanRequest and GetPlannedBatchRequest share.
template <typename Request>
absl::StatusOr<Request> MakeRequest(const PlanFlags& flags) {
  Request request;
  ABSL_ASSIGN_OR_RETURN(*request.mutable_spec(), wire::ToMessage(flags.spec.spec));
  request.set_dataset(flags.dataset);
  request.set_epoch(flags.spec.epoch);
  request.set_world_size(flags.spec.world_size);
  return request;
}

absl::StatusOr<v1::GetPlanResponse> PlanDataset(const PlanFlags& flags, const GlobalOptions& global) {
  ABSL_ASSIGN_OR_RETURN(const v1::GetPlanRequest request, MakeRequest<v1::GetPlanRequest>(flags));
  return Ask<v1::GetPlanResponse>(global, request);
}

absl::StatusOr<ExitCode> ShowBatch(const PlanFlags& flags, const GlobalOptions& global, Output& output) {
  ABSL_ASSIGN_OR_RETURN(v1::GetPlannedBatchRequest request, MakeRequest<v1::GetPlannedBatchRequest>(flags));
  request.set_index(*flags.batch);
  ABSL_ASSIGN_OR_RETURN(const v1::GetPlannedBatchResponse batch,
                        Ask<v1::GetPlannedBatchResponse>(global, request));
  output.Print(MessageToJson(batch, PlanRules()), ToText(batch));
  return ExitCode::kDone;
}

absl::StatusOr<ExitCode> ShowPlan(const PlanFlags& flags, const absl::StatusOr<v1::GetPlanResponse>& plan,
                                  Output& output) {
  ABSL_RETURN_IF_ERROR(plan.status());
  output.Print(MessageToJson(*plan, PlanRules()), ToText(flags.spec, *plan));
  return ExitCode::kDone;
}

absl::StatusOr<SizeList> FetchSizes(const PlanFlags& flags, const GlobalOptions& global) {
  v1::ListGraphSizesRequest request;
  request.set_dataset(flags.dataset);
  request.set_split(flags.spec.spec.split);
  request.set_bandwidths(NeedsBandwidths(flags.spec.spec));
  ABSL_ASSIGN_OR_RETURN(
      v1::ListGraphSizesResponse sizes,
      CallService(global, [&](client::ServiceClient& services) { return services.ListGraphSizes(request); }));
  return SizeList{sizes.dataset(),
                  {sizes.n_node().begin(), sizes.n_node().end()},
                  {sizes.n_edge().begin(), sizes.n_edge().end()},
                  {},
                  {},
                  {sizes.bandwidth().begin(), sizes.bandwidth().end()},
                  {sizes.bandwidth_as_read().begin(), sizes.bandwidth_as_read().end()}};
}

Json ToJson(const batching::TunedBudget& tuned) {
  const wire::PlanSummary& summary = tuned.summary;
  return {
      {"budget",
       {{"graphs", tuned.budget.graphs}, {"nodes", tuned.budget.nodes}, {"edges", tuned.budget.edges}}},
      {"fill", {{"graphs", summary.fill_graphs}, {"nodes", summary.fill_nodes}, {"edges", summary.fill_edges}}},
      {"batches", summary.batches},
      {"graphs_per_batch",
       {{"mean", summary.mean_graphs}, {"min", summary.min_graphs}, {"max", summary.max_graphs}}}};
}

Json ToJson(const std::vector<batching::TunedBudget>& frontier) {
  Json budgets = Json::array();
  for (const batching::TunedBudget& tuned : frontier) budgets.push_back(ToJson(tuned));
  return {{"frontier", budgets}};
}

Table ToTable(const std::vector<batching::TunedBudget>& frontier) {
  Table table{{"--nodes", "--edges", "--max-graphs", "node fill", "edge fill", "batches", "graphs a batch"},
              {}};
  for (const batching::TunedBudget& tuned : frontier) {
    table.rows.push_back({std::to_string(tuned.budget.nodes), std::to_string(tuned.budget.edges),
                          std::to_string(tuned.budget.graphs), FormatNumber(tuned.summary.fill_nodes),
                          FormatNumber(tuned.summary.fill_edges), std::to_string(tuned.summary.batches),
                          FormatNumber(tuned.summary.mean_graphs)});
  }
  return table;
}

const char* WordOf(batching::LimitBy by) {
  switch (by) {
    case batching::LimitBy::kNodes:
      return "nodes";
    case batching::LimitBy::kBandwidth:
      return "bandwidth";
    case batching::LimitBy::kBandwidthAsRead:
      return "bandwidth_as_read";
  }
  std::abort();
}

Json ToJson(const std::vector<batching::SupergraphRow>& rows) {
  Json table = Json::array();
  for (const batching::SupergraphRow& row : rows) {
    table.push_back({{"by", WordOf(row.by)},
                     {"limit", row.limit},
                     {"share", row.share},
                     {"graphs_per_supergraph", row.graphs_per_supergraph}});
  }
  return {{"table", table}};
}

Table ToTable(const std::vector<batching::SupergraphRow>& rows) {
  Table table{{"by", "limit", "share", "graphs a supergraph"}, {}};
  for (const batching::SupergraphRow& row : rows) {
    table.rows.push_back({WordOf(row.by), std::to_string(row.limit), FormatNumber(row.share),
                          FormatNumber(row.graphs_per_supergraph)});
  }
  return table;
}

// Prints what `plan` makes of all sizes, in this process also for a data set of a server, whose threads serve
// streams.
template <typename Result>
absl::StatusOr<ExitCode> PlanAllSizes(const PlanFlags& flags, const GlobalOptions& global, Output& output,
                                      absl::StatusOr<Result> (*plan)(const SizeList& sizes,
                                                                     const client::SpecFlags& flags)) {
  const absl::StatusOr<SizeList> sizes = flags.sizes.empty()
                                             ? FetchSizes(flags, global)
                                             : ReadSizes(flags.sizes, NeedsBandwidths(flags.spec.spec));
  if (!sizes.ok() && flags.sizes.empty()) return sizes.status();
  if (!sizes.ok()) return DataError(output, sizes.status());
  client::SpecFlags spec = flags.spec;
  if (flags.sizes.empty()) spec.spec.split.clear();  // the server has chosen
  ABSL_ASSIGN_OR_RETURN(const Result result, plan(*sizes, spec));
  output.Print(ToJson(result), ToTable(result));
  return ExitCode::kDone;
}

absl::StatusOr<ExitCode> Plan(const PlanFlags& flags, const GlobalOptions& global, Output& output) {
  if (flags.sizes.empty()) return ShowPlan(flags, PlanDataset(flags, global), output);
  const absl::StatusOr<SizeList> sizes = ReadSizes(flags.sizes, NeedsBandwidths(flags.spec.spec));
  if (!sizes.ok()) return DataError(output, sizes.status());
  return ShowPlan(flags, PlanSizes(*sizes, flags.spec), output);
}

}  // namespace

void AddPlan(CLI::App& program, Invocation& invocation) {
  CLI::App* plan =
      AddCommand(program, "plan", "Shows how a policy would batch one epoch",
                 {"packtrain plan --dataset qm9 --policy dynamic --graphs 127",
                  "packtrain plan --dataset qm9 --policy packed --graphs 127 --batch 0",
                  "packtrain plan --dataset qm9 --policy packed --graphs 127 --tune",
                  "packtrain plan --dataset programs --policy supergraph --blocks 64 --block-nodes 128 --table",
                  "packtrain plan --sizes sizes.txt.gz --policy static --pad pow2 --graphs 31"});
  const auto flags = std::make_shared<PlanFlags>();
  CLI::Option* dataset = plan->add_option("--dataset", flags->dataset, "NAME or NAME@VERSION");
  CLI::Option* sizes =
      plan->add_option("--sizes", flags->sizes,
                       "File of lines `n_node n_edge [bandwidth]`, gzip too; the bandwidth is "
                       "read for supergraphs and --skip-above bandwidth:K, further columns are "
                       "passed over; planned here, without a server");
  CLI::Option* batch = plan->add_option("--batch", flags->batch, "Show this batch of the epoch instead, from 0")
                           ->check(base::CountFrom(0))
                           ->needs(dataset)
                           ->excludes(sizes);
  CLI::Option* tune =
      plan->add_flag(
              "--tune", flags->tune,
              "Show instead which budgets of about --graphs graphs fill best; planned here, also for --dataset")
          ->excludes(batch);
  plan->add_flag(
          "--table", flags->table,
          "Show instead how many graphs a supergraph holds, and which share is kept, by limits of nodes and "
          "of bandwidth, the latter before renumbering, too, for --dataset; planned here")
      ->excludes(batch)
      ->excludes(tune);
  dataset->excludes(sizes);
  client::AddSpecFlags(*plan, flags->spec, {.required = true, .epoch = true, .world_size = true});
  OnChosenPrintTable(
      *plan, invocation, [flags](const GlobalOptions& global, Output& output) -> absl::StatusOr<ExitCode> {
        if (global.csv && !flags->tune && !flags->table) return RefuseCsv(output);
        if (flags->dataset.empty() && flags->sizes.empty()) {
          return UsageError(output, "one of --dataset and --sizes is needed (--help shows the usage)");
        }
        if (flags->tune) return PlanAllSizes(*flags, global, output, TuneSizes);
        if (flags->table) return PlanAllSizes(*flags, global, output, TabulateSizes);
        return flags->batch.has_value() ? ShowBatch(*flags, global, output) : Plan(*flags, global, output);
      });
}

}  // namespace packtrain::cli
