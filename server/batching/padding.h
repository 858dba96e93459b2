// How far a static batch is padded.
#ifndef PACKTRAIN_SERVER_BATCHING_PADDING_H_
#define PACKTRAIN_SERVER_BATCHING_PADDING_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/batching/batch_spec.h"
#include "server/batching/plan.h"

namespace packtrain::batching {

// As --pad spells it. Ends with a zero.
std::string_view PadName(Pad pad);

// One pad, settled for batches of up to G graphs of one split.
//   none      the batch as it is: a short last batch has fewer graph slots
//   multiple  (G+1, up64(nodes+1), up64(edges))
//   pow2      (G+1, pow2(nodes+1), pow2(edges))
//   constant  (G+1, nextmult64(max_node (G+1)) + 1, nextmult64(max_edge (G+1))), over the whole split
// All but `none` leave at least one node slot and one graph slot to padding.
// Immutable; any number of threads may use it.
class Padding {
 public:
  // FAILED_PRECONDITION: a batch of the G largest graphs of the split would have more than kMaxSlots nodes
  // or edges. So no epoch can fail where another did not.
  static absl::StatusOr<Padding> Create(Pad pad, std::uint32_t graphs, const GraphSizes& sizes,
                                        std::span<const std::uint32_t> split);

  // Of a batch of at most G graphs of the split.
  Shape PaddedShape(const Shape& real) const;

 private:
  Padding(Pad pad, std::uint32_t graphs) : pad_(pad), graph_slots_(graphs + 1) {}

  Pad pad_;
  std::uint32_t graph_slots_;
  Shape constant_;
};

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_PADDING_H_
