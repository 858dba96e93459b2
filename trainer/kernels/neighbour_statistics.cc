#include "trainer/kernels/neighbour_statistics.h"

#include <torch/types.h>

#include <limits>

namespace packtrain::trainer {
namespace {

at::Tensor PlainAggregateNeighbours(const at::Tensor& own, const at::Tensor& sent, const Neighbourhoods& in,
                                    const GraphTensors& graphs) {
  const at::Tensor values = sent.index_select(0, graphs.senders);
  const auto mean_of = [&](const at::Tensor& of_edges) {
    return at::zeros_like(sent).index_add(0, in.receivers, of_edges) / graphs.in_degree;
  };
  const at::Tensor mean = mean_of(values);
  const at::Tensor variance = mean_of((values - mean.index_select(0, in.receivers)).square());
  const at::Tensor deviation = at::where(variance > kMinVariance, variance.clamp_min(kMinVariance).sqrt(), 0);
  const at::Tensor min = MaxOfGroups(values.neg(), in.receivers, sent.size(0)).neg();
  const at::Tensor max = MaxOfGroups(values, in.receivers, sent.size(0));
  return at::where(in.has_neighbours, at::cat({own + mean, own + min, own + max, deviation}, 1), 0);
}

}  // namespace

Neighbourhoods NeighbourhoodsOf(const GraphTensors& graphs) {
  const at::Tensor receivers = graphs.receivers.to(at::kLong);
  const at::Tensor count =
      at::zeros_like(graphs.in_degree)
          .index_add_(0, receivers, at::ones({receivers.size(0), 1}, graphs.in_degree.options()));
  return {.receivers = receivers, .has_neighbours = count > 0};
}

at::Tensor MaxOfGroups(const at::Tensor& values, const at::Tensor& group, std::int64_t rows) {
  const at::Tensor none =
      at::full({rows, values.size(1)}, -std::numeric_limits<double>::infinity(), values.options());
  return none.scatter_reduce(0, group.unsqueeze(1).expand_as(values), values, "amax");
}

at::Tensor AggregateNeighbours(const at::Tensor& own, const at::Tensor& sent,
                               const Neighbourhoods& neighbourhoods, const GraphTensors& graphs,
                               KernelForm form) {
  if constexpr (kHasFusedForms) {
    if (form == KernelForm::kFused) return FusedAggregateNeighbours(own, sent, graphs);
  }
  return PlainAggregateNeighbours(own, sent, neighbourhoods, graphs);
}

}  // namespace packtrain::trainer
