#include "client/internal/spec_convert.h"

#include <cstddef>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/flags/counted_word.h"
#include "proto/base/status_macros.h"
#include "proto/wire/run_words.h"

namespace packtrain::client {
namespace {

using wire::Word;

constexpr Word<v1::Order> kOrders[] = {{"full", v1::ORDER_FULL}, {"none", v1::ORDER_NONE}};
constexpr Word<v1::Balance> kBalances[] = {{"none", v1::BALANCE_NONE}, {"cost", v1::BALANCE_COST}};

template <typename Enum, std::size_t N>
std::string KnownWords(const Word<Enum> (&words)[N]) {
  return absl::StrJoin(words, ", ", [](std::string* out, const Word<Enum>& word) { out->append(word.text); });
}

// Sets nothing for an empty word. `counted` describes what is known besides `words`.
template <typename Enum, std::size_t N, typename Setter>
absl::Status ParseWord(const char* flag, const std::string& text, const Word<Enum> (&words)[N], Setter set,
                       const std::string& counted = "") {
  if (text.empty()) return absl::OkStatus();
  for (const Word<Enum>& word : words) {
    if (text != word.text) continue;
    set(word.value);
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " \"", text, "\" is not known; known are ", KnownWords(words), counted));
}

absl::Status SetPad(const std::string& text, v1::BatchSpec& message) {
  if (const std::optional<std::uint32_t> rungs = CountIn(text, kLadderPad)) {
    message.set_pad(v1::PAD_LADDER);
    message.set_ladder_rungs(*rungs);
    return absl::OkStatus();
  }
  return ParseWord(
      "--pad", text, wire::kPadWords, [&](v1::Pad value) { message.set_pad(value); },
      " and " + Describe(kLadderPad));
}

absl::Status SetOrder(const std::string& text, v1::BatchSpec& message) {
  if (const std::optional<std::uint32_t> window = CountIn(text, kWindowOrder)) {
    message.set_order(v1::ORDER_WINDOW);
    message.set_order_window(*window);
    return absl::OkStatus();
  }
  return ParseWord(
      "--order", text, kOrders, [&](v1::Order value) { message.set_order(value); },
      " and " + Describe(kWindowOrder));
}

std::string OrderText(const v1::BatchSpec& message) {
  if (message.order() == v1::ORDER_WINDOW) return Spell(kWindowOrder, message.order_window());
  return wire::WordOf(message.order(), kOrders);
}

absl::Status SetWords(const BatchSpec& spec, v1::BatchSpec& message) {
  absl::Status status = ParseWord("--policy", spec.policy, wire::kPolicyWords,
                                  [&](v1::Policy value) { message.set_policy(value); });
  status.Update(SetPad(spec.pad, message));
  status.Update(SetOrder(spec.order, message));
  status.Update(ParseWord("--oversize", spec.oversize, wire::kOversizeWords,
                          [&](v1::Oversize value) { message.set_oversize(value); }));
  status.Update(
      ParseWord("--balance", spec.balance, kBalances, [&](v1::Balance value) { message.set_balance(value); }));
  return status;
}

void SetCost(const CostCoefficients& cost, v1::CostCoefficients& message) {
  message.set_graph(cost.graph);
  message.set_node(cost.node);
  message.set_edge(cost.edge);
}

}  // namespace

absl::StatusOr<v1::BatchSpec> ToMessage(const BatchSpec& spec) {
  if (spec.policy.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--policy is missing; known are ", KnownWords(wire::kPolicyWords)));
  }
  v1::BatchSpec message;
  ABSL_RETURN_IF_ERROR(SetWords(spec, message));
  message.set_graphs(spec.graphs);
  if (spec.max_graphs) message.set_max_graphs(*spec.max_graphs);
  if (spec.nodes) message.set_nodes(*spec.nodes);
  if (spec.edges) message.set_edges(*spec.edges);
  message.set_seed(spec.seed);
  message.set_split(spec.split);
  message.set_drop_last(spec.drop_last);
  if (spec.budget_sample) message.set_budget_sample(*spec.budget_sample);
  if (spec.cost) SetCost(*spec.cost, *message.mutable_cost());
  if (spec.lookahead) message.set_lookahead(*spec.lookahead);
  return message;
}

BatchSpec FromMessage(const v1::BatchSpec& message) {
  BatchSpec spec;
  spec.policy = wire::WordOf(message.policy(), wire::kPolicyWords);
  spec.pad = wire::PadName(message);
  spec.graphs = message.graphs();
  if (message.has_max_graphs()) spec.max_graphs = message.max_graphs();
  if (message.has_nodes()) spec.nodes = message.nodes();
  if (message.has_edges()) spec.edges = message.edges();
  spec.order = OrderText(message);
  spec.seed = message.seed();
  spec.split = message.split();
  spec.oversize = wire::WordOf(message.oversize(), wire::kOversizeWords);
  spec.drop_last = message.drop_last();
  if (message.has_budget_sample()) spec.budget_sample = message.budget_sample();
  spec.balance = wire::WordOf(message.balance(), kBalances);
  const v1::CostCoefficients& cost = message.cost();
  if (message.has_cost()) spec.cost = CostCoefficients{cost.graph(), cost.node(), cost.edge()};
  if (message.has_lookahead()) spec.lookahead = message.lookahead();
  return spec;
}

const char* SizeFlagsOf(const v1::BatchSpec& message) {
  return message.policy() == v1::POLICY_STATIC ? "--graphs and --pad" : "--graphs, --nodes and --edges";
}

}  // namespace packtrain::client
