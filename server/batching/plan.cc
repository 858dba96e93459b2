#include "server/batching/plan.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/batching/batch_list.h"
#include "server/batching/chunked_cut.h"
#include "server/batching/epoch_order.h"
#include "server/batching/epoch_summary.h"
#include "server/batching/policy_kind.h"
#include "server/batching/rank_assignment.h"
#include "server/batching/rank_balance.h"
#include "server/batching/size_prefetch.h"
#include "server/batching/sliced_request.h"
#include "server/batching/spec_rules.h"
#include "server/batching/split_order.h"

namespace packtrain::batching {
namespace {

// An epoch cut into batches: all of a plan that does not depend on the world. Immutable.
struct EpochBatches {
  std::unique_ptr<const BatchPolicy> policy;
  BatchList list;
  std::uint32_t max_edges = 0;  // of a batch that is not oversize
  std::optional<RankBalance> balance;
  bool drop_last = false;
  std::uint64_t skipped_graphs = 0;  // of the split, by skip_above
};

bool HasOneRank(const RankAssignment::Stretch& stretch) { return stretch.world_size == 1; }

// The batches in the order in which `ranks` deals them out. One rank alone has nothing to balance.
std::shared_ptr<const BatchList> BatchesFor(const std::shared_ptr<const EpochBatches>& batches,
                                            const RankAssignment& ranks) {
  if (!batches->balance || std::ranges::all_of(ranks.stretches(), HasOneRank)) return {batches, &batches->list};
  return std::make_shared<BatchList>(batches->balance->Arrange(batches->list, ranks));
}

// An epoch as it is dealt out to a world.
class DealtPlan final : public Plan {
 public:
  // Codes as RankAssignment::Create.
  static absl::StatusOr<std::unique_ptr<const Plan>> Deal(std::shared_ptr<const EpochBatches> batches,
                                                          const wire::World& world);
  DealtPlan(std::shared_ptr<const EpochBatches> batches, RankAssignment ranks)
      : batches_(std::move(batches)), ranks_(std::move(ranks)), list_(BatchesFor(batches_, ranks_)) {}

  absl::StatusOr<std::unique_ptr<const Plan>> DealtTo(const wire::World& world) const override {
    return Deal(batches_, world);
  }
  std::uint64_t steps() const override { return ranks_.steps(); }
  std::uint64_t FirstOfStep(std::uint64_t step) const override { return ranks_.FirstOfStep(step); }
  absl::StatusOr<PlannedBatch> BatchAt(std::uint64_t index) const override;
  wire::PlanSummary Summarize() const override;
  std::uint64_t memory_bytes() const override;

 private:
  const BatchPolicy& policy() const { return *batches_->policy; }
  // Batches with graphs.
  std::uint64_t size() const { return std::min<std::uint64_t>(list_->size(), ranks_.slots()); }
  wire::Shape Padded(std::uint64_t batch) const {
    return policy().PaddedShape(list_->At(batch), batches_->max_edges);
  }

  const std::shared_ptr<const EpochBatches> batches_;
  const RankAssignment ranks_;
  const std::shared_ptr<const BatchList> list_;  // those of batches_, or its own
};

absl::StatusOr<std::unique_ptr<const Plan>> DealtPlan::Deal(std::shared_ptr<const EpochBatches> batches,
                                                            const wire::World& world) {
  ABSL_ASSIGN_OR_RETURN(RankAssignment ranks,
                        RankAssignment::Create(batches->list.size(), world, batches->drop_last));
  return std::make_unique<DealtPlan>(std::move(batches), std::move(ranks));
}

wire::PlanSummary DealtPlan::Summarize() const {
  wire::PlanSummary summary = SummarizeEpoch(*list_, ranks_, policy(), batches_->max_edges);
  summary.skipped_graphs = batches_->skipped_graphs;
  return summary;
}

std::uint64_t DealtPlan::memory_bytes() const {
  const std::uint64_t shared = sizeof(EpochBatches) + batches_->list.memory_bytes();
  return list_.get() == &batches_->list ? shared : shared + list_->memory_bytes();
}

absl::StatusOr<PlannedBatch> DealtPlan::BatchAt(std::uint64_t index) const {
  if (index >= ranks_.slots()) {
    return absl::OutOfRangeError(
        absl::StrCat("batch ", index, " is past the epoch's end; it has ", ranks_.slots(), " batches"));
  }
  PlannedBatch batch;
  batch.index = index;
  const RankAssignment::Place place = ranks_.PlaceOf(index);
  batch.step = place.step;
  batch.rank = place.rank;
  batch.empty = index >= size();
  if (batch.empty) {
    batch.padded = Padded(ranks_.FirstOfStep(batch.step));
    return batch;
  }
  const CutBatch cut = list_->At(index);
  batch.graphs = cut.graphs;
  batch.real = cut.real;
  batch.padded = Padded(index);
  batch.oversize = policy().IsOversize(cut);
  return batch;
}

absl::Status CheckRequest(const PlanRequest& request) {
  ABSL_RETURN_IF_ERROR(CheckSplit(request));
  return CheckSpec(request.spec);
}

// What cutting stands on. Of the first three none needs another.
struct Groundwork {
  absl::StatusOr<std::unique_ptr<const BatchPolicy>> policy;
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> words;
  std::uint64_t skipped_graphs = 0;
};

// Splits of fewer graphs are done before another thread would have begun.
constexpr std::size_t kFewGraphs = std::size_t{1} << 16;

absl::StatusOr<Groundwork> LayGroundwork(const PlanRequest& whole) {
  ABSL_ASSIGN_OR_RETURN(const SlicedRequest sliced, SlicedRequest::Create(whole));
  const PlanRequest& request = sliced.get();
  Groundwork laid;
  laid.skipped_graphs = sliced.skipped_graphs();
  const std::function<void()> tasks[] = {
      [&] { laid.order = OrderSplit(request.spec, request.epoch, request.split); },
      [&] { laid.policy = KindOf(request.spec).create(request); },
      [&] { laid.words = MakeSizeWords(request.sizes, request.split.size()); },
  };
  const ParallelFor& parallel_for = request.split.size() < kFewGraphs ? RunInTurn : request.parallel_for;
  parallel_for(std::size(tasks), [&](std::size_t task) { tasks[task](); });
  return laid;
}

BatchList CutEpoch(const BatchPolicy& policy, std::vector<std::uint32_t> order, const GraphSizes& sizes,
                   const PlanRequest& request) {
  BatchList list = CutInChunks(policy, std::move(order), sizes, policy.chunk_graphs(), request.parallel_for);
  if (!policy.shuffles_batches() || request.spec.order == wire::Order::kNone) return list;
  std::vector<std::uint32_t> batches(list.size());
  std::iota(batches.begin(), batches.end(), 0u);
  ShuffleBatchesForEpoch(request.spec.seed, request.epoch, batches);
  return list.InOrder(batches);
}

std::uint32_t MaxEdges(const BatchPolicy& policy, const BatchList& list) {
  std::uint32_t max = 0;
  for (std::size_t batch = 0; batch < list.size(); ++batch) {
    const CutBatch cut = list.At(batch);
    if (!policy.IsOversize(cut)) max = std::max(max, cut.real.edges);
  }
  return max;
}

}  // namespace

absl::StatusOr<std::unique_ptr<const Plan>> Plan::Create(const PlanRequest& request) {
  ABSL_RETURN_IF_ERROR(CheckRequest(request));
  ABSL_ASSIGN_OR_RETURN(Groundwork groundwork, LayGroundwork(request));
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<const BatchPolicy> policy, std::move(groundwork.policy));
  GraphSizes sizes = request.sizes;
  sizes.words = groundwork.words;
  auto batches = std::make_shared<EpochBatches>();
  batches->list = CutEpoch(*policy, std::move(groundwork.order), sizes, request);
  batches->max_edges = MaxEdges(*policy, batches->list);
  if (request.spec.balance == wire::Balance::kCost) {
    batches->balance.emplace(request, KindOf(request.spec).has_budget);
  }
  batches->policy = std::move(policy);
  batches->drop_last = request.spec.drop_last;
  batches->skipped_graphs = groundwork.skipped_graphs;
  return DealtPlan::Deal(std::move(batches), request.world);
}

}  // namespace packtrain::batching
