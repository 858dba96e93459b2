// What a batching policy is made of. Each policy is one .h and .cc that define one PolicyKind, and one
// line in policy_kind.cc.
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

// A policy with its budget or padding settled for one split: the same for every epoch.
// Immutable; any number of threads may use it.
class BatchPolicy {
 public:
  virtual ~BatchPolicy() = default;

  // The order is cut in chunks of so many graphs, at least 1, which share no batch and which Cut never sees
  // together, so that they can be cut at one time. The same for every epoch.
  virtual std::size_t chunk_graphs() const { return kChunkGraphs; }

  // The batches come in an order drawn for the epoch, unless Order::kNone, in place of the one in which Cut
  // makes them.
  virtual bool shuffles_batches() const { return false; }

  // Cuts a chunk of one epoch's walk into batches. Each graph of `order` comes in exactly one batch, save those
  // that Oversize::kSkip leaves out. A function of its arguments alone.
  virtual BatchList Cut(std::span<const std::uint32_t> order, const GraphSizes& sizes) const = 0;

  // The padded shape of a batch that Cut made.
  virtual Shape PaddedShape(const Shape& real) const = 0;

  // Shapes that were settled before the first batch and belong to the plan of every epoch, taken or not; else
  // none.
  virtual std::span<const Shape> SettledShapes() const { return {}; }

  // True for a batch of one graph that is larger than the budget.
  virtual bool IsOversize(const Shape& real) const = 0;

  // (M, N, E), or none where the policy knows no budget.
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
  // M where the spec gives none.
  std::uint32_t (*default_max_graphs)(std::uint32_t graphs);
  // INVALID_ARGUMENT: an option that the policy takes is out of range. The others are not given.
  absl::Status (*check)(const BatchSpec& spec);
  // The policy's part of CanonicalText: the options that it takes.
  std::string (*canonical_text)(const BatchSpec& spec);
  // For a spec that CheckSpec lets pass.
  absl::StatusOr<std::unique_ptr<const BatchPolicy>> (*create)(const PlanRequest& request);
};

const PolicyKind& KindOf(Policy policy);

// M of a policy that takes graphs in their order, where the spec gives none: G.
inline std::uint32_t SameGraphs(std::uint32_t graphs) { return graphs; }

// M: what the spec gives, else what its policy does.
std::uint32_t MaxGraphs(const BatchSpec& spec);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_POLICY_KIND_H_
