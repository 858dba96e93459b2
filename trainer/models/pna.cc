#include "trainer/models/pna.h"

#include <torch/types.h>

#include <limits>
#include <string>
#include <vector>

#include "trainer/models/layers.h"
#include "trainer/models/parameter_maker.h"

namespace packtrain::trainer {
namespace {

constexpr std::int64_t kAggregators = 4;  // mean, min, max, standard deviation
constexpr std::int64_t kScalers = 3;      // identity, amplification, attenuation
constexpr double kMinVariance = 1e-5;     // up to which the deviation is 0

// F channels before the layer, F' behind it.
struct Layer {
  Linear message;  // [2F -> F], of receiver and sender
  Linear update;   // [13F -> F'], of the node and its 12 scaled aggregates: by scaler, then aggregator
  Linear last;     // [F' -> F']
};

// What all layers read of the graphs.
struct Neighbourhoods {
  at::Tensor senders;         // i32 [E]
  at::Tensor receivers;       // i64 [E]
  at::Tensor in_degree;       // [N, 1], at least 1
  at::Tensor is_real;         // [N, 1]
  at::Tensor has_neighbours;  // [N, 1]
  at::Tensor amplification;   // [N, 1]
  at::Tensor attenuation;     // [N, 1]
};

// The greatest of the `values` [R, F] that each of `rows` groups has by `group`, i64 [R]; -infinity where it
// has none. Equal ones share the gradient evenly.
at::Tensor MaxOfGroups(const at::Tensor& values, const at::Tensor& group, std::int64_t rows) {
  const at::Tensor none =
      at::full({rows, values.size(1)}, -std::numeric_limits<double>::infinity(), values.options());
  return none.scatter_reduce(0, group.unsqueeze(1).expand_as(values), values, "amax");
}

class Pna final : public Model {
 public:
  explicit Pna(const ModelOptions& options)
      : mean_log_degree_(options.sizes.mean_log_degree > 0 ? options.sizes.mean_log_degree : 1),
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
    const Neighbourhoods neighbourhoods = NeighbourhoodsOf(graphs);
    at::Tensor nodes = graphs.node_features.to(layers_.front().last.bias.scalar_type());
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (i > 0) nodes = nodes.relu();
      // What padding has would grow from layer to layer until it is no number, and neither are gradients then.
      nodes = at::where(neighbourhoods.is_real, Apply(layers_[i], nodes, neighbourhoods), 0);
    }
    return ReadOut(nodes, graphs);
  }

 private:
  static Layer MakeLayer(ParameterMaker& make, const std::string& name, std::int64_t in, std::int64_t out) {
    Layer layer;
    layer.message = MakeLinear(make, name + ".message", 2 * in, in);
    layer.update = MakeLinear(make, name + ".update", (1 + kAggregators * kScalers) * in, out);
    layer.last = MakeLinear(make, name + ".last", out, out);
    return layer;
  }

  Neighbourhoods NeighbourhoodsOf(const GraphTensors& graphs) const {
    const at::Tensor count =
        at::zeros_like(graphs.in_degree)
            .index_add_(0, graphs.receivers,
                        at::ones({graphs.receivers.size(0), 1}, graphs.in_degree.options()));
    const at::Tensor index = at::arange(graphs.in_degree.size(0), graphs.n_node.options());
    const at::Tensor log_degree = (graphs.in_degree + 1).log();
    return {.senders = graphs.senders,
            .receivers = graphs.receivers.to(at::kLong),
            .in_degree = graphs.in_degree,
            .is_real = (index < graphs.n_node.sum()).unsqueeze(1),
            .has_neighbours = count > 0,
            .amplification = log_degree / mean_log_degree_,
            .attenuation = mean_log_degree_ / log_degree};
  }

  // [N, 4F]. A message is a sum of what its receiver and what its sender gives, so that all but the former is
  // aggregated over what nodes have, and no edge has a message.
  static at::Tensor Aggregate(const Linear& message, const at::Tensor& nodes, const Neighbourhoods& in) {
    const std::int64_t channels = nodes.size(1), rows = nodes.size(0);
    const std::vector<at::Tensor> weights = message.weights.split(channels);  // of receiver and sender
    const at::Tensor own = at::addmm(message.bias, nodes, weights[0]);
    const at::Tensor sent = nodes.mm(weights[1]).index_select(0, in.senders);
    const auto mean_of = [&](const at::Tensor& values) {
      return at::zeros_like(nodes).index_add(0, in.receivers, values) / in.in_degree;
    };
    const at::Tensor mean = mean_of(sent);
    const at::Tensor variance = mean_of((sent - mean.index_select(0, in.receivers)).square());
    const at::Tensor deviation = at::where(variance > kMinVariance, variance.clamp_min(kMinVariance).sqrt(), 0);
    const at::Tensor min = MaxOfGroups(sent.neg(), in.receivers, rows).neg();
    const at::Tensor max = MaxOfGroups(sent, in.receivers, rows);
    return at::where(in.has_neighbours, at::cat({own + mean, own + min, own + max, deviation}, 1), 0);
  }

  // A scaler multiplies a row, so it may do so behind the product with its weights, and the scaled aggregates
  // need not be written down.
  static at::Tensor Update(const Linear& update, const at::Tensor& nodes, const at::Tensor& aggregates,
                           const Neighbourhoods& in) {
    const std::int64_t channels = nodes.size(1), out = update.bias.size(0);
    const std::vector<at::Tensor> weights =
        update.weights.split_with_sizes({channels, update.weights.size(0) - channels});
    const at::Tensor of_scalers = weights[1]
                                      .view({kScalers, kAggregators * channels, out})
                                      .transpose(0, 1)
                                      .reshape({kAggregators * channels, kScalers * out});
    const std::vector<at::Tensor> scaled = aggregates.mm(of_scalers).split(out, 1);
    return at::addmm(update.bias, nodes, weights[0]) + scaled[0] + scaled[1] * in.amplification +
           scaled[2] * in.attenuation;
  }

  static at::Tensor Apply(const Layer& layer, const at::Tensor& nodes, const Neighbourhoods& in) {
    return layer.last(Update(layer.update, nodes, Aggregate(layer.message, nodes, in), in));
  }

  at::Tensor ReadOut(const at::Tensor& nodes, const GraphTensors& graphs) const {
    const at::Tensor max = MaxOfGroups(nodes, graphs.graph_of_node.to(at::kLong), graphs.n_node.size(0));
    const at::Tensor pooled = at::where((graphs.n_node > 0).unsqueeze(1), max, 0);
    return pools_channels_ ? readout_(pooled) : pooled;
  }

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
