// How far a static batch is padded.
#ifndef PACKTRAIN_SERVER_BATCHING_PADDING_H_
#define PACKTRAIN_SERVER_BATCHING_PADDING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/wire/batch_spec.h"
#include "proto/wire/shape.h"
#include "server/batching/plan_request.h"
#include "server/batching/shape_ladder.h"

namespace packtrain::batching {

// INVALID_ARGUMENT: rungs without Pad::kLadder or the other way round, or a number of them out of range.
absl::Status CheckPad(const wire::BatchSpec& spec);

// Costs of the slots of a ladder: the node and edge coefficients of the spec's cost, or 1 each if it has none.
SlotCosts SlotCostsOf(const wire::BatchSpec& spec);

// As --pad takes it, such as "pow2" and "ladder:8"; "multiple" where it is not given.
std::string PadTextOrDefault(const wire::BatchSpec& spec);

// A pad, resolved for batches of up to G graphs of one split.
//   none      the batch as it is: a short last batch has fewer graph slots
//   multiple  (G+1, up64(nodes+1), up64(edges))
//   pow2      (G+1, pow2(nodes+1), pow2(edges))
//   constant  (G+1, nextmult64(max_node (G+1)) + 1, nextmult64(max_edge (G+1))), over the whole split
//   ladder    (G+1, the first rung that holds the batch), of a chain of shapes in multiples of 8 that
//             BuildLadder makes of SampleBatches; the top rung holds the G largest graphs, by nodes and by
//             edges
// All but `none` leave at least one node slot and one graph slot to padding.
// Immutable; any number of threads may use it.
class Padding {
 public:
  // FAILED_PRECONDITION: a batch of the G largest graphs of the split would have more than kMaxSlots nodes
  // or edges. Therefore no epoch fails if another does not.
  static absl::StatusOr<Padding> Create(const PlanRequest& request);

  // Of a batch of at most G graphs of the split.
  wire::Shape PaddedShape(const wire::Shape& real) const;

  // Every shape that a batch of any epoch may get, ascending, if the pad chooses shapes beforehand (constant,
  // ladder); empty otherwise.
  const std::vector<wire::Shape>& settled() const { return settled_; }

 private:
  Padding(wire::Pad pad, std::uint32_t graphs) : pad_(pad), graph_slots_(graphs + 1) {}

  wire::Pad pad_;
  std::uint32_t graph_slots_;
  std::vector<wire::Shape> settled_;
};

}  // namespace packtrain::batching

#endif  // PACKTRAIN_SERVER_BATCHING_PADDING_H_
