#include "client/cli/plan/local_plan.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/cli/plan/thread_loop.h"
#include "proto/base/content_hash.h"
#include "proto/base/status_macros.h"
#include "proto/wire/batch_spec_convert.h"
#include "server/batching/plan.h"
#include "server/batching/spec_rules.h"

namespace packtrain::cli {
namespace {

constexpr char kSplit[] = "all";

// A request for the list, and what it borrows beside the list.
class ListRequest {
 public:
  ListRequest(const SizeList& sizes, const client::SpecFlags& flags) : split_(sizes.n_node.size()) {
    std::iota(split_.begin(), split_.end(), 0u);
    request_.spec = flags.spec;
    request_.sizes = {.n_node = sizes.n_node, .n_edge = sizes.n_edge, .bandwidth = sizes.bandwidth};
    request_.split = split_;
    request_.epoch = flags.epoch;
    request_.world = {.size = flags.world_size};
    request_.graph_name = std::bind_front(NameOf, std::cref(sizes));
    request_.parallel_for = std::bind_front(RunOnThreads, HardwareThreads());
  }
  ListRequest(const ListRequest&) = delete;
  ListRequest& operator=(const ListRequest&) = delete;

  const batching::PlanRequest& get() const { return request_; }

 private:
  std::vector<std::uint32_t> split_;
  batching::PlanRequest request_;
};

void AddOversizeIds(const SizeList& sizes, const wire::PlanSummary& summary, v1::OversizeSummary& oversize) {
  for (const std::uint32_t graph : summary.oversize_graphs) oversize.add_ids(NameOf(sizes, graph));
}

}  // namespace

absl::Status CheckListSplit(const wire::BatchSpec& spec) {
  if (spec.split.empty() || spec.split == kSplit) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--split ", spec.split, ": a list of sizes has no splits but 'all'"));
}

absl::StatusOr<v1::GetPlanResponse> PlanSizes(const SizeList& sizes, const client::SpecFlags& flags) {
  ABSL_RETURN_IF_ERROR(CheckListSplit(flags.spec));
  const ListRequest request(sizes, flags);
  const auto start = std::chrono::steady_clock::now();
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<const batching::Plan> plan,
                        batching::Plan::Create(request.get()));
  const wire::PlanSummary summary = plan->Summarize();
  v1::GetPlanResponse response = wire::ToMessage(summary, flags.spec, batching::kPlanVersion);
  response.set_plan_seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  response.set_dataset(sizes.path);
  response.set_fingerprint(base::PlanFingerprint(sizes.version, kSplit, batching::CanonicalText(flags.spec)));
  AddOversizeIds(sizes, summary, *response.mutable_oversize());
  return response;
}

absl::StatusOr<std::vector<batching::TunedBudget>> TuneSizes(const SizeList& sizes,
                                                             const client::SpecFlags& flags) {
  ABSL_RETURN_IF_ERROR(CheckListSplit(flags.spec));
  return batching::TuneBudget(ListRequest(sizes, flags).get());
}

absl::StatusOr<std::vector<batching::SupergraphRow>> TabulateSizes(const SizeList& sizes,
                                                                   const client::SpecFlags& flags) {
  ABSL_RETURN_IF_ERROR(CheckListSplit(flags.spec));
  return batching::TabulateSupergraphs(ListRequest(sizes, flags).get(), sizes.bandwidth_as_read);
}

}  // namespace packtrain::cli
