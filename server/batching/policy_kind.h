// The interface of a batching policy. Each policy is one .h and .cc that define one PolicyKind, and one line in
// policy_kind.cc; KindOf finds the policy of a spec:
//
//   ABSL_RETURN_IF_ERROR(KindOf(spec).check(spec));
//   ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<const BatchPolicy> policy, KindOf(spec).create(request));
//   const BatchList batches = policy->Cut(order, sizes);
#ifndef PACKTRAIN_SERVER_BATCHING_POLICY_KIND_H_
#define PACKTRAIN_SERVER_BATCHING_POLICY_KIND_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/wire/batch_spec.h"
#include "proto/wire/shape.h"
#include "server/batching/batch_list.h"
#include "server/batching/oversize.h"
#include "server/batching/plan_request.h"
#include "server/batching/size_totals.h"

namespace packtrain::batching {

inline constexpr std::size_t kChunkGraphs = std::size_t{1} << 20;

// A policy whose budget or padding has been chosen for one split. It is the same for every epoch.
// Immutable; any number of threads may use it.
class BatchPolicy {
 public:
  virtual ~BatchPolicy() = default;

  // Number of graphs, at least 1, in each chunk of the order. No batch spans two chunks, and Cut sees one chunk
  // at a time, so that chunks can be cut in parallel. The same for every epoch.
  virtual std::size_t chunk_graphs() const { return kChunkGraphs; }

  // Whether the batches of an epoch come in an order drawn for it, unless Order::kNone, instead of the one in
  // which Cut makes them.
  virtual bool shuffles_batches() const { return false; }

  // Cuts a chunk of one epoch's order into batches. Each graph of `order` is in exactly one batch, except those
  // that Oversize::kSkip skips. The result depends on the arguments only.
  virtual BatchList Cut(std::span<const std::uint32_t> order, const GraphSizes& sizes) const = 0;

  // The padded shape of a batch that Cut made. `max_edges`: the most edges of a batch of its epoch that is not
  // oversize, however the epoch is dealt out.
  virtual wire::Shape PaddedShape(const CutBatch& batch, std::uint32_t max_edges) const = 0;

  // Shapes that were chosen before the first batch and belong to the plan of every epoch, whether or not a
  // batch takes them. Empty if there are none.
  virtual std::span<const wire::Shape> SettledShapes() const { return {}; }

  // Whether this is a batch of one graph that is larger than the budget.
  virtual bool IsOversize(const CutBatch& batch) const = 0;

  // (M, N, E), or nullopt if the policy has no budget. `max_edges` as for PaddedShape.
  virtual std::optional<wire::Shape> budget(std::uint32_t max_edges) const = 0;

  // The graphs of the split that are larger than the budget.
  virtual const OversizeGraphs& oversize() const = 0;

  // The fewest batches that graphs of these sizes, none oversize, can need under these limits.
  virtual std::uint64_t BoundBatches(const SizeTotals& totals) const = 0;
};

// An option that not every policy takes.
struct PolicyOption {
  const char* flag;
  bool (*is_given)(const wire::BatchSpec& spec);
  const char* why_not;  // the reason by which a policy that does not take it refuses it
};

struct PolicyKind {
  wire::Policy policy;
  // Whether it takes BudgetOptions (budgeted_policy.h). Its batches then have the shape (M+1, N, E), and
  // balance moves them whole.
  bool has_budget = false;
  // Whether G decides anything; if not, the spec may leave it out.
  bool reads_graphs = true;
  // The options that only this policy takes.
  std::span<const PolicyOption> own_options = {};
  // The BudgetOptions that a policy with a budget does not take.
  std::span<const PolicyOption> refused_options = {};
  // Default of M.
  std::uint32_t (*default_max_graphs)(const wire::BatchSpec& spec);
  // INVALID_ARGUMENT: an option that the policy takes is out of range. Called only for a spec without the
  // options of other policies.
  absl::Status (*check)(const wire::BatchSpec& spec);
  // The policy's part of CanonicalText: the options that it takes.
  std::string (*canonical_text)(const wire::BatchSpec& spec);
  // For a spec that passes CheckSpec. The policy may keep the sizes, and nothing else that the request borrows.
  absl::StatusOr<std::unique_ptr<const BatchPolicy>> (*create)(const PlanRequest& request);
};

// For a spec that has a policy.
const PolicyKind& KindOf(const wire::BatchSpec& spec);

// INVALID_ARGUMENT: the spec gives an option that its policy does not take. For a spec that has a policy.
absl::Status RefuseOptionsOfOthers(const wire::BatchSpec& spec);

// Default of M for a policy that takes graphs in their order: G.
inline std::uint32_t SameGraphs(const wire::BatchSpec& spec) { return spec.graphs; }

// M as the spec gives it, else the default of its policy.
std::uint32_t MaxGraphs(const wire::BatchSpec& spec);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_POLICY_KIND_H_
