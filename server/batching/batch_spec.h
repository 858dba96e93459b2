// How an epoch is cut into batches.
#ifndef PACKTRAIN_SERVER_BATCHING_BATCH_SPEC_H_
#define PACKTRAIN_SERVER_BATCHING_BATCH_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace packtrain::batching {

// Raised whenever the same spec would give another plan; part of every fingerprint.
inline constexpr std::uint32_t kPlanVersion = 2;

// Numbered as in packtrain/v1/batch.proto, where 0 is a field that is absent.
enum class Policy : std::uint8_t { kStatic = 1, kDynamic, kPacked, kTuple };
enum class Pad : std::uint8_t { kNone = 1, kMultiple, kPow2, kConstant, kLadder };
enum class Order : std::uint8_t { kFull = 1, kNone, kWindow };
enum class Oversize : std::uint8_t { kError = 1, kAlone, kSkip };
enum class Balance : std::uint8_t { kNone = 1, kCost };

inline constexpr std::uint32_t kMaxCostCoefficient = 1'000'000;

// What a batch costs its rank: `graph` for each graph, `node` for each node, `edge` for each edge.
struct CostCoefficients {
  std::uint32_t graph = 0;
  std::uint32_t node = 1;
  std::uint32_t edge = 1;
};

// See BatchSpec in packtrain/v1/batch.proto for the meaning of each field.
struct BatchSpec {
  Policy policy = Policy::kStatic;
  std::optional<Pad> pad = std::nullopt;              // static only; default kMultiple
  std::optional<std::uint32_t> rungs = std::nullopt;  // kLadder only
  std::uint32_t graphs = 0;
  std::optional<std::uint32_t> max_graphs = std::nullopt;
  std::optional<std::uint32_t> nodes = std::nullopt;
  std::optional<std::uint32_t> edges = std::nullopt;
  Order order = Order::kFull;
  std::optional<std::uint32_t> window = std::nullopt;  // kWindow only
  std::uint32_t seed = 0;
  Oversize oversize = Oversize::kError;
  bool drop_last = false;
  std::optional<std::uint32_t> budget_sample = std::nullopt;
  Balance balance = Balance::kNone;
  std::optional<CostCoefficients> cost = std::nullopt;    // kCost only
  std::optional<std::uint32_t> lookahead = std::nullopt;  // packed only; default 64
};

// INVALID_ARGUMENT: the spec contradicts itself, or has a value out of range. Knows nothing of a data set.
absl::Status CheckSpec(const BatchSpec& spec);

// The spec in one line with every default filled in, equal for equal plans: the part of a fingerprint that
// batching decides. Holds plan_version; holds neither epoch nor world size. For a spec that passes CheckSpec;
// options that the policy does not use do not appear in it.
std::string CanonicalText(const BatchSpec& spec);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_BATCH_SPEC_H_
