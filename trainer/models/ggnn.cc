#include "trainer/models/ggnn.h"

#include <torch/types.h>

#include <functional>
#include <string>
#include <vector>

#include "trainer/kernels/banded_product.h"
#include "trainer/models/layers.h"
#include "trainer/models/parameter_maker.h"

namespace packtrain::trainer {
namespace {

// The gates' parameters lie one behind another: reset, update, new.
struct GatedUnit {
  at::Tensor message_weights;  // [3H, H]
  at::Tensor message_bias;     // [3H]
  at::Tensor state_weights;    // [3H, H]
  at::Tensor state_bias;       // [3H]

  at::Tensor operator()(const at::Tensor& message, const at::Tensor& state) const {
    return at::gru_cell(message, state, message_weights, state_weights, message_bias, state_bias);
  }
};

GatedUnit MakeGatedUnit(ParameterMaker& make, const std::string& name, std::int64_t hidden) {
  GatedUnit unit;
  unit.message_weights = make.Matrix(name + ".message.weights", 3 * hidden, hidden);
  unit.message_bias = make.Bias(name + ".message.bias", 3 * hidden);
  unit.state_weights = make.Matrix(name + ".state.weights", 3 * hidden, hidden);
  unit.state_bias = make.Bias(name + ".state.bias", 3 * hidden);
  return unit;
}

// [N, H] to [N, H], the sum over types p of A_p h W_p of the states h of a batch's nodes.
using NeighbourSum = std::function<at::Tensor(const at::Tensor& nodes)>;

class Ggnn final : public Model {
 public:
  explicit Ggnn(const ModelOptions& options)
      : chooses_(options.readout == "choice"),
        banded_(options.adjacency == kBanded),
        hidden_(options.hidden),
        steps_(options.layers),
        types_(options.sizes.edge_types) {
    ParameterMaker make(*this, options.seed);
    embedding_ = make.Matrix("embedding", options.sizes.classes, hidden_);
    for (std::int64_t type = 0; type < types_; ++type)
      type_weights_.push_back(make.Matrix("type" + std::to_string(type), hidden_, hidden_));
    unit_ = MakeGatedUnit(make, "unit", hidden_);
    if (chooses_) {
      score_ = make.Matrix("score", 3 * hidden_, 1);
    } else {
      readout_first_ = MakeLinear(make, "readout.first", hidden_, hidden_);
      readout_second_ = MakeLinear(make, "readout.second", hidden_, options.sizes.targets);
    }
    class_of_token_ = register_buffer("class_of_token", at::tensor(options.token_classes, at::kInt));
  }

  at::Tensor Forward(const GraphTensors& graphs) override {
    const NeighbourSum sum = banded_ ? BandedSum(graphs) : SparseSum(graphs);
    at::Tensor nodes = at::embedding(embedding_, ClassesOf(graphs));
    for (std::int64_t step = 0; step < steps_; ++step) nodes = unit_(sum(nodes), nodes);
    return chooses_ ? ScoresOf(nodes, graphs) : MeanOverNodes(PredictionsOf(nodes), graphs);
  }

 private:
  // i64 [N]. Buffers of a model in f64 are of f64, too.
  at::Tensor ClassesOf(const GraphTensors& graphs) const {
    return chooses_ ? class_of_token_.index_select(0, graphs.tokens).to(at::kLong) : graphs.classes;
  }

  // Messages go along each edge and back: type t has matrix 2t along its edges, and 2t + 1 back.
  static TypedEdges BothWays(const GraphTensors& graphs) {
    const at::Tensor along = graphs.edge_types * 2;
    return {.from = at::cat({graphs.senders, graphs.receivers}),
            .to = at::cat({graphs.receivers, graphs.senders}),
            .types = at::cat({along, along + 1})};
  }

  NeighbourSum SparseSum(const GraphTensors& graphs) const {
    const TypedEdges edges = BothWays(graphs);
    return [this, rows = edges.from * types_ + edges.types, to = edges.to,
            weights = at::cat(type_weights_, 1)](const at::Tensor& nodes) {
      const at::Tensor of_types = nodes.mm(weights).view({nodes.size(0) * types_, hidden_});
      return at::zeros_like(nodes).index_add(0, to, of_types.index_select(0, rows));
    };
  }

  NeighbourSum BandedSum(const GraphTensors& graphs) const {
    TORCH_CHECK(graphs.block_nodes > 0, "a banded sum over the nodes of a batch without blocks");
    const BandSizes sizes = {
        .nodes = graphs.graph_of_node.size(0), .block_nodes = graphs.block_nodes, .types = types_};
    return [blocks = MakeAdjacencyBlocks(BothWays(graphs), sizes, embedding_.scalar_type()),
            weights = at::cat(type_weights_, 0)](const at::Tensor& nodes) {
      return BandedProduct(blocks, nodes).mm(weights);
    };
  }

  // [N], w . [h, s, h s] of the state h of the node and s of its graph's slot; s is 0 where there is none.
  at::Tensor ScoresOf(const at::Tensor& nodes, const GraphTensors& graphs) const {
    const at::Tensor of_slots = at::where((graphs.is_slot > 0).unsqueeze(1), nodes, 0);
    const at::Tensor slot = at::zeros({graphs.n_node.size(0), hidden_}, nodes.options())
                                .index_add(0, graphs.graph_of_node, of_slots)
                                .index_select(0, graphs.graph_of_node);
    return at::cat({nodes, slot, nodes * slot}, 1).mm(score_).squeeze(1);
  }

  // [N, T].
  at::Tensor PredictionsOf(const at::Tensor& nodes) const {
    return readout_second_(readout_first_(nodes).relu());
  }

  const bool chooses_;
  const bool banded_;
  const std::int64_t hidden_;
  const std::int64_t steps_;
  const std::int64_t types_;
  at::Tensor embedding_;
  std::vector<at::Tensor> type_weights_;  // [H, H] each
  GatedUnit unit_;
  at::Tensor score_;
  Linear readout_first_;
  Linear readout_second_;
  at::Tensor class_of_token_;  // i32 [tokens]
};

}  // namespace

std::shared_ptr<Model> CreateGgnn(const ModelOptions& options) {
  return std::make_shared<Ggnn>(Completed(options, kGgnn));
}

}  // namespace packtrain::trainer
