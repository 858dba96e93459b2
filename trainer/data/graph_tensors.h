// One padded batch as a model reads it.
#ifndef PACKTRAIN_TRAINER_DATA_GRAPH_TENSORS_H_
#define PACKTRAIN_TRAINER_DATA_GRAPH_TENSORS_H_

#include <ATen/core/Tensor.h>

#include "proto/wire/batch_layout.h"

namespace packtrain::trainer {

// Tensors of one padded batch of G graph, N node and E edge slots, all on one device.
//
// Padding nodes belong to the last graph slot and padding edges join padding nodes, so what a model computes
// for a real graph cannot depend on them.
struct GraphTensors {
  at::Tensor classes;        // i32 [N], row of the embedding; 0 for padding
  at::Tensor positions;      // f32 [N, 3], angstrom
  at::Tensor senders;        // i32 [E]
  at::Tensor receivers;      // i32 [E]; the real edges ascend by receiver
  at::Tensor in_degree;      // f32 [N, 1], real edges that end in the node, but at least 1
  at::Tensor graph_of_node;  // i32 [N]
  at::Tensor n_node;         // i32 [G], real nodes; 0 for padding
  at::Tensor target;         // f32 [G], normalised; 0 where there is none
  at::Tensor weight;         // f32 [G], 1 for a real graph that has the target, else 0

  // For kernels of ours, which skip the padding: on a GPU only. Entries start[n] .. start[n + 1] belong to node
  // n.
  at::Tensor receiver_start = {};  // i32 [N + 1], the real edges that end in a node
  at::Tensor by_sender = {};       // i32 [E], the real edges by sender, then position; no meaning behind them
  at::Tensor sender_start = {};    // i32 [N + 1], the entries of by_sender that begin in a node
  at::Tensor real = {};            // i32 [3], numbers of graphs, nodes and edges that are real
};

// Uninitialised, for a batch of shape `padded`.
GraphTensors NewGraphTensors(const wire::Shape& padded, at::Device device);

// Copies every element, both of one shape and on one device; on a GPU the copy is enqueued.
void CopyGraphTensors(const GraphTensors& from, const GraphTensors& to);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_GRAPH_TENSORS_H_
