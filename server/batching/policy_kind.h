// The interface of a batching policy. Each policy is one .h and .cc that define one PolicyKind, and one
// line in policy_kind.cc:
//
//   constexpr PolicyKind kDynamicPolicy = {.name = "dynamic",
//                                          .takes = {.budget = true},
//                                          .default_max_graphs = SameGraphs,
//                                          .check = CheckBudget,
//                                          .canonical_text = BudgetText,
//                                          .create = Create};  // a BatchPolicy for one split
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
#include "server/batching/batch_list.h"
#include "server/batching/batch_spec.h"
#include "server/batching/oversize.h"
#include "server/batching/plan_request.h"
#include "server/batching/shape.h"
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

  // The padded shape of a batch that Cut made.
  virtual Shape PaddedShape(const Shape& real) const = 0;

  // Shapes that were chosen before the first batch and belong to the plan of every epoch, whether or not a
  // batch takes them. Empty if there are none.
  virtual std::span<const Shape> SettledShapes() const { return {}; }

  // Whether this is a batch of one graph that is larger than the budget.
  virtual bool IsOversize(const Shape& real) const = 0;

  // (M, N, E), or nullopt if the policy has no budget.
  virtual std::optional<Shape> budget() const = 0;

  // The graphs of the split that are larger than the budget.
  virtual const OversizeGraphs& oversize() const = 0;

  // The fewest batches that graphs of these sizes, none oversize, can need under these limits.
  virtual std::uint64_t BoundBatches(const SizeTotals& totals) const = 0;
};

// The options of a spec that not every policy takes.
struct PolicyOptions {
  bool pad = false;
  bool budget = false;  // max_graphs, nodes, edges, budget_sample, oversize; batches have the shape (M+1, N, E)
  bool lookahead = false;
};

struct PolicyKind {
  const char* name;  // as --policy spells it
  PolicyOptions takes;
  // Default of M.
  std::uint32_t (*default_max_graphs)(std::uint32_t graphs);
  // INVALID_ARGUMENT: an option that the policy takes is out of range. Called only for a spec without the other
  // options.
  absl::Status (*check)(const BatchSpec& spec);
  // The policy's part of CanonicalText: the options that it takes.
  std::string (*canonical_text)(const BatchSpec& spec);
  // For a spec that passes CheckSpec.
  absl::StatusOr<std::unique_ptr<const BatchPolicy>> (*create)(const PlanRequest& request);
};

const PolicyKind& KindOf(Policy policy);

// Default of M for a policy that takes graphs in their order: G.
inline std::uint32_t SameGraphs(std::uint32_t graphs) { return graphs; }

// M as the spec gives it, else the default of its policy.
std::uint32_t MaxGraphs(const BatchSpec& spec);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_POLICY_KIND_H_
