// A shuffled order of an epoch whose windows can be computed independently.
#ifndef PACKTRAIN_SERVER_BATCHING_WINDOW_ORDER_H_
#define PACKTRAIN_SERVER_BATCHING_WINDOW_ORDER_H_

#include <cstdint>
#include <span>
#include <vector>

namespace packtrain::batching {

// A permutation of 0 .. n-1 in windows of K positions, pinned by a golden file:
// 1. 0 .. n-1, taken as a ring that begins at a drawn place, is cut into runs of b = floor(sqrt(K))
//    neighbours; the last run may be shorter.
// 2. The runs are put into a drawn order, end to end.
// 3. Each K positions of that, a window, are shuffled; the last window may be shorter.
// So a window holds about sqrt(K) runs from anywhere, and reading it touches as many places of the data set.
// Every graph is equally likely at every position. K = 1 and K >= n give a uniform permutation; in between,
// graphs of one run come within two windows of each other.
// Memory: 4 bytes for each run. A window is computed on its own, in time linear in K.
// Drawn from the EpochStreams of kWindowOrderDomain: substream 0 for steps 1 and 2, w + 1 for window w.
// Immutable; any number of threads may use it.
class WindowOrder {
 public:
  // `window` = K >= 1.
  WindowOrder(std::uint32_t seed, std::uint64_t epoch, std::uint32_t n, std::uint32_t window);

  // ceil(n / K).
  std::uint32_t windows() const;

  // Positions w*K .. min(n, (w+1)*K) - 1 of the order; w < windows().
  std::vector<std::uint32_t> Window(std::uint32_t w) const;

 private:
  // What stands at a position before windows are shuffled.
  std::uint32_t Unshuffled(std::uint64_t position) const;

  std::uint32_t seed_;
  std::uint64_t epoch_;
  std::uint32_t n_;
  std::uint32_t window_;
  std::uint32_t run_length_;
  std::uint32_t begin_ = 0;          // of the ring
  std::vector<std::uint32_t> runs_;  // in their order
  std::uint64_t short_run_begin_ = 0;
  std::uint32_t missing_ = 0;  // what the last run lacks of run_length_
};

// All of `graphs` in such an order: position k gets the graph that stood at the k-th number.
std::vector<std::uint32_t> InWindowOrder(std::uint32_t seed, std::uint64_t epoch,
                                         std::span<const std::uint32_t> graphs, std::uint32_t window);

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_WINDOW_ORDER_H_
