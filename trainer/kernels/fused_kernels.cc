#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_bf16.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <type_traits>

#include "trainer/engine/adam_update.h"
#include "trainer/kernels/distances.h"
#include "trainer/kernels/kernels.h"
#include "trainer/kernels/shifted_softplus.h"
#include "trainer/kernels/sum_messages.h"

namespace packtrain::trainer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

cudaStream_t Stream() { return c10::cuda::getCurrentCUDAStream(); }

const float* Floats(const at::Tensor& tensor) { return tensor.const_data_ptr<float>(); }
const std::int32_t* Integers(const at::Tensor& tensor) { return tensor.const_data_ptr<std::int32_t>(); }

// What edge-sized data is made of.
template <typename Element>
const Element* Elements(const at::Tensor& tensor) {
  return static_cast<const Element*>(tensor.const_data_ptr());
}
template <typename Element>
Element* MutableElements(const at::Tensor& tensor) {
  return static_cast<Element*>(tensor.mutable_data_ptr());
}

// Calls `enqueue` with the kernels' type for `type`, as std::type_identity.
template <typename Enqueue>
void Dispatch(at::ScalarType type, Enqueue enqueue) {
  TORCH_CHECK(type == at::kFloat || type == at::kBFloat16, "no kernel for edge-sized data of type ", type);
  C10_CUDA_CHECK(type == at::kFloat ? enqueue(std::type_identity<float>())
                                    : enqueue(std::type_identity<__nv_bfloat16>()));
}

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
      return SumMessages(SizesOf(nodes, filter), edges, messages, sums.mutable_data_ptr<float>(), Stream());
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
      return SumMessagesBackward(SizesOf(nodes, filter), edges, messages, d_nodes.mutable_data_ptr<float>(),
                                 MutableElements<Element>(d_filter), Stream());
    });
    return {d_nodes, d_filter, at::Tensor()};
  }
};

class ShiftedSoftplusFunction : public torch::autograd::Function<ShiftedSoftplusFunction> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x_in) {
    const at::Tensor x = x_in.contiguous();
    context->save_for_backward({x});
    at::Tensor y = at::empty_like(x);
    Dispatch(x.scalar_type(), [&]<typename Element>(std::type_identity<Element>) {
      return ShiftSoftplus(Elements<Element>(x), x.numel(), MutableElements<Element>(y), Stream());
    });
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const at::Tensor x = context->get_saved_variables()[0], d_y = gradients[0].contiguous();
    at::Tensor d_x = at::empty_like(x);
    Dispatch(x.scalar_type(), [&]<typename Element>(std::type_identity<Element>) {
      return ShiftSoftplusBackward(Elements<Element>(x), Elements<Element>(d_y), x.numel(),
                                   MutableElements<Element>(d_x), Stream());
    });
    return {d_x};
  }
};

class Fused final : public Kernels {
 public:
  at::Tensor Distances(const GraphTensors& graphs) const override {
    at::Tensor distances = at::empty({graphs.senders.size(0), 1}, graphs.positions.options());
    const EdgeEnds ends = {.edges = distances.size(0),
                           .senders = Integers(graphs.senders),
                           .receivers = Integers(graphs.receivers),
                           .real = Integers(graphs.real),
                           .positions = Floats(graphs.positions)};
    C10_CUDA_CHECK(MeasureEdges(ends, distances.mutable_data_ptr<float>(), Stream()));
    return distances;
  }

  at::Tensor Gaussians(const at::Tensor& distances, const at::Tensor& centres, double width,
                       at::ScalarType type) const override {
    const std::int64_t edges = distances.size(0), count = centres.size(0);
    at::Tensor gaussians = at::empty({edges, count}, distances.options().dtype(type));
    Dispatch(type, [&]<typename Element>(std::type_identity<Element>) {
      return ExpandInGaussians(Floats(distances), edges, Floats(centres), count, static_cast<float>(width),
                               MutableElements<Element>(gaussians), Stream());
    });
    return gaussians;
  }

  at::Tensor SumMessages(const at::Tensor& nodes, const at::Tensor& filter,
                         const GraphTensors& graphs) const override {
    return SumMessagesFunction::apply(nodes, filter, graphs);
  }

  at::Tensor ShiftedSoftplus(const at::Tensor& x) const override { return ShiftedSoftplusFunction::apply(x); }

  void UpdateByAdam(const AdamTensors& adam, const at::Tensor& reduced) const override {
    const AdamUpdate update = {
        .count = adam.parameters.numel(),
        .parameters = adam.parameters.mutable_data_ptr<float>(),
        .mean = adam.mean.mutable_data_ptr<float>(),
        .square = adam.square.mutable_data_ptr<float>(),
        .reduced = reduced.mutable_data_ptr<float>(),
        .steps = adam.steps.mutable_data_ptr<float>(),
        .rate = adam.rate.const_data_ptr<float>(),
        .halted = adam.halted.mutable_data_ptr<float>(),
        .blocks_done = reinterpret_cast<std::uint32_t*>(adam.scratch.mutable_data_ptr<std::int32_t>()),
        .beta1 = adam.beta1,
        .beta2 = adam.beta2,
        .epsilon = adam.epsilon};
    C10_CUDA_CHECK(packtrain::trainer::UpdateByAdam(update, Stream()));
  }
};

}  // namespace

const Kernels& FusedKernels() {
  static const Fused kernels;
  return kernels;
}

}  // namespace packtrain::trainer
