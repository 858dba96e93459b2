// Answers PlanService.
#ifndef PACKTRAIN_SERVER_SERVING_PLAN_SERVICE_H_
#define PACKTRAIN_SERVER_SERVING_PLAN_SERVICE_H_

#include <cstdint>
#include <memory>

#include "packtrain/v1/batch.grpc.pb.h"
#include "server/batches/batch_builder.h"
#include "server/batches/plan_cache.h"
#include "server/serving/packed_call.h"
#include "server/storage/graph_store.h"

namespace packtrain::serving {

// Calls run on gRPC's threads, many at a time.
class PlanService final : public PackedService<v1::PlanService> {
 public:
  // The first three are borrowed.
  PlanService(CallBounds& bounds, storage::GraphStore& store, batches::PlanCache& plans,
              std::uint64_t max_batch_bytes, const batches::BodyMemory& memory);

  grpc::Status GetPlan(grpc::ServerContext* context, const v1::GetPlanRequest* request,
                       v1::GetPlanResponse* response) override;
  grpc::Status GetPlannedBatch(grpc::ServerContext* context, const v1::GetPlannedBatchRequest* request,
                               v1::GetPlannedBatchResponse* response) override;

 private:
  using Memory = limits::MemoryBudget::Reservation;

  absl::StatusOr<Memory> Reserve(const grpc::ServerContext& context, std::uint64_t bytes) const;
  absl::Status DescribePlan(const v1::GetPlanRequest& request, v1::GetPlanResponse& response);
  absl::Status DescribeBatch(const grpc::ServerContext& context, const v1::GetPlannedBatchRequest& request,
                             v1::GetPlannedBatchResponse& response);
  // Of the body as it is sent.
  absl::StatusOr<std::uint32_t> ChecksumOf(const grpc::ServerContext& context,
                                           const std::shared_ptr<const storage::Dataset>& dataset,
                                           const batching::PlannedBatch& batch,
                                           const batches::EpochPosition& position) const;

  storage::GraphStore& store_;
  batches::PlanCache& plans_;
  const std::uint64_t max_batch_bytes_;
  const batches::BodyMemory memory_;
};

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_PLAN_SERVICE_H_
