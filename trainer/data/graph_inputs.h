// The arrays of a batch that a model and its task read beside the graphs' topology, by name.
//
//   constexpr InputSet kInputs = {Input::kAtomicNumbers, Input::kPositions};   // declared by a model
//   const InputLayout layout = {kInputs | task.labels, {.classes = 5}};        // with what the data set says
//   const GraphTensors graphs = NewGraphTensors(padded, layout, device);       // has those tensors, no others
#ifndef PACKTRAIN_TRAINER_DATA_GRAPH_INPUTS_H_
#define PACKTRAIN_TRAINER_DATA_GRAPH_INPUTS_H_

#include <cstdint>
#include <initializer_list>

namespace packtrain::trainer {

// Each stands for the members of GraphTensors that are named beside it.
enum class Input : std::uint8_t {
  kAtomicNumbers,  // classes
  kTokens,         // tokens
  kPositions,      // positions
  kCells,          // cells, shifts
  kNodeFeatures,   // node_features
  kEdgeFeatures,   // edge_features
  kEdgeTypes,      // edge_types
  kDegrees,        // none: InputSizes::mean_log_degree
  kCandidates,     // is_slot, is_candidate, is_target
  kTargets,        // targets, weights
};

class InputSet {
 public:
  constexpr InputSet(std::initializer_list<Input> inputs) {
    for (const Input input : inputs) bits_ |= Bit(input);
  }

  constexpr bool Has(Input input) const { return (bits_ & Bit(input)) != 0; }

  friend constexpr InputSet operator|(InputSet a, InputSet b) {
    a.bits_ |= b.bits_;
    return a;
  }
  friend constexpr bool operator==(InputSet, InputSet) = default;

 private:
  static constexpr std::uint32_t Bit(Input input) { return 1u << static_cast<unsigned>(input); }

  std::uint32_t bits_ = 0;
};

// What a model reads of a data set that has `required`: this, and of `optional` what the data set has.
struct InputNeeds {
  InputSet required = {};
  InputSet optional = {};
};

// What the data set decides of the inputs; 0 where the model does not read them.
struct InputSizes {
  std::int64_t classes = 0;        // of atomic numbers, or of tokens: rows of an embedding
  std::int64_t node_features = 0;  // integers a node
  std::int64_t edge_features = 0;  // numbers an edge
  std::int64_t edge_types = 0;     // each and its reverse: at least twice what an edge can have
  std::int64_t targets = 1;        // numbers that a graph is to have, where it is to have any
  double mean_log_degree = 0;  // of ln(d + 1) over the nodes of the training split, d the edges that end in one
};

struct InputLayout {
  InputSet inputs = {};
  InputSizes sizes = {};
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_GRAPH_INPUTS_H_
