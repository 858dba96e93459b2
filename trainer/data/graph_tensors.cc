#include "trainer/data/graph_tensors.h"

#include <torch/types.h>

namespace packtrain::trainer {

GraphTensors NewGraphTensors(const wire::Shape& padded, at::Device device) {
  const std::int64_t graphs = padded.graphs, nodes = padded.nodes, edges = padded.edges;
  const at::TensorOptions floats = at::TensorOptions(at::kFloat).device(device);
  const at::TensorOptions integers = floats.dtype(at::kInt);
  GraphTensors tensors = {.classes = at::empty({nodes}, integers),
                          .positions = at::empty({nodes, 3}, floats),
                          .senders = at::empty({edges}, integers),
                          .receivers = at::empty({edges}, integers),
                          .in_degree = at::empty({nodes, 1}, floats),
                          .graph_of_node = at::empty({nodes}, integers),
                          .n_node = at::empty({graphs}, integers),
                          .target = at::empty({graphs}, floats),
                          .weight = at::empty({graphs}, floats)};
  if (device.is_cuda()) {
    tensors.receiver_start = at::empty({nodes + 1}, integers);
    tensors.by_sender = at::empty({edges}, integers);
    tensors.sender_start = at::empty({nodes + 1}, integers);
    tensors.real = at::empty({3}, integers);
  }
  return tensors;
}

}  // namespace packtrain::trainer
