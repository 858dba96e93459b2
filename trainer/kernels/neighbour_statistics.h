// Statistics of what the neighbours of each node send, as PNA aggregates them; fused, in one pass over the
// edges.
#ifndef PACKTRAIN_TRAINER_KERNELS_NEIGHBOUR_STATISTICS_H_
#define PACKTRAIN_TRAINER_KERNELS_NEIGHBOUR_STATISTICS_H_

#include <ATen/core/Tensor.h>

#include "trainer/data/graph_tensors.h"
#include "trainer/kernels/kernel_form.h"

namespace packtrain::trainer {

// Up to this variance the deviation is 0, as its gradient grows without bound.
inline constexpr double kMinVariance = 1e-5;
inline constexpr std::int64_t kNeighbourStatistics = 4;

// What the plain form reads of the edges, the same in every layer.
struct Neighbourhoods {
  at::Tensor receivers;       // i64 [E]
  at::Tensor has_neighbours;  // [N, 1]
};
Neighbourhoods NeighbourhoodsOf(const GraphTensors& graphs);

// The greatest of the `values` [R, C] that each of `rows` groups has by `group`, i64 [R]; -infinity where it
// has none. Equal ones share the gradient evenly.
at::Tensor MaxOfGroups(const at::Tensor& values, const at::Tensor& group, std::int64_t rows);

// [N, 4C], side by side own + mean, own + minimum, own + maximum and the standard deviation, over the edges
// that end in a node, of sent[sender]; 0 for a node without one. `own` and `sent` f32 [N, C]; the plain form
// takes f64, too. Rows of padding nodes are finite where all inputs are, and mean nothing. Gradients for both;
// equal extremes share theirs evenly. Source: arXiv 2004.05718, section 2.
at::Tensor AggregateNeighbours(const at::Tensor& own, const at::Tensor& sent,
                               const Neighbourhoods& neighbourhoods, const GraphTensors& graphs,
                               KernelForm form);

// The fused form with its gradient; see neighbour_statistics_fused.cc.
at::Tensor FusedAggregateNeighbours(const at::Tensor& own, const at::Tensor& sent, const GraphTensors& graphs);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_KERNELS_NEIGHBOUR_STATISTICS_H_
