#include "server/serving/plan_service.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/wire/status_convert.h"
#include "server/serving/batch_builder.h"
#include "server/serving/batch_source.h"
#include "server/serving/source_ids.h"
#include "server/serving/spec_convert.h"

namespace packtrain::serving {
namespace {

void SetSummary(const batching::PlanSummary& summary, v1::GetPlanResponse& response) {
  response.set_batches(summary.batches);
  response.set_steps(summary.steps);
  response.set_graphs(summary.graphs);
  if (summary.budget.has_value()) *response.mutable_budget() = ToProto(*summary.budget);
  response.mutable_fill()->set_graphs(summary.fill_graphs);
  response.mutable_fill()->set_nodes(summary.fill_nodes);
  response.mutable_fill()->set_edges(summary.fill_edges);
  for (const batching::ShapeCount& count : summary.shapes) {
    v1::ShapeCount& shape = *response.add_shapes();
    *shape.mutable_shape() = ToProto(count.shape);
    shape.set_batches(count.batches);
  }
  response.set_mean_graphs(summary.mean_graphs);
  response.set_min_graphs(summary.min_graphs);
  response.set_max_graphs(summary.max_graphs);
  response.set_rank_load_mean_over_max(summary.rank_load_mean_over_max);
  response.set_bound_batches(summary.bound_batches);
}

absl::Status SetOversize(const BatchSource& source, const batching::PlanSummary& summary,
                         v1::OversizeSummary& oversize) {
  oversize.set_action(ToProto(source.spec.oversize));
  oversize.set_count(summary.oversize);
  oversize.set_truncated(summary.oversize > summary.oversize_graphs.size());
  absl::StatusOr<std::vector<std::string>> ids = ReadSourceIds(*source.dataset, summary.oversize_graphs);
  if (!ids.ok()) return ids.status();
  for (std::string& id : *ids) oversize.add_ids(std::move(id));
  return absl::OkStatus();
}

}  // namespace

PlanService::PlanService(storage::GraphStore& store, PlanCache& plans, std::uint64_t max_batch_bytes,
                         std::shared_ptr<MemoryMeter> memory)
    : store_(store), plans_(plans), max_batch_bytes_(max_batch_bytes), memory_(std::move(memory)) {}

grpc::Status PlanService::GetPlan(grpc::ServerContext*, const v1::GetPlanRequest* request,
                                  v1::GetPlanResponse* response) {
  return wire::ToGrpcStatus(DescribePlan(*request, *response));
}

grpc::Status PlanService::GetPlannedBatch(grpc::ServerContext*, const v1::GetPlannedBatchRequest* request,
                                          v1::GetPlannedBatchResponse* response) {
  return wire::ToGrpcStatus(DescribeBatch(*request, *response));
}

absl::Status PlanService::DescribePlan(const v1::GetPlanRequest& request, v1::GetPlanResponse& response) {
  absl::StatusOr<BatchSource> source = ResolveBatchSource(store_, request.dataset(), request.spec());
  if (!source.ok()) return source.status();
  absl::StatusOr<std::shared_ptr<const EpochPlan>> plan =
      plans_.Get(*source, request.epoch(), {.size = WorldSizeOrDefault(request.world_size())});
  if (!plan.ok()) return plan.status();
  const batching::PlanSummary summary = (*plan)->plan->Summarize();
  response.set_dataset(source->reference());
  response.set_fingerprint(source->fingerprint);
  response.set_plan_version(batching::kPlanVersion);
  response.set_plan_seconds((*plan)->plan_seconds);
  SetSummary(summary, response);
  return SetOversize(*source, summary, *response.mutable_oversize());
}

absl::Status PlanService::DescribeBatch(const v1::GetPlannedBatchRequest& request,
                                        v1::GetPlannedBatchResponse& response) {
  absl::StatusOr<BatchSource> source = ResolveBatchSource(store_, request.dataset(), request.spec());
  if (!source.ok()) return source.status();
  const std::uint32_t world_size = WorldSizeOrDefault(request.world_size());
  absl::StatusOr<std::shared_ptr<const EpochPlan>> plan =
      plans_.Get(*source, request.epoch(), {.size = world_size});
  if (!plan.ok()) return plan.status();
  absl::StatusOr<batching::PlannedBatch> batch = (*plan)->plan->BatchAt(request.index());
  if (!batch.ok()) return batch.status();

  absl::StatusOr<BatchBuilder> builder = BatchBuilder::Create(source->dataset, max_batch_bytes_, memory_);
  if (!builder.ok()) return builder.status();
  absl::StatusOr<BuiltBatch> built = builder->Build(*batch, {.epoch = request.epoch(),
                                                             .epoch_steps = (*plan)->plan->steps(),
                                                             .world_size = world_size,
                                                             .fingerprint = source->fingerprint});
  if (!built.ok()) return built.status();
  absl::StatusOr<std::vector<std::string>> ids = ReadSourceIds(*source->dataset, batch->graphs);
  if (!ids.ok()) return ids.status();

  response.set_index(batch->index);
  response.set_step(batch->step);
  response.set_rank(batch->rank);
  for (std::string& id : *ids) response.add_source_ids(std::move(id));
  for (std::uint32_t graph : batch->graphs) {
    response.add_n_node(source->dataset->n_node()[graph]);
    response.add_n_edge(source->dataset->n_edge()[graph]);
  }
  *response.mutable_padded() = ToProto(batch->padded);
  response.set_body_crc32c(built->header.body_crc32c);
  response.set_fingerprint(source->fingerprint);
  return absl::OkStatus();
}

}  // namespace packtrain::serving
