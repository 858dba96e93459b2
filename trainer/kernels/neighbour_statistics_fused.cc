#include <torch/csrc/autograd/custom_function.h>

#include "trainer/kernels/fused_launch.h"
#include "trainer/kernels/neighbour_statistics.cuh"
#include "trainer/kernels/neighbour_statistics.h"

namespace packtrain::trainer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

static_assert(kLeastVariance == kMinVariance && kStatistics == kNeighbourStatistics);

StatisticsSizes SizesOf(const at::Tensor& sent) { return {.nodes = sent.size(0), .columns = sent.size(1)}; }

EdgesByReceiver ByReceiver(const at::Tensor& receiver_start, const at::Tensor& senders) {
  return {.receiver_start = Integers(receiver_start), .senders = Integers(senders)};
}

class AggregateNeighboursFunction : public torch::autograd::Function<AggregateNeighboursFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& own_in, const at::Tensor& sent_in,
                            const GraphTensors& graphs) {
    const at::Tensor own = own_in.contiguous(), sent = sent_in.contiguous();
    TORCH_CHECK(own.dim() == 2 && own.sizes() == sent.sizes(), "own and sent have other shapes than [N, C]");
    context->save_for_backward(
        {sent, graphs.receiver_start, graphs.senders, graphs.sender_start, graphs.by_sender, graphs.receivers});
    at::Tensor aggregates = at::empty({sent.size(0), kStatistics * sent.size(1)}, sent.options());
    C10_CUDA_CHECK(EnqueueAggregateNeighbours(SizesOf(sent), ByReceiver(graphs.receiver_start, graphs.senders),
                                              Floats(own), Floats(sent), aggregates.mutable_data_ptr<float>(),
                                              CurrentStream()));
    return aggregates;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &sent = saved[0], d_aggregates = gradients[0].contiguous();
    const StatisticsSizes sizes = SizesOf(sent);
    at::Tensor spread = at::empty({sizes.nodes, kSpreadRows, sizes.columns}, sent.options());
    at::Tensor d_own = at::empty_like(sent), d_sent = at::empty_like(sent);
    const EdgesBySender by_sender = {
        .sender_start = Integers(saved[3]), .by_sender = Integers(saved[4]), .receivers = Integers(saved[5])};
    C10_CUDA_CHECK(EnqueueAggregateNeighboursBackward(sizes, ByReceiver(saved[1], saved[2]), by_sender,
                                                      Floats(sent),
                                                      {.d_aggregates = Floats(d_aggregates),
                                                       .spread = spread.mutable_data_ptr<float>(),
                                                       .d_own = d_own.mutable_data_ptr<float>(),
                                                       .d_sent = d_sent.mutable_data_ptr<float>()},
                                                      CurrentStream()));
    return {d_own, d_sent, at::Tensor()};
  }
};

}  // namespace

at::Tensor FusedAggregateNeighbours(const at::Tensor& own, const at::Tensor& sent, const GraphTensors& graphs) {
  return AggregateNeighboursFunction::apply(own, sent, graphs);
}

}  // namespace packtrain::trainer
