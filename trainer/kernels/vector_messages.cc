#include "trainer/kernels/vector_messages.h"

#include <torch/types.h>

#include <vector>

#include "trainer/kernels/edge_product.h"

namespace packtrain::trainer {
namespace {

constexpr std::int64_t kAxes = 3;

VectorStates PlainReceiveMessages(const VectorStates& states, const at::Tensor& sent, const at::Tensor& weights,
                                  const EdgeGeometry& edges, const GraphTensors& graphs) {
  const std::int64_t nodes = states.scalars.size(0), columns = states.scalars.size(1);
  const at::Tensor messages = sent.index_select(0, graphs.senders) * EdgeProduct(edges.radial, weights);
  const std::vector<at::Tensor> parts = messages.split(columns, 1);
  at::Tensor vectors = parts[2].unsqueeze(1) * edges.directions.unsqueeze(2);
  at::Tensor before = states.vectors;
  if (before.defined()) {
    vectors = vectors + before.index_select(0, graphs.senders) * parts[1].unsqueeze(1);
  } else {
    before = at::zeros({nodes, kAxes, columns}, states.scalars.options());
  }
  return {.scalars = states.scalars.index_add(0, graphs.receivers, parts[0]),
          .vectors = before.index_add(0, graphs.receivers, vectors)};
}

}  // namespace

EdgeGeometry MakeEdgeGeometry(const at::Tensor& radial, const at::Tensor& directions, KernelForm form) {
  EdgeGeometry edges = {.radial = radial, .directions = directions, .rows = {}};
  if (form == KernelForm::kFused) edges.rows = at::cat({radial.to(at::kFloat), directions}, 1);
  return edges;
}

VectorStates ReceiveMessages(const VectorStates& states, const at::Tensor& sent, const at::Tensor& weights,
                             const EdgeGeometry& edges, const GraphTensors& graphs, KernelForm form) {
  if constexpr (kHasFusedForms) {
    if (form == KernelForm::kFused) return FusedReceiveMessages(states, sent, weights, edges, graphs);
  }
  return PlainReceiveMessages(states, sent, weights, edges, graphs);
}

}  // namespace packtrain::trainer
