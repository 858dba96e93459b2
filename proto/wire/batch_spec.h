// How an epoch is cut into batches. Flags, client, planner, server and run records all use this one form of a
// batch spec; batch_spec_convert.h turns it into its message and back.
//
//   wire::BatchSpec spec = {.policy = wire::Policy::kStatic, .graphs = 127, .split = "train"};
//   spec.pad = wire::Pad::kLadder;
//   spec.ladder_rungs = 8;
//   wire::PadText(spec);          // "ladder:8", as --pad takes it
//   wire::OptionTexts(spec)[2];   // {"--graphs", "127"}
//
// Plain C++. A new option is a member, a row of OptionTexts, and two lines of batch_spec_convert.cc.
#ifndef PACKTRAIN_PROTO_WIRE_BATCH_SPEC_H_
#define PACKTRAIN_PROTO_WIRE_BATCH_SPEC_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/wire/words.h"

namespace packtrain::wire {

// Numbered as in packtrain/v1/batch.proto, where 0 is a field that is absent; batch_spec_convert_test.cc holds
// the two together.
enum class Policy { kStatic = 1, kDynamic, kPacked, kTuple, kSupergraph };
enum class Pad { kNone = 1, kMultiple, kPow2, kConstant, kLadder };
enum class Order { kFull = 1, kNone, kWindow };
enum class Oversize { kError = 1, kAlone, kSkip };
enum class SkipAbove { kNodes = 1, kBandwidth };
enum class Balance { kNone = 1, kCost };

// Most real graphs of a batch. Keeps every product of a graph count and a 32-bit size within 64 bits.
inline constexpr std::uint32_t kMaxBatchGraphs = 1u << 24;
inline constexpr std::uint32_t kMaxLookahead = 4096;
inline constexpr std::uint32_t kMaxCostCoefficient = 1'000'000;
inline constexpr NumberRange kLadderRungs = {1, 64};
inline constexpr NumberRange kOrderWindow = {1, std::numeric_limits<std::uint32_t>::max()};
inline constexpr NumberRange kSkipAboveLimit = {1, std::numeric_limits<std::uint32_t>::max()};

inline constexpr Word<Policy> kPolicyWords[] = {{"static", Policy::kStatic},
                                                {"dynamic", Policy::kDynamic},
                                                {"packed", Policy::kPacked},
                                                {"tuple", Policy::kTuple},
                                                {"supergraph", Policy::kSupergraph}};
inline constexpr Word<Pad> kPadWords[] = {{"none", Pad::kNone},
                                          {"multiple", Pad::kMultiple},
                                          {"pow2", Pad::kPow2},
                                          {"constant", Pad::kConstant},
                                          {"ladder", Pad::kLadder, kLadderRungs}};
inline constexpr Word<Order> kOrderWords[] = {
    {"full", Order::kFull}, {"none", Order::kNone}, {"window", Order::kWindow, kOrderWindow}};
inline constexpr Word<Oversize> kOversizeWords[] = {
    {"error", Oversize::kError}, {"alone", Oversize::kAlone}, {"skip", Oversize::kSkip}};
inline constexpr Word<SkipAbove> kSkipAboveWords[] = {{"nodes", SkipAbove::kNodes, kSkipAboveLimit},
                                                      {"bandwidth", SkipAbove::kBandwidth, kSkipAboveLimit}};
inline constexpr Word<Balance> kBalanceWords[] = {{"none", Balance::kNone}, {"cost", Balance::kCost}};

// What a batch costs its rank: `graph` for each graph, `node` for each node, `edge` for each edge.
struct CostCoefficients {
  std::uint32_t graph = 0;
  std::uint32_t node = 1;
  std::uint32_t edge = 1;
  friend bool operator==(const CostCoefficients&, const CostCoefficients&) = default;
};

// Members are named as the fields of BatchSpec in packtrain/v1/batch.proto, which gives the meaning of each.
struct BatchSpec {
  std::optional<Policy> policy = std::nullopt;               // required
  std::optional<Pad> pad = std::nullopt;                     // static only; absent: kMultiple
  std::optional<std::uint32_t> ladder_rungs = std::nullopt;  // of kLadder
  std::uint32_t graphs = 0;                                  // G; required, but by supergraph
  std::optional<std::uint32_t> max_graphs = std::nullopt;    // M
  std::optional<std::uint32_t> nodes = std::nullopt;         // N
  std::optional<std::uint32_t> edges = std::nullopt;         // E
  Order order = Order::kFull;
  std::optional<std::uint32_t> order_window = std::nullopt;  // of kWindow
  std::uint32_t seed = 0;
  std::string split = {};  // empty: "train" where there is one, else "all"
  Oversize oversize = Oversize::kError;
  bool drop_last = false;
  std::optional<std::uint32_t> budget_sample = std::nullopt;
  Balance balance = Balance::kNone;
  std::optional<CostCoefficients> cost = std::nullopt;      // of kCost and kLadder
  std::optional<std::uint32_t> lookahead = std::nullopt;    // packed only
  std::optional<std::uint32_t> blocks = std::nullopt;       // K; supergraph only, required there
  std::optional<std::uint32_t> block_nodes = std::nullopt;  // S; likewise
  std::optional<SkipAbove> skip_above = std::nullopt;
  std::optional<std::uint32_t> skip_above_limit = std::nullopt;  // of skip_above
  friend bool operator==(const BatchSpec&, const BatchSpec&) = default;
};

// INVALID_ARGUMENT names the policies: the spec has none.
absl::Status CheckPolicyGiven(const BatchSpec& spec);

// As --policy, --pad, --order and --skip-above take them: "packed", "ladder:8", "window:4096", "nodes:512".
// Empty where there is none.
std::string PolicyText(const BatchSpec& spec);
std::string PadText(const BatchSpec& spec);
std::string OrderText(const BatchSpec& spec);
std::string SkipAboveText(const BatchSpec& spec);

// One option of a spec, as text.
struct OptionText {
  const char* flag;
  std::string value;  // as the flag takes it, or "yes" and "no"; empty: it is left to whoever plans
};

// Every option, in the order of the members.
std::vector<OptionText> OptionTexts(const BatchSpec& spec);

// The options that decide how large the batches of a spec are, for messages: "--graphs and --pad".
const char* SizeFlagsOf(const BatchSpec& spec);

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_BATCH_SPEC_H_
