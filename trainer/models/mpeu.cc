#include "trainer/models/mpeu.h"

#include <torch/types.h>

#include <algorithm>
#include <string>
#include <vector>

#include "trainer/kernels/distances.h"
#include "trainer/kernels/edge_product.h"
#include "trainer/kernels/shifted_softplus.h"
#include "trainer/models/layers.h"
#include "trainer/models/parameter_maker.h"

namespace packtrain::trainer {
namespace {

// The state e of an edge becomes W9 ssp(W8 [h_sender, h_receiver, e]), before nodes see it.
struct EdgeUpdate {
  at::Tensor first;   // W8 [2C + edge, 2C]
  at::Tensor second;  // W9 [2C, C]
};

struct Layer {
  EdgeUpdate edge;
  Interaction node;
};

class Mpeu final : public Model {
 public:
  explicit Mpeu(const ModelOptions& options)
      : kernels_(options.kernels), channels_(options.hidden), basis_(*this, options.edge_type) {
    ParameterMaker make(*this, options.seed);
    embedding_ = make.Matrix("embedding", options.sizes.classes, channels_);
    for (std::int64_t i = 0; i < options.layers; ++i) {
      layers_.push_back(
          MakeLayer(make, "layer" + std::to_string(i), i == 0 ? DistanceBasis::kGaussians : channels_));
    }
    const std::int64_t half = std::max<std::int64_t>(channels_ / 2, 1);
    readout_.first = make.Matrix("readout.W6", channels_, half);
    readout_.second = make.Matrix("readout.W7", half, options.sizes.targets);
  }

  at::Tensor Forward(const GraphTensors& graphs) override {
    at::Tensor nodes = at::embedding(embedding_, graphs.classes);
    at::Tensor edges = basis_.Expand(Distances(graphs, kernels_), kernels_);
    for (const Layer& layer : layers_) {
      edges = UpdateEdges(layer.edge, nodes, edges, graphs);
      const at::Tensor hidden = ShiftedSoftplus(EdgeProduct(edges, layer.node.filter_in), kernels_);
      nodes = layer.node(nodes, layer.node.Filters(hidden, kernels_), graphs, kernels_);
    }
    return MeanOverNodes(readout_(nodes, kernels_), graphs);
  }

 private:
  // `edge` is the width of the edges' states before the layer.
  Layer MakeLayer(ParameterMaker& make, const std::string& name, std::int64_t edge) const {
    Layer layer;
    layer.edge.first = make.Matrix(name + ".W8", 2 * channels_ + edge, 2 * channels_);
    layer.edge.second = make.Matrix(name + ".W9", 2 * channels_, channels_);
    layer.node = MakeInteraction(make, name, channels_, channels_);
    return layer;
  }

  // [E, C]. The parts of W8 are multiplied apart: those of sender and receiver once a node, not once an edge.
  at::Tensor UpdateEdges(const EdgeUpdate& update, const at::Tensor& nodes, const at::Tensor& edges,
                         const GraphTensors& graphs) const {
    const std::int64_t of_edge = update.first.size(0) - 2 * channels_;
    const std::vector<at::Tensor> parts = update.first.split_with_sizes({channels_, channels_, of_edge});
    const auto of_ends = [&](const at::Tensor& weights, const at::Tensor& ends) {
      return nodes.mm(weights).to(edges.scalar_type()).index_select(0, ends);
    };
    const at::Tensor weights = of_edge == edges.size(1) ? parts[2] : basis_.Widen(parts[2]);
    const at::Tensor sum =
        EdgeProduct(edges, weights) + of_ends(parts[0], graphs.senders) + of_ends(parts[1], graphs.receivers);
    return EdgeProduct(ShiftedSoftplus(sum, kernels_), update.second);
  }

  const KernelForm kernels_;
  const std::int64_t channels_;
  const DistanceBasis basis_;
  at::Tensor embedding_;
  std::vector<Layer> layers_;
  Mlp readout_;
};

}  // namespace

std::shared_ptr<Model> CreateMpeu(const ModelOptions& options) {
  return std::make_shared<Mpeu>(Completed(options, kMpeu));
}

}  // namespace packtrain::trainer
