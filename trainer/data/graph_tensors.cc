#include "trainer/data/graph_tensors.h"

#include <torch/types.h>

#include <array>
#include <vector>

namespace packtrain::trainer {
namespace {

using Member = at::Tensor GraphTensors::*;

constexpr std::array<Member, 4> kFloats = {&GraphTensors::positions, &GraphTensors::in_degree,
                                           &GraphTensors::target, &GraphTensors::weight};
constexpr std::array<Member, 9> kIntegers = {
    &GraphTensors::classes,       &GraphTensors::senders,      &GraphTensors::receivers,
    &GraphTensors::graph_of_node, &GraphTensors::n_node,       &GraphTensors::receiver_start,
    &GraphTensors::by_sender,     &GraphTensors::sender_start, &GraphTensors::real};

template <std::size_t kSize>
std::vector<at::Tensor> Defined(const GraphTensors& tensors, const std::array<Member, kSize>& members) {
  std::vector<at::Tensor> defined;
  for (const Member member : members) {
    if ((tensors.*member).defined()) defined.push_back(tensors.*member);
  }
  return defined;
}

}  // namespace

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

// One launch for each type, where the device has launches.
void CopyGraphTensors(const GraphTensors& from, const GraphTensors& to) {
  at::_foreach_copy_(Defined(to, kFloats), Defined(from, kFloats), /*non_blocking=*/true);
  at::_foreach_copy_(Defined(to, kIntegers), Defined(from, kIntegers), /*non_blocking=*/true);
}

}  // namespace packtrain::trainer
