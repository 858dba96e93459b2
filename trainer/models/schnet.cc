#include "trainer/models/schnet.h"

#include <torch/types.h>

#include <array>
#include <string>
#include <vector>

#include "trainer/kernels/distances.h"
#include "trainer/kernels/edge_product.h"
#include "trainer/kernels/gaussians.h"
#include "trainer/kernels/shifted_softplus.h"
#include "trainer/kernels/sum_messages.h"
#include "trainer/models/parameter_maker.h"

namespace packtrain::trainer {
namespace {

constexpr std::int64_t kLatent = 64;
constexpr std::int64_t kLayers = 3;
constexpr std::int64_t kGaussians = 150;
constexpr double kSpacing = 0.1;  // angstrom, between the centres of neighbouring Gaussians
constexpr double kWidth = 0.1;    // square angstrom
// In bf16, as tensor cores are fed fastest with rows of a multiple of 16 bytes; those after the 150th have no
// weight.
constexpr std::int64_t kShortGaussians = 152;

// Two matrices with a shifted softplus between them, no bias.
struct Mlp {
  at::Tensor first;
  at::Tensor second;
};

// One interaction.
struct Layer {
  at::Tensor filter_in;   // W1 [150, 64]
  at::Tensor filter_out;  // W2 [64, 64]
  at::Tensor message;     // W3 [64, 64]
  Mlp update;             // W4, W5 [64, 64]
};

class SchNet final : public Model {
 public:
  explicit SchNet(const ModelOptions& options) : kernels_(options.kernels), edge_type_(options.edge_type) {
    ParameterMaker make(*this, options.seed);
    embedding_ = make.Matrix("embedding", options.sizes.classes, kLatent);
    for (std::int64_t i = 0; i < kLayers; ++i) layers_[i] = MakeLayer(make, "layer" + std::to_string(i));
    readout_.first = make.Matrix("readout.W6", kLatent, kLatent / 2);
    readout_.second = make.Matrix("readout.W7", kLatent / 2, 1);
    const std::int64_t gaussians = edge_type_ == at::kBFloat16 ? kShortGaussians : kGaussians;
    centres_ = register_buffer("centres", at::arange(gaussians, at::kFloat) * kSpacing);
    no_weights_ = register_buffer("no_weights", at::zeros({gaussians - kGaussians, kLayers * kLatent}));
  }

  at::Tensor Forward(const GraphTensors& graphs) override {
    const std::vector<at::Tensor> hidden = HiddenFilters(Distances(graphs, kernels_));
    at::Tensor nodes = at::embedding(embedding_, graphs.classes);
    for (std::size_t i = 0; i < layers_.size(); ++i)
      nodes = nodes + Interact(layers_[i], nodes, hidden[i], graphs);
    return MeanOverNodes(Apply(readout_, nodes).squeeze(1), graphs);
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

  at::Tensor Apply(const Mlp& mlp, const at::Tensor& x) const {
    return ShiftedSoftplus(x.mm(mlp.first), kernels_).mm(mlp.second);
  }

  // What the first halves of the layers' filters make of the distances, [E, 64] each. They read the same
  // Gaussians, so they are one product.
  std::vector<at::Tensor> HiddenFilters(const at::Tensor& distances) const {
    const at::Tensor gaussians =
        Gaussians(distances, centres_, {.width = kWidth, .type = edge_type_, .form = kernels_});
    return ShiftedSoftplus(EdgeProduct(gaussians, FilterIn()), kernels_).split(kLatent, 1);
  }

  // [centres, 192]: W1 of all layers.
  at::Tensor FilterIn() const {
    std::vector<at::Tensor> matrices;
    for (const Layer& layer : layers_) matrices.push_back(layer.filter_in);
    const at::Tensor joined = at::cat(matrices, 1);
    return no_weights_.size(0) == 0 ? joined : at::cat({joined, no_weights_});
  }

  at::Tensor Interact(const Layer& layer, const at::Tensor& nodes, const at::Tensor& hidden,
                      const GraphTensors& graphs) const {
    const at::Tensor filter = ShiftedSoftplus(EdgeProduct(hidden, layer.filter_out), kernels_);
    const at::Tensor sums = SumMessages(nodes.mm(layer.message), filter, graphs, kernels_);
    return Apply(layer.update, sums / graphs.in_degree);
  }

  static at::Tensor MeanOverNodes(const at::Tensor& values, const GraphTensors& graphs) {
    const at::Tensor sums = at::zeros({graphs.n_node.size(0)}, values.options());
    return sums.index_add_(0, graphs.graph_of_node, values) / graphs.n_node.clamp_min(1);
  }

  const KernelForm kernels_;
  const at::ScalarType edge_type_;
  at::Tensor embedding_;
  std::array<Layer, kLayers> layers_;
  Mlp readout_;
  at::Tensor centres_;
  at::Tensor no_weights_;
};

}  // namespace

std::shared_ptr<Model> CreateSchNet(const ModelOptions& options) { return std::make_shared<SchNet>(options); }

}  // namespace packtrain::trainer
