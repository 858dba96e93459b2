#include "server/batching/sliced_request.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace packtrain::batching {
namespace {

// The number that is limited, for each graph there are sizes of.
absl::StatusOr<std::span<const std::uint32_t>> MeasureOf(const PlanRequest& request) {
  if (request.spec.skip_above == wire::SkipAbove::kNodes) return request.sizes.n_node;
  ABSL_RETURN_IF_ERROR(
      CheckBandwidths(absl::StrCat("--skip-above ", wire::SkipAboveText(request.spec)), request));
  return request.sizes.bandwidth;
}

absl::Status RefuseEmptySlice(const PlanRequest& request, std::span<const std::uint32_t> of_graph) {
  const auto measure_of = [&](std::uint32_t graph) { return of_graph[graph]; };
  const std::uint32_t min = measure_of(*std::ranges::min_element(request.split, {}, measure_of));
  return absl::FailedPreconditionError(
      absl::StrCat("--skip-above ", wire::SkipAboveText(request.spec), " would leave no graph of ",
                   request.split.size(), ": ", wire::WordOf(*request.spec.skip_above, wire::kSkipAboveWords),
                   ":", min, " is the smallest limit that keeps one"));
}

}  // namespace

absl::StatusOr<SlicedRequest> SlicedRequest::Create(const PlanRequest& request) {
  SlicedRequest sliced(request);
  if (!request.spec.skip_above) return sliced;
  ABSL_ASSIGN_OR_RETURN(const std::span<const std::uint32_t> of_graph, MeasureOf(request));
  const std::uint32_t limit = *request.spec.skip_above_limit;
  const auto is_kept = [&](std::uint32_t graph) { return of_graph[graph] <= limit; };
  sliced.kept_.reserve(static_cast<std::size_t>(std::ranges::count_if(request.split, is_kept)));
  std::ranges::copy_if(request.split, std::back_inserter(sliced.kept_), is_kept);
  if (sliced.kept_.empty()) return RefuseEmptySlice(request, of_graph);
  sliced.skipped_graphs_ = request.split.size() - sliced.kept_.size();
  sliced.request_.split = sliced.kept_;
  sliced.request_.spec.skip_above = std::nullopt;
  sliced.request_.spec.skip_above_limit = std::nullopt;
  return sliced;
}

}  // namespace packtrain::batching
