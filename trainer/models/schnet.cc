#include "trainer/models/schnet.h"

#include <torch/types.h>

#include <algorithm>
#include <string>
#include <vector>

#include "trainer/kernels/edge_product.h"
#include "trainer/kernels/shifted_softplus.h"
#include "trainer/models/layers.h"
#include "trainer/models/parameter_maker.h"

namespace packtrain::trainer {
namespace {

class SchNet final : public Model {
 public:
  explicit SchNet(const ModelOptions& options)
      : kernels_(options.kernels), channels_(options.hidden), basis_(*this, options.edge_type) {
    ParameterMaker make(*this, options.seed);
    embedding_ = make.Matrix("embedding", options.sizes.classes, channels_);
    for (std::int64_t i = 0; i < options.layers; ++i) {
      layers_.push_back(
          MakeInteraction(make, "layer" + std::to_string(i), DistanceBasis::kGaussians, channels_));
    }
    const std::int64_t half = std::max<std::int64_t>(channels_ / 2, 1);
    readout_.first = make.Matrix("readout.W6", channels_, half);
    readout_.second = make.Matrix("readout.W7", half, options.sizes.targets);
  }

  at::Tensor Forward(const GraphTensors& graphs) override {
    const std::vector<at::Tensor> hidden = HiddenFilters(graphs);
    at::Tensor nodes = at::embedding(embedding_, graphs.classes);
    for (std::size_t i = 0; i < layers_.size(); ++i) nodes = layers_[i](nodes, hidden[i], graphs, kernels_);
    return MeanOverNodes(readout_(nodes, kernels_), graphs);
  }

 private:
  // What the first halves of the layers' filters make of the distances, [E, C] each. They read the same
  // Gaussians, so they are one product.
  std::vector<at::Tensor> HiddenFilters(const GraphTensors& graphs) const {
    std::vector<at::Tensor> matrices;
    for (const Interaction& layer : layers_) matrices.push_back(layer.filter_in);
    const at::Tensor products =
        EdgeProduct(basis_.Expand(graphs, kernels_), basis_.Widen(at::cat(matrices, 1)));
    return ShiftedSoftplus(products, kernels_).split(channels_, 1);
  }

  const KernelForm kernels_;
  const std::int64_t channels_;
  const DistanceBasis basis_;
  at::Tensor embedding_;
  std::vector<Interaction> layers_;
  Mlp readout_;
};

}  // namespace

std::shared_ptr<Model> CreateSchNet(const ModelOptions& options) {
  return std::make_shared<SchNet>(Completed(options, kSchNet));
}

}  // namespace packtrain::trainer
