#include <torch/csrc/autograd/custom_function.h>

#include <optional>

#include "trainer/kernels/fused_launch.h"
#include "trainer/kernels/vector_messages.cuh"
#include "trainer/kernels/vector_messages.h"

namespace packtrain::trainer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

static_assert(kFusedRadialTerms == kRadialTerms);

VectorMessageSizes SizesOf(const at::Tensor& sent, const at::Tensor& weights, const at::Tensor& geometry) {
  TORCH_CHECK(weights.size(0) == kRadialTerms && geometry.size(1) == kGeometryColumns, "the fused form takes ",
              kRadialTerms, " radial terms");
  TORCH_CHECK(sent.size(1) == weights.size(1), "sent and weights have other shapes than [N, 3C] and [K, 3C]");
  return {.nodes = sent.size(0), .columns = sent.size(1) / 3};
}

const float* FloatsOrNull(const at::Tensor& tensor) { return tensor.defined() ? Floats(tensor) : nullptr; }

class ReceiveMessagesFunction : public torch::autograd::Function<ReceiveMessagesFunction> {
 public:
  // The weights are rounded as the plain form rounds them; their gradient is
  // not.
  static variable_list forward(AutogradContext* context, const at::Tensor& scalars_in,
                               const std::optional<at::Tensor>& vectors_in, const at::Tensor& sent_in,
                               const at::Tensor& weights_in, const EdgeGeometry& edge_geometry,
                               const GraphTensors& graphs) {
    const at::Tensor scalars = scalars_in.contiguous(), sent = sent_in.contiguous();
    const at::Tensor weights = weights_in.to(edge_geometry.radial.scalar_type()).to(at::kFloat).contiguous();
    const at::Tensor& geometry = edge_geometry.rows;
    const at::Tensor vectors = vectors_in ? vectors_in->contiguous() : at::Tensor();
    context->save_for_backward({vectors, sent, weights, geometry, graphs.sender_start, graphs.by_sender,
                                graphs.receivers, graphs.real});
    const VectorMessageSizes sizes = SizesOf(sent, weights, geometry);
    at::Tensor received_scalars = at::empty_like(scalars);
    at::Tensor received_vectors = at::empty({sizes.nodes, 3, sizes.columns}, scalars.options());
    const EdgesByReceiver edges = {.receiver_start = Integers(graphs.receiver_start),
                                   .senders = Integers(graphs.senders)};
    const VectorMessages messages = {.scalars = Floats(scalars),
                                     .vectors = FloatsOrNull(vectors),
                                     .sent = Floats(sent),
                                     .weights = Floats(weights),
                                     .geometry = Floats(geometry)};
    C10_CUDA_CHECK(EnqueueReceiveMessages(sizes, edges, messages, MutableFloats(received_scalars),
                                          MutableFloats(received_vectors), CurrentStream()));
    return {received_scalars, received_vectors};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &vectors = saved[0], &sent = saved[1], &weights = saved[2], &geometry = saved[3];
    const VectorMessageSizes sizes = SizesOf(sent, weights, geometry);
    const at::Tensor d_scalars = gradients[0].contiguous(), d_received_vectors = gradients[1].contiguous();
    at::Tensor d_vectors = vectors.defined() ? at::empty_like(vectors) : at::Tensor();
    at::Tensor d_sent = at::empty_like(sent), d_weights = at::empty_like(weights);
    at::Tensor partial = at::empty({PartialWeights(sizes)}, sent.options());
    const EdgesBySender edges = {.sender_start = Integers(saved[4]),
                                 .by_sender = Integers(saved[5]),
                                 .receivers = Integers(saved[6]),
                                 .real = Integers(saved[7])};
    const VectorMessages messages = {.scalars = nullptr,
                                     .vectors = FloatsOrNull(vectors),
                                     .sent = Floats(sent),
                                     .weights = Floats(weights),
                                     .geometry = Floats(geometry)};
    C10_CUDA_CHECK(
        EnqueueReceiveMessagesBackward(sizes, edges, messages,
                                       {.d_received_scalars = Floats(d_scalars),
                                        .d_received_vectors = Floats(d_received_vectors),
                                        .d_vectors = vectors.defined() ? MutableFloats(d_vectors) : nullptr,
                                        .d_sent = MutableFloats(d_sent),
                                        .d_weights = MutableFloats(d_weights),
                                        .partial_weights = MutableFloats(partial)},
                                       CurrentStream()));
    return {d_scalars, d_vectors, d_sent, d_weights, Variable(), Variable()};
  }
};

}  // namespace

VectorStates FusedReceiveMessages(const VectorStates& states, const at::Tensor& sent, const at::Tensor& weights,
                                  const EdgeGeometry& edges, const GraphTensors& graphs) {
  // Torch takes no undefined tensor in its place.
  std::optional<at::Tensor> vectors;
  if (states.vectors.defined()) vectors = states.vectors;
  const variable_list received =
      ReceiveMessagesFunction::apply(states.scalars, vectors, sent, weights, edges, graphs);
  return {.scalars = received[0], .vectors = received[1]};
}

}  // namespace packtrain::trainer
