#include "server/batching/static_policy.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/batching/padding.h"
#include "server/batching/size_prefetch.h"
#include "server/batching/slot_rounding.h"

namespace packtrain::batching {
namespace {

class StaticPolicy final : public BatchPolicy {
 public:
  StaticPolicy(std::uint32_t graphs, Padding padding) : graphs_(graphs), padding_(std::move(padding)) {}

  // Whole batches, so that chunks change none.
  std::size_t chunk_graphs() const override {
    return std::max<std::size_t>(kChunkGraphs / graphs_, 1) * graphs_;
  }

  BatchList Cut(std::span<const std::uint32_t> order, const GraphSizes& sizes) const override {
    BatchList batches;
    batches.Reserve(order.size());
    for (std::size_t position = 0; position < order.size(); ++position) {
      PrefetchSizes(order, position, sizes);
      const std::uint32_t graph = order[position];
      const auto [n_node, n_edge] = SizeOf(graph, sizes);
      batches.Add(graph, n_node, n_edge);
      if (batches.open().graphs == graphs_) batches.Close();
    }
    batches.Close();
    return batches;
  }

  wire::Shape PaddedShape(const CutBatch& batch, std::uint32_t /*max_edges*/) const override {
    return padding_.PaddedShape(batch.real);
  }
  bool IsOversize(const CutBatch&) const override { return false; }
  std::span<const wire::Shape> SettledShapes() const override { return padding_.settled(); }
  std::optional<wire::Shape> budget(std::uint32_t /*max_edges*/) const override { return std::nullopt; }
  const OversizeGraphs& oversize() const override { return no_oversize_; }

  std::uint64_t BoundBatches(const SizeTotals& totals) const override {
    return DivideUp(totals.graphs, graphs_);
  }

 private:
  const std::uint32_t graphs_;
  const Padding padding_;
  const OversizeGraphs no_oversize_;
};

constexpr PolicyOption kOwnOptions[] = {
    {"--pad", [](const wire::BatchSpec& spec) { return spec.pad || spec.ladder_rungs; },
     "its shape is the budget"}};

std::string SlotCostsText(const wire::BatchSpec& spec) {
  if (spec.pad != wire::Pad::kLadder) return "";
  const SlotCosts costs = SlotCostsOf(spec);
  return absl::StrCat(" slot_costs=", costs.node, ",", costs.edge);
}

std::string Text(const wire::BatchSpec& spec) {
  return absl::StrCat("pad=", PadTextOrDefault(spec), SlotCostsText(spec));
}

absl::StatusOr<std::unique_ptr<const BatchPolicy>> Create(const PlanRequest& request) {
  ABSL_ASSIGN_OR_RETURN(Padding padding, Padding::Create(request));
  return std::make_unique<StaticPolicy>(request.spec.graphs, std::move(padding));
}

}  // namespace

constexpr PolicyKind kStaticPolicy = {.policy = wire::Policy::kStatic,
                                      .own_options = kOwnOptions,
                                      .default_max_graphs = SameGraphs,
                                      .check = CheckPad,
                                      .canonical_text = Text,
                                      .create = Create};

}  // namespace packtrain::batching
