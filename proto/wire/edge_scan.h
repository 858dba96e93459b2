// What the checks of a batch ask of one graph's edges.
#ifndef PACKTRAIN_PROTO_WIRE_EDGE_SCAN_H_
#define PACKTRAIN_PROTO_WIRE_EDGE_SCAN_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

namespace packtrain::wire {

template <typename T>
struct EdgeFacts {
  T largest = 0;       // endpoint, of either end
  bool ascend = true;  // by receiver, then sender; equal edges ascend
};

// Looks at many edges at once, in vectors that every x86-64 has, and at no edge with a branch of its own.
// T is an unsigned integer.
template <typename T>
class EdgeScan {
 public:
  // `receivers` and `senders` are of one length.
  static EdgeFacts<T> Run(std::span<const T> receivers, std::span<const T> senders) {
    if (receivers.empty()) return {};
    const EdgeFacts<T> first{std::max(receivers[0], senders[0]), true};
    const std::size_t pairs = receivers.size() - 1;
    if (pairs < kLanes) return OneByOne(receivers, senders, first);
    EdgeScan scan;
    for (std::size_t k = 0; k + kLanes < pairs; k += kLanes) scan.AddPairs(&receivers[k], &senders[k]);
    // Up to the last pair; some of these may have been looked at before.
    scan.AddPairs(&receivers[pairs - kLanes], &senders[pairs - kLanes]);
    return scan.Sum(first);
  }

 private:
  static constexpr std::size_t kLanes = 16 / sizeof(T);
  typedef T Lanes __attribute__((vector_size(16)));

  static Lanes Load(const T* from) {
    Lanes lanes;
    std::memcpy(&lanes, from, sizeof(lanes));
    return lanes;
  }

  // Edges k and k + 1 for k = 0 .. kLanes - 1: kLanes + 1 edges.
  void AddPairs(const T* receivers, const T* senders) {
    const Lanes receiver = Load(receivers), next_receiver = Load(receivers + 1);
    const Lanes sender = Load(senders), next_sender = Load(senders + 1);
    descents_ |= (Lanes)(receiver > next_receiver) |
                 ((Lanes)(receiver == next_receiver) & (Lanes)(sender > next_sender));
    largest_ = next_receiver > largest_ ? next_receiver : largest_;
    largest_ = next_sender > largest_ ? next_sender : largest_;
  }

  EdgeFacts<T> Sum(EdgeFacts<T> facts) const {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      facts.largest = std::max<T>(facts.largest, largest_[lane]);
      facts.ascend = facts.ascend && descents_[lane] == 0;
    }
    return facts;
  }

  static EdgeFacts<T> OneByOne(std::span<const T> receivers, std::span<const T> senders, EdgeFacts<T> facts) {
    for (std::size_t k = 1; k < receivers.size(); ++k) {
      facts.largest = std::max({facts.largest, receivers[k], senders[k]});
      facts.ascend &=
          receivers[k - 1] < receivers[k] || (receivers[k - 1] == receivers[k] && senders[k - 1] <= senders[k]);
    }
    return facts;
  }

  Lanes descents_ = {};
  Lanes largest_ = {};
};

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_EDGE_SCAN_H_
