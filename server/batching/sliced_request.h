// A slice of a split: the graphs that BatchSpec::skip_above leaves in.
#ifndef PACKTRAIN_SERVER_BATCHING_SLICED_REQUEST_H_
#define PACKTRAIN_SERVER_BATCHING_SLICED_REQUEST_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "server/batching/plan_request.h"

namespace packtrain::batching {

// What is planned for a request whose spec has a skip_above: the same request without it, for a split of the
// graphs within its limit. Without one it is the request itself. Borrows what the request does.
class SlicedRequest {
 public:
  // For a request that passes CheckSplit and a spec that passes CheckSpec. FAILED_PRECONDITION: no graph is
  // left, or the limit is one of bandwidths, and a graph has none.
  static absl::StatusOr<SlicedRequest> Create(const PlanRequest& request);

  SlicedRequest(SlicedRequest&&) = default;
  SlicedRequest(const SlicedRequest&) = delete;
  SlicedRequest& operator=(const SlicedRequest&) = delete;

  const PlanRequest& get() const { return request_; }
  // Graphs of the split that are left out.
  std::uint64_t skipped_graphs() const { return skipped_graphs_; }

 private:
  explicit SlicedRequest(const PlanRequest& request) : request_(request) {}

  std::vector<std::uint32_t> kept_;  // the split of request_, where graphs are left out
  PlanRequest request_;
  std::uint64_t skipped_graphs_ = 0;
};

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_SLICED_REQUEST_H_
