// Plans of a few graphs, for tests that state their batches.
#ifndef PACKTRAIN_TESTS_SERVER_BATCHING_PLAN_FIXTURE_H_
#define PACKTRAIN_TESTS_SERVER_BATCHING_PLAN_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "server/batching/plan.h"

namespace packtrain::batching {

using Sizes = std::vector<std::uint32_t>;

// A data set of graphs with these sizes; its split is all of it.
class PlanTest : public ::testing::Test {
 protected:
  void SetSizes(Sizes n_node, Sizes n_edge) {
    n_node_ = std::move(n_node);
    n_edge_ = std::move(n_edge);
    split_.resize(n_node_.size());
    std::iota(split_.begin(), split_.end(), 0u);
  }

  PlanRequest Request(const wire::BatchSpec& spec, std::uint32_t world_size = 1) const {
    return {spec, {n_node_, n_edge_}, split_, 0, {world_size}, nullptr};
  }

  std::unique_ptr<const Plan> Create(const wire::BatchSpec& spec, std::uint32_t world_size = 1) const {
    absl::StatusOr<std::unique_ptr<const Plan>> plan = Plan::Create(Request(spec, world_size));
    EXPECT_TRUE(plan.ok()) << plan.status();
    return *std::move(plan);
  }

  void ExpectRefused(const PlanRequest& request, absl::StatusCode code, const std::string& message) const {
    const absl::Status status = Plan::Create(request).status();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(message));
  }
  void ExpectInvalid(const wire::BatchSpec& spec, const std::string& message) const {
    ExpectRefused(Request(spec), absl::StatusCode::kInvalidArgument, message);
  }
  void ExpectImpossible(const wire::BatchSpec& spec, const std::string& message) const {
    ExpectRefused(Request(spec), absl::StatusCode::kFailedPrecondition, message);
  }

  Sizes n_node_ = {3, 4, 5, 6, 7};
  Sizes n_edge_ = {30, 40, 50, 60, 70};
  Sizes split_ = {0, 1, 2, 3, 4};
};

// In the order of the data set.
inline wire::BatchSpec Static(std::uint32_t graphs, std::optional<wire::Pad> pad = std::nullopt) {
  return {.policy = wire::Policy::kStatic, .pad = pad, .graphs = graphs, .order = wire::Order::kNone};
}

inline wire::BatchSpec Ladder(std::uint32_t graphs, std::uint32_t rungs) {
  wire::BatchSpec spec = Static(graphs, wire::Pad::kLadder);
  spec.ladder_rungs = rungs;
  return spec;
}

inline wire::BatchSpec Dynamic(std::uint32_t graphs, std::optional<std::uint32_t> nodes = std::nullopt,
                               std::optional<std::uint32_t> edges = std::nullopt) {
  return {.policy = wire::Policy::kDynamic,
          .graphs = graphs,
          .nodes = nodes,
          .edges = edges,
          .order = wire::Order::kNone};
}

inline std::vector<std::uint32_t> GraphsAt(const Plan& plan, std::uint64_t index) {
  const std::span<const std::uint32_t> graphs = plan.BatchAt(index)->graphs;
  return {graphs.begin(), graphs.end()};
}

}  // namespace packtrain::batching

#endif  // PACKTRAIN_TESTS_SERVER_BATCHING_PLAN_FIXTURE_H_
