#include "trainer/models/pna.h"

#include <torch/types.h>

#include <string>
#include <vector>

#include "trainer/kernels/neighbour_statistics.h"
#include "trainer/models/layers.h"
#include "trainer/models/parameter_maker.h"

namespace packtrain::trainer {
namespace {

constexpr std::int64_t kScalers = 3;  // identity, amplification, attenuation

// F channels before the layer, F' behind it.
struct Layer {
  Linear message;  // [2F -> F], of receiver and sender
  Linear update;   // [13F -> F'], of the node and its 12 scaled aggregates: by scaler, then aggregator
  Linear last;     // [F' -> F']
};

// What all layers read of the graphs.
struct LayerInputs {
  const GraphTensors& graphs;
  Neighbourhoods neighbourhoods;
  at::Tensor is_real;        // [N, 1]
  at::Tensor amplification;  // [N, 1]
  at::Tensor attenuation;    // [N, 1]
};

class Pna final : public Model {
 public:
  explicit Pna(const ModelOptions& options)
      : kernels_(options.kernels),
        mean_log_degree_(options.sizes.mean_log_degree > 0 ? options.sizes.mean_log_degree : 1),
        pools_channels_(options.readout == "linear") {
    ParameterMaker make(*this, options.seed);
    std::int64_t in = options.sizes.node_features;
    for (std::int64_t i = 0; i < options.layers; ++i) {
      const bool is_last = i + 1 == options.layers;
      const std::int64_t out = is_last && !pools_channels_ ? options.sizes.targets : options.hidden;
      layers_.push_back(MakeLayer(make, "layer" + std::to_string(i), in, out));
      in = out;
    }
    if (pools_channels_) readout_ = MakeLinear(make, "readout", options.hidden, options.sizes.targets);
  }

  at::Tensor Forward(const GraphTensors& graphs) override {
    const LayerInputs in = InputsOf(graphs);
    at::Tensor nodes = graphs.node_features.to(layers_.front().last.bias.scalar_type());
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (i > 0) nodes = nodes.relu();
      // What padding has would grow from layer to layer until it is no number, and neither are gradients then.
      nodes = at::where(in.is_real, Apply(layers_[i], nodes, in), 0);
    }
    return ReadOut(nodes, graphs);
  }

 private:
  static Layer MakeLayer(ParameterMaker& make, const std::string& name, std::int64_t in, std::int64_t out) {
    Layer layer;
    layer.message = MakeLinear(make, name + ".message", 2 * in, in);
    layer.update = MakeLinear(make, name + ".update", (1 + kNeighbourStatistics * kScalers) * in, out);
    layer.last = MakeLinear(make, name + ".last", out, out);
    return layer;
  }

  LayerInputs InputsOf(const GraphTensors& graphs) const {
    const at::Tensor index = at::arange(graphs.in_degree.size(0), graphs.n_node.options());
    const at::Tensor log_degree = (graphs.in_degree + 1).log();
    return {.graphs = graphs,
            .neighbourhoods = NeighbourhoodsOf(graphs),
            .is_real = (index < graphs.n_node.sum()).unsqueeze(1),
            .amplification = log_degree / mean_log_degree_,
            .attenuation = mean_log_degree_ / log_degree};
  }

  // [N, 4F]. A message is a sum of what its receiver and what its sender gives, so that all but the former is
  // aggregated over what nodes have, and no edge has a message.
  at::Tensor Aggregate(const Linear& message, const at::Tensor& nodes, const LayerInputs& in) const {
    const std::vector<at::Tensor> weights = message.weights.split(nodes.size(1));  // of receiver and sender
    const at::Tensor own = at::addmm(message.bias, nodes, weights[0]);
    return AggregateNeighbours(own, nodes.mm(weights[1]), in.neighbourhoods, in.graphs, kernels_);
  }

  // A scaler multiplies a row, so it may do so behind the product with its weights, and the scaled aggregates
  // need not be written down.
  static at::Tensor Update(const Linear& update, const at::Tensor& nodes, const at::Tensor& aggregates,
                           const LayerInputs& in) {
    const std::int64_t channels = nodes.size(1), out = update.bias.size(0);
    const std::vector<at::Tensor> weights =
        update.weights.split_with_sizes({channels, update.weights.size(0) - channels});
    const at::Tensor of_scalers = weights[1]
                                      .view({kScalers, kNeighbourStatistics * channels, out})
                                      .transpose(0, 1)
                                      .reshape({kNeighbourStatistics * channels, kScalers * out});
    const std::vector<at::Tensor> scaled = aggregates.mm(of_scalers).split(out, 1);
    const at::Tensor unscaled = at::addmm(update.bias, nodes, weights[0]) + scaled[0];
    return unscaled.addcmul(scaled[1], in.amplification).addcmul(scaled[2], in.attenuation);
  }

  at::Tensor Apply(const Layer& layer, const at::Tensor& nodes, const LayerInputs& in) const {
    return layer.last(Update(layer.update, nodes, Aggregate(layer.message, nodes, in), in));
  }

  at::Tensor ReadOut(const at::Tensor& nodes, const GraphTensors& graphs) const {
    const at::Tensor max = MaxOfGroups(nodes, graphs.graph_of_node.to(at::kLong), graphs.n_node.size(0));
    const at::Tensor pooled = at::where((graphs.n_node > 0).unsqueeze(1), max, 0);
    return pools_channels_ ? readout_(pooled) : pooled;
  }

  const KernelForm kernels_;
  const double mean_log_degree_;
  const bool pools_channels_;
  std::vector<Layer> layers_;
  Linear readout_;
};

}  // namespace

std::shared_ptr<Model> CreatePna(const ModelOptions& options) {
  return std::make_shared<Pna>(Completed(options, kPna));
}

}  // namespace packtrain::trainer
