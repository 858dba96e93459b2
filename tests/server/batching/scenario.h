// Data sets and specs for property tests, drawn from a seed.
#ifndef PACKTRAIN_TESTS_SERVER_BATCHING_SCENARIO_H_
#define PACKTRAIN_TESTS_SERVER_BATCHING_SCENARIO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "server/batching/plan.h"

namespace packtrain::batching {

// Owns what a PlanRequest borrows.
struct Scenario {
  std::vector<std::uint32_t> n_node;
  std::vector<std::uint32_t> n_edge;
  std::vector<std::uint32_t> split;
  BatchSpec spec;
  std::uint64_t epoch = 0;

  PlanRequest Request(std::uint32_t world_size) const {
    return {spec, {n_node, n_edge}, split, epoch, {world_size}, nullptr};
  }
};

// Everything is drawn: sizes (also adversarial ones), split, policy, pad, limits, order, oversize, epoch.
Scenario DrawScenario(std::uint64_t seed);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_TESTS_SERVER_BATCHING_SCENARIO_H_
