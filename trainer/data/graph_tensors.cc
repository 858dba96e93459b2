#include "trainer/data/graph_tensors.h"

#include <torch/types.h>

#include <array>
#include <vector>

namespace packtrain::trainer {
namespace {

constexpr std::array kMembers = {
    GraphMember{"senders", &GraphTensors::senders, Rows::kEdges},
    GraphMember{"receivers", &GraphTensors::receivers, Rows::kEdges},
    GraphMember{"in_degree", &GraphTensors::in_degree, Rows::kNodes},
    GraphMember{"graph_of_node", &GraphTensors::graph_of_node, Rows::kNodes},
    GraphMember{"n_node", &GraphTensors::n_node, Rows::kGraphs},
    GraphMember{"classes", &GraphTensors::classes, Rows::kNodes},
    GraphMember{"tokens", &GraphTensors::tokens, Rows::kNodes},
    GraphMember{"positions", &GraphTensors::positions, Rows::kNodes},
    GraphMember{"cells", &GraphTensors::cells, Rows::kGraphs},
    GraphMember{"shifts", &GraphTensors::shifts, Rows::kEdges},
    GraphMember{"node_features", &GraphTensors::node_features, Rows::kNodes},
    GraphMember{"edge_features", &GraphTensors::edge_features, Rows::kEdges},
    GraphMember{"edge_types", &GraphTensors::edge_types, Rows::kEdges},
    GraphMember{"is_slot", &GraphTensors::is_slot, Rows::kNodes},
    GraphMember{"is_candidate", &GraphTensors::is_candidate, Rows::kNodes},
    GraphMember{"is_target", &GraphTensors::is_target, Rows::kNodes},
    GraphMember{"targets", &GraphTensors::targets, Rows::kGraphs},
    GraphMember{"weights", &GraphTensors::weights, Rows::kGraphs},
    GraphMember{"receiver_start", &GraphTensors::receiver_start, Rows::kNodeStarts},
    GraphMember{"by_sender", &GraphTensors::by_sender, Rows::kEdges},
    GraphMember{"sender_start", &GraphTensors::sender_start, Rows::kNodeStarts},
    GraphMember{"real", &GraphTensors::real, Rows::kSizes}};

// The members of `tensors` that are there and have elements of `type`.
std::vector<at::Tensor> OfType(const GraphTensors& tensors, at::ScalarType type) {
  std::vector<at::Tensor> chosen;
  for (const GraphMember& member : kMembers) {
    const at::Tensor& tensor = tensors.*member.tensor;
    if (tensor.defined() && tensor.scalar_type() == type) chosen.push_back(tensor);
  }
  return chosen;
}

// Makes the tensors of one padded shape.
class Maker {
 public:
  Maker(const wire::Shape& padded, at::Device device)
      : graphs_(padded.graphs), nodes_(padded.nodes), edges_(padded.edges), options_(device) {}

  void AddTopology(GraphTensors& tensors) const {
    tensors.senders = Integers({edges_});
    tensors.receivers = Integers({edges_});
    tensors.in_degree = Floats({nodes_, 1});
    tensors.graph_of_node = Integers({nodes_});
    tensors.n_node = Integers({graphs_});
  }

  void AddInputs(const InputLayout& layout, GraphTensors& tensors) const {
    const InputSet inputs = layout.inputs;
    if (inputs.Has(Input::kAtomicNumbers)) tensors.classes = Integers({nodes_});
    if (inputs.Has(Input::kTokens)) tensors.tokens = Integers({nodes_});
    if (inputs.Has(Input::kPositions)) tensors.positions = Floats({nodes_, 3});
    if (inputs.Has(Input::kCells)) {
      tensors.cells = Floats({graphs_, 3, 3});
      tensors.shifts = Integers({edges_, 3});
    }
    if (inputs.Has(Input::kNodeFeatures))
      tensors.node_features = Integers({nodes_, layout.sizes.node_features});
    if (inputs.Has(Input::kEdgeFeatures)) tensors.edge_features = Floats({edges_, layout.sizes.edge_features});
    if (inputs.Has(Input::kEdgeTypes)) tensors.edge_types = Integers({edges_});
    if (inputs.Has(Input::kCandidates)) {
      tensors.is_slot = Integers({nodes_});
      tensors.is_candidate = Integers({nodes_});
      tensors.is_target = Integers({nodes_});
    }
    if (inputs.Has(Input::kTargets)) {
      tensors.targets = Floats({graphs_, layout.sizes.targets});
      tensors.weights = Floats({graphs_, layout.sizes.targets});
    }
  }

  void AddOrders(GraphTensors& tensors) const {
    tensors.receiver_start = Integers({nodes_ + 1});
    tensors.by_sender = Integers({edges_});
    tensors.sender_start = Integers({nodes_ + 1});
    tensors.real = Integers({3});
  }

 private:
  at::Tensor Floats(at::IntArrayRef sizes) const { return at::empty(sizes, options_.dtype(at::kFloat)); }
  at::Tensor Integers(at::IntArrayRef sizes) const { return at::empty(sizes, options_.dtype(at::kInt)); }

  const std::int64_t graphs_, nodes_, edges_;
  const at::TensorOptions options_;
};

}  // namespace

std::span<const GraphMember> GraphMembers() { return kMembers; }

GraphTensors NewGraphTensors(const wire::Shape& padded, const InputLayout& layout, at::Device device) {
  GraphTensors tensors;
  tensors.block_nodes = padded.block_nodes;
  const Maker maker(padded, device);
  maker.AddTopology(tensors);
  maker.AddInputs(layout, tensors);
  if (device.is_cuda()) maker.AddOrders(tensors);
  return tensors;
}

GraphTensors InF64(const GraphTensors& graphs) {
  GraphTensors wide = graphs;
  for (const GraphMember& member : GraphMembers()) {
    at::Tensor& tensor = wide.*member.tensor;
    if (tensor.defined() && tensor.is_floating_point()) tensor = tensor.to(at::kDouble);
  }
  return wide;
}

// One launch for each type, where the device has launches.
void CopyGraphTensors(const GraphTensors& from, const GraphTensors& to) {
  for (const at::ScalarType type : {at::kFloat, at::kInt}) {
    at::_foreach_copy_(OfType(to, type), OfType(from, type), /*non_blocking=*/true);
  }
}

}  // namespace packtrain::trainer
