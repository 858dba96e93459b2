#include "client/spec_convert.h"

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace packtrain::client {
namespace {

template <typename Enum>
struct Word {
  const char* text;
  Enum value;
};

constexpr Word<v1::Policy> kPolicies[] = {{"static", v1::POLICY_STATIC}, {"dynamic", v1::POLICY_DYNAMIC}};
constexpr Word<v1::Pad> kPads[] = {{"none", v1::PAD_NONE},
                                   {"multiple", v1::PAD_MULTIPLE},
                                   {"pow2", v1::PAD_POW2},
                                   {"constant", v1::PAD_CONSTANT}};
constexpr Word<v1::Order> kOrders[] = {{"full", v1::ORDER_FULL}, {"none", v1::ORDER_NONE}};
constexpr Word<v1::Oversize> kOversizes[] = {
    {"error", v1::OVERSIZE_ERROR}, {"alone", v1::OVERSIZE_ALONE}, {"skip", v1::OVERSIZE_SKIP}};

template <typename Enum, std::size_t N>
std::string KnownWords(const Word<Enum> (&words)[N]) {
  return absl::StrJoin(words, ", ", [](std::string* out, const Word<Enum>& word) { out->append(word.text); });
}

// Sets nothing for an empty word.
template <typename Enum, std::size_t N, typename Setter>
absl::Status ParseWord(const char* flag, const std::string& text, const Word<Enum> (&words)[N], Setter set) {
  if (text.empty()) return absl::OkStatus();
  for (const Word<Enum>& word : words) {
    if (text != word.text) continue;
    set(word.value);
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " \"", text, "\" is not known; known are ", KnownWords(words)));
}

template <typename Enum, std::size_t N>
std::string TextOf(Enum value, const Word<Enum> (&words)[N]) {
  for (const Word<Enum>& word : words) {
    if (word.value == value) return word.text;
  }
  return value == 0 ? "" : absl::StrCat("unknown(", static_cast<int>(value), ")");
}

absl::Status SetWords(const BatchSpec& spec, v1::BatchSpec& message) {
  absl::Status status =
      ParseWord("--policy", spec.policy, kPolicies, [&](v1::Policy value) { message.set_policy(value); });
  status.Update(ParseWord("--pad", spec.pad, kPads, [&](v1::Pad value) { message.set_pad(value); }));
  status.Update(ParseWord("--order", spec.order, kOrders, [&](v1::Order value) { message.set_order(value); }));
  status.Update(ParseWord("--oversize", spec.oversize, kOversizes,
                          [&](v1::Oversize value) { message.set_oversize(value); }));
  return status;
}

}  // namespace

absl::StatusOr<v1::BatchSpec> ToMessage(const BatchSpec& spec) {
  if (spec.policy.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("--policy is missing; known are ", KnownWords(kPolicies)));
  }
  v1::BatchSpec message;
  if (absl::Status status = SetWords(spec, message); !status.ok()) return status;
  message.set_graphs(spec.graphs);
  if (spec.max_graphs) message.set_max_graphs(*spec.max_graphs);
  if (spec.nodes) message.set_nodes(*spec.nodes);
  if (spec.edges) message.set_edges(*spec.edges);
  message.set_seed(spec.seed);
  message.set_split(spec.split);
  message.set_drop_last(spec.drop_last);
  if (spec.budget_sample) message.set_budget_sample(*spec.budget_sample);
  return message;
}

BatchSpec FromMessage(const v1::BatchSpec& message) {
  BatchSpec spec;
  spec.policy = TextOf(message.policy(), kPolicies);
  spec.pad = TextOf(message.pad(), kPads);
  spec.graphs = message.graphs();
  if (message.has_max_graphs()) spec.max_graphs = message.max_graphs();
  if (message.has_nodes()) spec.nodes = message.nodes();
  if (message.has_edges()) spec.edges = message.edges();
  spec.order = TextOf(message.order(), kOrders);
  spec.seed = message.seed();
  spec.split = message.split();
  spec.oversize = TextOf(message.oversize(), kOversizes);
  spec.drop_last = message.drop_last();
  if (message.has_budget_sample()) spec.budget_sample = message.budget_sample();
  return spec;
}

std::string PolicyName(const v1::BatchSpec& message) {
  const std::string policy = TextOf(message.policy(), kPolicies);
  if (message.policy() != v1::POLICY_STATIC) return policy;
  const v1::Pad pad = message.pad() == v1::PAD_UNSPECIFIED ? v1::PAD_MULTIPLE : message.pad();
  return absl::StrCat(policy, "-", TextOf(pad, kPads));
}

}  // namespace packtrain::client
