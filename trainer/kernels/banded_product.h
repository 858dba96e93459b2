// Sums over neighbours by dense products, for nodes in blocks whose edges reach no further than the next block
// (arXiv 1906.11786).
#ifndef PACKTRAIN_TRAINER_KERNELS_BANDED_PRODUCT_H_
#define PACKTRAIN_TRAINER_KERNELS_BANDED_PRODUCT_H_

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <cstdint>

namespace packtrain::trainer {

// From where to where: i32 [E], the nodes that an edge begins and ends in, and its type.
struct TypedEdges {
  at::Tensor from;
  at::Tensor to;
  at::Tensor types;
};

// Of N = K S nodes in K blocks, and P types.
struct BandSizes {
  std::int64_t nodes;        // N
  std::int64_t block_nodes;  // S, of which N is a multiple
  std::int64_t types;        // P
};

// How many edges of each type lead to a node (row i P + type, where i is its place in its block) from another
// one (column, its place). Numbers of f32 or f64.
struct AdjacencyBlocks {
  at::Tensor own;       // C [K, S P, S], from nodes of the same block
  at::Tensor next;      // U [K - 1, S P, S], to block k from block k + 1
  at::Tensor previous;  // L [K - 1, S P, S], to block k + 1 from block k
};

// Without the edges that reach beyond the next block.
AdjacencyBlocks MakeAdjacencyBlocks(const TypedEdges& edges, const BandSizes& sizes, at::ScalarType type);

// [N, P H], for each node and type the sum of the rows of `nodes` [N, H] that its edges of that type come from.
// A gradient for `nodes` alone.
at::Tensor BandedProduct(const AdjacencyBlocks& blocks, const at::Tensor& nodes);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_BANDED_PRODUCT_H_
