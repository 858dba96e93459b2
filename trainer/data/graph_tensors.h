// One padded batch as a model reads it.
#ifndef PACKTRAIN_TRAINER_DATA_GRAPH_TENSORS_H_
#define PACKTRAIN_TRAINER_DATA_GRAPH_TENSORS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "proto/wire/batch_layout.h"
#include "trainer/data/graph_inputs.h"

namespace packtrain::trainer {

// Tensors of one padded batch of G graph, N node and E edge slots, all on one device.
//
// Padding nodes belong to the last graph slot and padding edges join padding nodes, so what a model computes
// for a real graph cannot depend on them.
struct GraphTensors {
  // The topology, which every model has.
  at::Tensor senders = {};        // i32 [E]
  at::Tensor receivers = {};      // i32 [E]; the real edges ascend by receiver
  at::Tensor in_degree = {};      // f32 [N, 1], real edges that end in the node, but at least 1
  at::Tensor graph_of_node = {};  // i32 [N]
  at::Tensor n_node = {};         // i32 [G], real nodes; 0 for padding
  // S of a supergraph, whose real edges reach no further than the next block of S nodes; else 0.
  std::int64_t block_nodes = 0;

  // The inputs that the model and its task declare; the others are undefined. All are 0 for padding.
  at::Tensor classes = {};    // i32 [N], row of the embedding
  at::Tensor tokens = {};     // i32 [N], below the data set's number of tokens
  at::Tensor positions = {};  // f32 [N, 3], angstrom
  at::Tensor cells = {};      // f32 [G, 3, 3], a row for each vector of the cell, angstrom
  at::Tensor shifts = {};     // i32 [E, 3], whole cells from the sender to the image that the edge begins in
  at::Tensor node_features = {};  // i32 [N, F]
  at::Tensor edge_features = {};  // f32 [E, F]
  at::Tensor edge_types = {};     // i32 [E], below half of InputSizes::edge_types
  at::Tensor is_slot = {};        // i32 [N], 1 for the node that an answer is sought for
  at::Tensor is_candidate = {};   // i32 [N], 1 for a node that may be the answer
  at::Tensor is_target = {};      // i32 [N], 1 for a node that is a right answer
  at::Tensor targets = {};        // f32 [G, T], normalised; 0 where a graph has none
  at::Tensor weights = {};        // f32 [G, T], 1 where a real graph has the target, else 0

  // The orders that fused kernels read, and the sizes by which they skip padding: on a GPU only. Entries
  // start[n] .. start[n + 1] belong to node n.
  at::Tensor receiver_start = {};  // i32 [N + 1], the real edges that end in a node
  at::Tensor by_sender = {};       // i32 [E], the real edges by sender, then position; no meaning after them
  at::Tensor sender_start = {};    // i32 [N + 1], the entries of by_sender that begin in a node
  at::Tensor real = {};            // i32 [3], numbers of graphs, nodes and edges that are real
};

// What the first dimension of a member counts.
enum class Rows : std::uint8_t { kGraphs, kNodes, kEdges, kNodeStarts, kSizes };

struct GraphMember {
  std::string_view name;
  at::Tensor GraphTensors::*tensor;
  Rows rows;
};

// All members, in the order of GraphTensors.
std::span<const GraphMember> GraphMembers();

// Uninitialised, for a batch of shape `padded`: the topology, the inputs of `layout`, and on a GPU the orders.
GraphTensors NewGraphTensors(const wire::Shape& padded, const InputLayout& layout, at::Device device);

// All tensors of `graphs`; those of floating point in f64.
GraphTensors InF64(const GraphTensors& graphs);

// Copies every element, both of one shape and layout and on one device; on a GPU the copy is enqueued.
void CopyGraphTensors(const GraphTensors& from, const GraphTensors& to);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_GRAPH_TENSORS_H_
