// Fast checks of the edges of one graph.
#ifndef PACKTRAIN_PROTO_WIRE_EDGE_SCAN_H_
#define PACKTRAIN_PROTO_WIRE_EDGE_SCAN_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace packtrain::wire {

template <typename T>
struct EdgeFacts {
  T largest = 0;       // endpoint, of either end
  bool ascend = true;  // by receiver, then sender; equal edges ascend
};

// `receivers` and `senders` are of one length; T is an unsigned integer.
template <typename T>
EdgeFacts<T> FactsOf(std::span<const T> receivers, std::span<const T> senders) {
  EdgeFacts<T> facts;
  for (std::size_t k = 0; k < receivers.size(); ++k) {
    facts.largest = std::max({facts.largest, receivers[k], senders[k]});
    facts.ascend &= k == 0 || receivers[k - 1] < receivers[k] ||
                    (receivers[k - 1] == receivers[k] && senders[k - 1] <= senders[k]);
  }
  return facts;
}

// Checks many edges at once, in vectors of `kVectorBytes`, without a branch for each edge. It is always inlined
// into a caller that is compiled for a processor with such vectors; every x86-64 processor has those of 16
// bytes.
template <typename T, std::size_t kVectorBytes>
class EdgeScan {
 public:
  // Whether the edges ascend and no end of one is above `last`. Arguments as of FactsOf.
  [[gnu::always_inline]] static inline bool Holds(std::span<const T> receivers, std::span<const T> senders,
                                                  T last) {
    if (receivers.size() <= kLanes) return HoldsOfFew(receivers, senders, last);
    // Where receivers ascend, none is above the last one.
    if (receivers.back() > last || senders.front() > last) return false;
    const std::size_t pairs = receivers.size() - 1;
    const Lanes limit = last - Lanes{};
    Lanes bad = {};
    for (std::size_t k = 0; k + kLanes < pairs; k += kLanes) AddPairs(&receivers[k], &senders[k], limit, bad);
    // Up to the last pair; some of these may have been looked at before.
    AddPairs(&receivers[pairs - kLanes], &senders[pairs - kLanes], limit, bad);
    return IsZero(bad);
  }

 private:
  static constexpr std::size_t kMinVectorBytes = 16;
  static constexpr std::size_t kLanes = kVectorBytes / sizeof(T);
  typedef T Lanes __attribute__((vector_size(kVectorBytes)));

  // For fewer edges than fill a vector of pairs.
  [[gnu::always_inline]] static inline bool HoldsOfFew(std::span<const T> receivers, std::span<const T> senders,
                                                       T last) {
    if constexpr (kVectorBytes > kMinVectorBytes) {
      return EdgeScan<T, kVectorBytes / 2>::Holds(receivers, senders, last);
    } else {
      const EdgeFacts<T> facts = FactsOf(receivers, senders);
      return facts.ascend && facts.largest <= last;
    }
  }

  // Of edges k and k + 1 for k = 0 .. kLanes - 1, which are kLanes + 1 edges: sets lanes of `bad`.
  [[gnu::always_inline]] static inline void AddPairs(const T* receivers, const T* senders, const Lanes& limit,
                                                     Lanes& bad) {
    Lanes receiver, next_receiver, sender, next_sender;
    std::memcpy(&receiver, receivers, sizeof(Lanes));
    std::memcpy(&next_receiver, receivers + 1, sizeof(Lanes));
    std::memcpy(&sender, senders, sizeof(Lanes));
    std::memcpy(&next_sender, senders + 1, sizeof(Lanes));
    // Processors compare bytes for "at most", not for "more".
    const Lanes receivers_ascend = (Lanes)(receiver <= next_receiver);
    const Lanes senders_ascend = (Lanes)(sender <= next_sender);
    const Lanes in_limit = (Lanes)(next_sender <= limit);
    bad |= ~(receivers_ascend & in_limit) | (~senders_ascend & (Lanes)(receiver == next_receiver));
  }

  [[gnu::always_inline]] static inline bool IsZero(const Lanes& lanes) {
    std::uint64_t words[kVectorBytes / sizeof(std::uint64_t)];
    std::memcpy(words, &lanes, sizeof(words));
    std::uint64_t any = 0;
    for (const std::uint64_t word : words) any |= word;
    return any == 0;
  }
};

}  // namespace packtrain::wire

#endif  // PACKTRAIN_PROTO_WIRE_EDGE_SCAN_H_
