#include "server/batching/window_order.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "server/batching/philox.h"
#include "server/batching/slot_rounding.h"

namespace packtrain::batching {
namespace {

std::uint32_t FloorSqrt(std::uint32_t value) {
  std::uint64_t root = 0;
  for (std::uint64_t bit = 1u << 15; bit > 0; bit /= 2) {
    if ((root + bit) * (root + bit) <= value) root += bit;
  }
  return static_cast<std::uint32_t>(root);
}

}  // namespace

WindowOrder::WindowOrder(std::uint32_t seed, std::uint64_t epoch, std::uint32_t n, std::uint32_t window)
    : seed_(seed), epoch_(epoch), n_(n), window_(window), run_length_(FloorSqrt(window)) {
  if (n == 0) return;
  PhiloxStream stream = EpochStream(seed, epoch, kWindowOrderDomain);
  begin_ = stream.Below(n);
  runs_.resize(DivideUp(n, run_length_));
  std::iota(runs_.begin(), runs_.end(), 0u);
  Shuffle(stream, runs_);
  const auto last = std::find(runs_.begin(), runs_.end(), runs_.size() - 1);
  short_run_begin_ = std::uint64_t{run_length_} * static_cast<std::uint64_t>(last - runs_.begin());
  missing_ = static_cast<std::uint32_t>(std::uint64_t{run_length_} * runs_.size() - n);
}

std::uint32_t WindowOrder::windows() const { return static_cast<std::uint32_t>(DivideUp(n_, window_)); }

std::uint32_t WindowOrder::Unshuffled(std::uint64_t position) const {
  if (position >= short_run_begin_ + run_length_ - missing_) position += missing_;
  const std::uint64_t in_ring =
      std::uint64_t{runs_[position / run_length_]} * run_length_ + position % run_length_;
  return static_cast<std::uint32_t>((begin_ + in_ring) % n_);
}

std::vector<std::uint32_t> WindowOrder::Window(std::uint32_t w) const {
  const std::uint64_t begin = std::uint64_t{w} * window_;
  std::vector<std::uint32_t> graphs(std::min<std::uint64_t>(window_, n_ - begin));
  for (std::size_t i = 0; i < graphs.size(); ++i) graphs[i] = Unshuffled(begin + i);
  Shuffle(EpochStream(seed_, epoch_, kWindowOrderDomain, w + 1), graphs);
  return graphs;
}

std::vector<std::uint32_t> InWindowOrder(std::uint32_t seed, std::uint64_t epoch,
                                         std::span<const std::uint32_t> graphs, std::uint32_t window) {
  const WindowOrder windows(seed, epoch, static_cast<std::uint32_t>(graphs.size()), window);
  std::vector<std::uint32_t> ordered;
  ordered.reserve(graphs.size());
  for (std::uint32_t w = 0; w < windows.windows(); ++w) {
    for (const std::uint32_t at : windows.Window(w)) ordered.push_back(graphs[at]);
  }
  return ordered;
}

}  // namespace packtrain::batching
