#include <torch/csrc/autograd/custom_function.h>

#include "trainer/kernels/fused_launch.h"
#include "trainer/kernels/sum_messages.cuh"
#include "trainer/kernels/sum_messages.h"

namespace packtrain::trainer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

MessageSizes SizesOf(const at::Tensor& nodes, const at::Tensor& filter) {
  TORCH_CHECK(nodes.dim() == 2 && filter.dim() == 2 && nodes.size(1) == filter.size(1),
              "nodes and filter have other shapes than [N, C] and [E, C]");
  return {.nodes = nodes.size(0), .edges = filter.size(0), .columns = nodes.size(1)};
}

class SumMessagesFunction : public torch::autograd::Function<SumMessagesFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& nodes_in, const at::Tensor& filter_in,
                            const GraphTensors& graphs) {
    const at::Tensor nodes = nodes_in.contiguous(), filter = filter_in.contiguous();
    context->save_for_backward(
        {nodes, filter, graphs.sender_start, graphs.by_sender, graphs.receivers, graphs.real});
    at::Tensor sums = at::empty_like(nodes);
    const EdgesByReceiver edges = {.receiver_start = Integers(graphs.receiver_start),
                                   .senders = Integers(graphs.senders)};
    Dispatch(filter.scalar_type(), [&]<typename Element>(std::type_identity<Element>) {
      const Messages<Element> messages = {.nodes = Floats(nodes), .filter = Elements<Element>(filter)};
      return EnqueueSumMessages(SizesOf(nodes, filter), edges, messages, sums.mutable_data_ptr<float>(),
                                CurrentStream());
    });
    return sums;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &nodes = saved[0], &filter = saved[1], d_sums = gradients[0].contiguous();
    at::Tensor d_nodes = at::empty_like(nodes), d_filter = at::empty_like(filter);
    const EdgesBySender edges = {.sender_start = Integers(saved[2]),
                                 .by_sender = Integers(saved[3]),
                                 .receivers = Integers(saved[4]),
                                 .real = Integers(saved[5])};
    Dispatch(filter.scalar_type(), [&]<typename Element>(std::type_identity<Element>) {
      const Messages<Element> messages = {
          .nodes = Floats(nodes), .filter = Elements<Element>(filter), .d_sums = Floats(d_sums)};
      return EnqueueSumMessagesBackward(SizesOf(nodes, filter), edges, messages,
                                        d_nodes.mutable_data_ptr<float>(), MutableElements<Element>(d_filter),
                                        CurrentStream());
    });
    return {d_nodes, d_filter, at::Tensor()};
  }
};

}  // namespace

at::Tensor FusedSumMessages(const at::Tensor& nodes, const at::Tensor& filter, const GraphTensors& graphs) {
  return SumMessagesFunction::apply(nodes, filter, graphs);
}

}  // namespace packtrain::trainer
