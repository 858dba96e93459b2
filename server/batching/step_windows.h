// Groups whole batches into steps of batches that cost about the same.
#ifndef PACKTRAIN_SERVER_BATCHING_STEP_WINDOWS_H_
#define PACKTRAIN_SERVER_BATCHING_STEP_WINDOWS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "server/batching/rank_assignment.h"

namespace packtrain::batching {

inline constexpr std::uint64_t kWindowSteps = 64;

// The key of the shuffles of one epoch.
struct EpochSeed {
  std::uint32_t seed = 0;
  std::uint64_t epoch = 0;
};

// The order in which batches of these costs are dealt out: place k gets batch OrderByWindows(..)[k].
//
// A window is the next kWindowSteps * R batches, where R ranks share the steps; the epoch's last one is as many
// steps as it can fill. Its batches are sorted by cost in descending order (ties: the earlier one), neighbours
// make a step, the steps are shuffled (keyed by seed, epoch and the number of windows before), and step t of
// the window starts with the t-th batch of its group, so that no rank always gets the longest. Batches that
// cannot fill a step keep their places at the epoch's end, so that costs have no influence on which batches
// drop_last drops. A single rank has nothing to balance: its batches keep their places and make no window.
//
// Where a stretch ends inside a window, the window stays as it is, for the ranks that follow: batches that were
// not delivered keep the order that they had. The next window begins with the first step of those ranks that
// holds none of them.
std::vector<std::uint32_t> OrderByWindows(std::span<const std::uint64_t> costs,
                                          std::span<const RankAssignment::Stretch> stretches, EpochSeed seed);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_STEP_WINDOWS_H_
