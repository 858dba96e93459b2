#include "server/batching/packed_policy.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/batching/budgeted_policy.h"
#include "server/batching/lookahead_packer.h"

namespace packtrain::batching {
namespace {

class PackedPolicy final : public BudgetedPolicy {
 public:
  PackedPolicy(SettledBudget settled, const PackingRules& rules)
      : BudgetedPolicy(std::move(settled)), rules_(rules) {}

  BatchList Cut(std::span<const std::uint32_t> order, const GraphSizes& sizes) const override {
    return PackInOnePass(rules_, order, sizes, action());
  }

 private:
  const PackingRules rules_;
};

constexpr PolicyOption kOwnOptions[] = {{"--lookahead",
                                         [](const wire::BatchSpec& spec) { return spec.lookahead.has_value(); },
                                         "packed alone looks ahead"}};

std::uint32_t LookaheadOf(const wire::BatchSpec& spec) { return spec.lookahead.value_or(kDefaultLookahead); }

absl::Status Check(const wire::BatchSpec& spec) {
  const std::uint32_t lookahead = LookaheadOf(spec);
  if (lookahead < 1 || lookahead > wire::kMaxLookahead) {
    return absl::InvalidArgumentError(
        absl::StrCat("--lookahead ", lookahead, " is out of range: 1 to ", wire::kMaxLookahead));
  }
  return CheckBudget(spec);
}

std::string Text(const wire::BatchSpec& spec) {
  return absl::StrCat(BudgetText(spec), " lookahead=", LookaheadOf(spec));
}

absl::StatusOr<std::unique_ptr<const BatchPolicy>> Create(const PlanRequest& request) {
  ABSL_ASSIGN_OR_RETURN(SettledBudget settled, SettleBudget(request));
  const PackingRules rules = RulesFor(settled.limits, LookaheadOf(request.spec), request.sizes, request.split);
  return std::make_unique<PackedPolicy>(std::move(settled), rules);
}

}  // namespace

constexpr PolicyKind kPackedPolicy = {.policy = wire::Policy::kPacked,
                                      .has_budget = true,
                                      .own_options = kOwnOptions,
                                      .default_max_graphs = RoomForMoreGraphs,
                                      .check = Check,
                                      .canonical_text = Text,
                                      .create = Create};

}  // namespace packtrain::batching
