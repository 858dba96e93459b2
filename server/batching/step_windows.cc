#include "server/batching/step_windows.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "server/batching/philox.h"
#include "server/batching/slot_rounding.h"

namespace packtrain::batching {
namespace {

class StepWindows {
 public:
  StepWindows(std::span<const std::uint64_t> costs, EpochSeed seed)
      : costs_(costs), seed_(seed), order_(costs.size()) {
    std::iota(order_.begin(), order_.end(), 0u);
  }

  // Makes the windows that begin in a stretch, which ends at batch `end`. Stretches come in their order.
  void AddStretch(const RankAssignment::Stretch& stretch, std::uint64_t end);

  std::vector<std::uint32_t> Take() && { return std::move(order_); }

 private:
  // Batches [begin, begin + steps * ranks).
  void MakeWindow(std::uint64_t begin, std::uint64_t steps, std::uint64_t ranks);
  void SortByCost(std::uint64_t begin, std::uint64_t end);
  std::vector<std::uint32_t> ShuffledSteps(std::uint64_t steps);

  const std::span<const std::uint64_t> costs_;
  const EpochSeed seed_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> sorted_;  // batches of a window
  std::uint64_t made_ = 0;             // no window ends behind this batch
  std::uint32_t windows_ = 0;
};

void StepWindows::AddStretch(const RankAssignment::Stretch& stretch, std::uint64_t end) {
  const std::uint64_t ranks = stretch.world_size;
  if (ranks == 1) return;
  const std::uint64_t inside = made_ - std::min(made_, stretch.first_index);
  std::uint64_t begin = stretch.first_index + DivideUp(inside, ranks) * ranks;
  while (begin < end) {
    const std::uint64_t steps = std::min(kWindowSteps, (costs_.size() - begin) / ranks);
    if (steps == 0) return;
    MakeWindow(begin, steps, ranks);
    begin += steps * ranks;
    made_ = begin;
  }
}

void StepWindows::MakeWindow(std::uint64_t begin, std::uint64_t steps, std::uint64_t ranks) {
  SortByCost(begin, begin + steps * ranks);
  const std::vector<std::uint32_t> shuffled = ShuffledSteps(steps);
  std::uint64_t place = begin;
  for (std::uint64_t step = 0; step < steps; ++step) {
    const std::span<const std::uint32_t> group = std::span(sorted_).subspan(shuffled[step] * ranks, ranks);
    for (std::uint64_t rank = 0; rank < ranks; ++rank) order_[place++] = group[(rank + step) % ranks];
  }
}

void StepWindows::SortByCost(std::uint64_t begin, std::uint64_t end) {
  sorted_.resize(end - begin);
  std::iota(sorted_.begin(), sorted_.end(), static_cast<std::uint32_t>(begin));
  std::sort(sorted_.begin(), sorted_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return costs_[a] != costs_[b] ? costs_[a] > costs_[b] : a < b;
  });
}

std::vector<std::uint32_t> StepWindows::ShuffledSteps(std::uint64_t steps) {
  std::vector<std::uint32_t> shuffled(steps);
  std::iota(shuffled.begin(), shuffled.end(), 0u);
  Shuffle(EpochStream(seed_.seed, seed_.epoch, kStepWindowDomain + windows_++), shuffled);
  return shuffled;
}

}  // namespace

std::vector<std::uint32_t> OrderByWindows(std::span<const std::uint64_t> costs,
                                          std::span<const RankAssignment::Stretch> stretches, EpochSeed seed) {
  StepWindows windows(costs, seed);
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const std::uint64_t end = i + 1 < stretches.size() ? stretches[i + 1].first_index : costs.size();
    windows.AddStretch(stretches[i], std::min<std::uint64_t>(end, costs.size()));
  }
  return std::move(windows).Take();
}

}  // namespace packtrain::batching
