// One padded batch as a model reads it.
#ifndef PACKTRAIN_TRAINER_DATA_GRAPH_TENSORS_H_
#define PACKTRAIN_TRAINER_DATA_GRAPH_TENSORS_H_

#include <ATen/core/Tensor.h>

namespace packtrain::trainer {

// Tensors of one padded batch of G graph, N node and E edge slots, all on one device.
//
// Padding nodes belong to the last graph slot and padding edges join padding nodes, so what a model computes
// for a real graph cannot depend on them.
struct GraphTensors {
  at::Tensor classes;        // i32 [N], row of the embedding; 0 for padding
  at::Tensor positions;      // f32 [N, 3], angstrom
  at::Tensor senders;        // i32 [E]
  at::Tensor receivers;      // i32 [E]
  at::Tensor graph_of_node;  // i32 [N]
  at::Tensor n_node;         // i32 [G], real nodes; 0 for padding
  at::Tensor target;         // f32 [G], normalised; 0 where there is none
  at::Tensor weight;         // f32 [G], 1 for a real graph that has the target, else 0
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_GRAPH_TENSORS_H_
