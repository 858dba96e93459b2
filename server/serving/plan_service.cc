#include "server/serving/plan_service.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/status_convert.h"
#include "proto/base/status_macros.h"
#include "proto/wire/batch_spec_convert.h"
#include "server/batches/batch_builder.h"
#include "server/batches/resolved_spec.h"
#include "server/batches/source_ids.h"
#include "server/batching/spec_rules.h"

namespace packtrain::serving {
namespace {

// Its id and sizes, decoded and packed; ids are short.
constexpr std::uint64_t kAnswerBytesOfAGraph = 320;

absl::Status AddOversizeIds(const storage::Dataset& dataset, const wire::PlanSummary& summary,
                            v1::OversizeSummary& oversize) {
  ABSL_ASSIGN_OR_RETURN(std::vector<std::string> ids, batches::ReadSourceIds(dataset, summary.oversize_graphs));
  for (std::string& id : ids) oversize.add_ids(std::move(id));
  return absl::OkStatus();
}

absl::Status AddGraphs(const storage::Dataset& dataset, std::span<const std::uint32_t> graphs,
                       v1::GetPlannedBatchResponse& response) {
  ABSL_ASSIGN_OR_RETURN(std::vector<std::string> ids, batches::ReadSourceIds(dataset, graphs));
  for (std::string& id : ids) response.add_source_ids(std::move(id));
  for (const std::uint32_t graph : graphs) {
    response.add_n_node(dataset.n_node()[graph]);
    response.add_n_edge(dataset.n_edge()[graph]);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PlanService::Memory> PlanService::Reserve(const grpc::ServerContext& context,
                                                         std::uint64_t bytes) const {
  return memory_.budget->Reserve(limits::MemoryPart::kPlannedBatches, bytes,
                                 {limits::MemoryBudget::StatedWait(), WhileWanted(context)});
}

PlanService::PlanService(CallBounds& bounds, storage::GraphStore& store, batches::PlanCache& plans,
                         std::uint64_t max_batch_bytes, const batches::BodyMemory& memory)
    : PackedService(bounds), store_(store), plans_(plans), max_batch_bytes_(max_batch_bytes), memory_(memory) {
  Bound(&PlanService::GetPlan, {.part = limits::MemoryPart::kListings, .work_bytes = 4 << 20});
  Bound(&PlanService::GetPlannedBatch, {.part = limits::MemoryPart::kPlannedBatches});
}

grpc::Status PlanService::GetPlan(grpc::ServerContext*, const v1::GetPlanRequest* request,
                                  v1::GetPlanResponse* response) {
  return base::ToGrpcStatus(DescribePlan(*request, *response));
}

grpc::Status PlanService::GetPlannedBatch(grpc::ServerContext* context,
                                          const v1::GetPlannedBatchRequest* request,
                                          v1::GetPlannedBatchResponse* response) {
  return base::ToGrpcStatus(DescribeBatch(*context, *request, *response));
}

absl::Status PlanService::DescribePlan(const v1::GetPlanRequest& request, v1::GetPlanResponse& response) {
  ABSL_ASSIGN_OR_RETURN(batches::ResolvedSpec resolved,
                        batches::ResolveSpec(store_, request.dataset(), request.spec()));
  ABSL_ASSIGN_OR_RETURN(
      std::shared_ptr<const batches::EpochPlan> plan,
      plans_.Get(resolved, request.epoch(), {.size = wire::WorldSizeOrDefault(request.world_size())}));
  const wire::PlanSummary summary = plan->plan->Summarize();
  response = wire::ToMessage(summary, resolved.spec, batching::kPlanVersion);
  response.set_dataset(resolved.reference());
  response.set_fingerprint(resolved.fingerprint);
  response.set_plan_seconds(plan->plan_seconds);
  return AddOversizeIds(*resolved.dataset, summary, *response.mutable_oversize());
}

absl::Status PlanService::DescribeBatch(const grpc::ServerContext& context,
                                        const v1::GetPlannedBatchRequest& request,
                                        v1::GetPlannedBatchResponse& response) {
  ABSL_ASSIGN_OR_RETURN(batches::ResolvedSpec resolved,
                        batches::ResolveSpec(store_, request.dataset(), request.spec()));
  const std::uint32_t world_size = wire::WorldSizeOrDefault(request.world_size());
  ABSL_ASSIGN_OR_RETURN(std::shared_ptr<const batches::EpochPlan> plan,
                        plans_.Get(resolved, request.epoch(), {.size = world_size}));
  ABSL_ASSIGN_OR_RETURN(const batching::PlannedBatch batch, plan->plan->BatchAt(request.index()));
  const std::uint64_t answer_bytes = batch.graphs.size() * kAnswerBytesOfAGraph;
  ABSL_ASSIGN_OR_RETURN(const Memory answer_memory, Reserve(context, answer_bytes));
  if (!request.without_checksum()) {
    const batches::EpochPosition position{.epoch = request.epoch(),
                                          .epoch_steps = plan->plan->steps(),
                                          .world_size = world_size,
                                          .fingerprint = resolved.fingerprint};
    ABSL_ASSIGN_OR_RETURN(const std::uint32_t checksum, ChecksumOf(context, resolved.dataset, batch, position));
    response.set_body_crc32c(checksum);
  }
  response.set_index(batch.index);
  response.set_step(batch.step);
  response.set_rank(batch.rank);
  *response.mutable_padded() = wire::ToMessage(batch.padded);
  response.set_fingerprint(resolved.fingerprint);
  return AddGraphs(*resolved.dataset, batch.graphs, response);
}

absl::StatusOr<std::uint32_t> PlanService::ChecksumOf(const grpc::ServerContext& context,
                                                      const std::shared_ptr<const storage::Dataset>& dataset,
                                                      const batching::PlannedBatch& batch,
                                                      const batches::EpochPosition& position) const {
  ABSL_ASSIGN_OR_RETURN(batches::BatchBuilder builder,
                        batches::BatchBuilder::Create(dataset, max_batch_bytes_, memory_));
  ABSL_ASSIGN_OR_RETURN(Memory body_memory, Reserve(context, builder.ReservedBytes(batch)));
  ABSL_ASSIGN_OR_RETURN(const batches::BuiltBatch built,
                        builder.Build(batch, position, std::move(body_memory)));
  return built.header.body_crc32c;
}

}  // namespace packtrain::serving
