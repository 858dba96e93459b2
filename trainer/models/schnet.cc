#include "trainer/models/schnet.h"

#include <torch/types.h>

#include <array>
#include <numbers>
#include <optional>
#include <string>

#include "trainer/models/parameter_maker.h"

namespace packtrain::trainer {
namespace {

constexpr std::int64_t kLatent = 64;
constexpr std::int64_t kLayers = 3;
constexpr std::int64_t kGaussians = 150;
constexpr double kSpacing = 0.1;  // angstrom, between the centres of neighbouring Gaussians
constexpr double kWidth = 0.1;    // square angstrom

at::Tensor ShiftedSoftplus(const at::Tensor& x) { return at::softplus(x) - std::numbers::ln2; }

// Two matrices with a shifted softplus between them, no bias.
struct Mlp {
  at::Tensor first;
  at::Tensor second;

  at::Tensor operator()(const at::Tensor& x) const { return ShiftedSoftplus(x.mm(first)).mm(second); }
};

// One interaction.
struct Layer {
  at::Tensor filter_in;   // W1 [150, 64]
  at::Tensor filter_out;  // W2 [64, 64]
  at::Tensor message;     // W3 [64, 64]
  Mlp update;             // W4, W5 [64, 64]
};

// [E, 1] lengths of the edges.
at::Tensor Distances(const GraphTensors& graphs) {
  const at::Tensor difference =
      graphs.positions.index_select(0, graphs.senders) - graphs.positions.index_select(0, graphs.receivers);
  return difference.square().sum(1, /*keepdim=*/true).sqrt();
}

// [N, 1] incoming edges of each node, at least 1.
at::Tensor Degrees(const GraphTensors& graphs) {
  const at::Tensor ones = at::ones({graphs.receivers.size(0)}, graphs.positions.options());
  const at::Tensor zeros = at::zeros({graphs.positions.size(0)}, graphs.positions.options());
  return zeros.index_add(0, graphs.receivers, ones).clamp_min(1).unsqueeze(1);
}

class SchNet final : public Model {
 public:
  explicit SchNet(const ModelOptions& options) {
    ParameterMaker make(*this, options.seed);
    embedding_ = make.Matrix("embedding", options.classes, kLatent);
    for (std::int64_t i = 0; i < kLayers; ++i) layers_[i] = MakeLayer(make, "layer" + std::to_string(i));
    readout_.first = make.Matrix("readout.W6", kLatent, kLatent / 2);
    readout_.second = make.Matrix("readout.W7", kLatent / 2, 1);
    centres_ = register_buffer("centres", at::arange(kGaussians, at::kFloat) * kSpacing);
  }

  at::Tensor Forward(const GraphTensors& graphs) override {
    const at::Tensor expanded = Expand(Distances(graphs));
    const at::Tensor degrees = Degrees(graphs);
    at::Tensor nodes = at::embedding(embedding_, graphs.classes);
    for (const Layer& layer : layers_) nodes = nodes + Interact(layer, nodes, expanded, degrees, graphs);
    return MeanOverNodes(readout_(nodes).squeeze(1), graphs);
  }

 private:
  static Layer MakeLayer(ParameterMaker& make, const std::string& name) {
    Layer layer;
    layer.filter_in = make.Matrix(name + ".W1", kGaussians, kLatent);
    layer.filter_out = make.Matrix(name + ".W2", kLatent, kLatent);
    layer.message = make.Matrix(name + ".W3", kLatent, kLatent);
    layer.update.first = make.Matrix(name + ".W4", kLatent, kLatent);
    layer.update.second = make.Matrix(name + ".W5", kLatent, kLatent);
    return layer;
  }

  // Gaussians of the distances, [E, 150]. Those below e^-80 are held there: far below f32's resolution of the
  // sums they enter, and exp is slow where its result is no normal number.
  at::Tensor Expand(const at::Tensor& distances) const {
    return (distances - centres_).square_().mul_(-1 / kWidth).clamp_min_(-80).exp_();
  }

  static at::Tensor Interact(const Layer& layer, const at::Tensor& nodes, const at::Tensor& expanded,
                             const at::Tensor& degrees, const GraphTensors& graphs) {
    const at::Tensor filter =
        ShiftedSoftplus(ShiftedSoftplus(expanded.mm(layer.filter_in)).mm(layer.filter_out));
    const at::Tensor messages = nodes.mm(layer.message).index_select(0, graphs.senders) * filter;
    const at::Tensor sums = at::zeros_like(nodes).index_add(0, graphs.receivers, messages);
    return layer.update(sums / degrees);
  }

  static at::Tensor MeanOverNodes(const at::Tensor& values, const GraphTensors& graphs) {
    const at::Tensor zeros = at::zeros({graphs.n_node.size(0)}, values.options());
    return zeros.index_add(0, graphs.graph_of_node, values) / graphs.n_node.clamp_min(1);
  }

  at::Tensor embedding_;
  std::array<Layer, kLayers> layers_;
  Mlp readout_;
  at::Tensor centres_;
};

}  // namespace

std::shared_ptr<Model> CreateSchNet(const ModelOptions& options) { return std::make_shared<SchNet>(options); }

}  // namespace packtrain::trainer
