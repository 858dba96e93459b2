#include "trainer/models/schnet.h"

#include <torch/types.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "trainer/kernels/distances.h"
#include "trainer/kernels/edge_product.h"
#include "trainer/kernels/shifted_softplus.h"
#include "trainer/kernels/table_filters.h"
#include "trainer/kernels/table_schnet.h"
#include "trainer/models/layers.h"
#include "trainer/models/parameter_maker.h"

namespace packtrain::trainer {
namespace {

// A table is no edge-sized data.
at::ScalarType BasisType(const ModelOptions& options) {
  return options.filter == kTable && options.edge_type == at::kBFloat16 ? at::kFloat : options.edge_type;
}

class SchNet final : public Model {
 public:
  explicit SchNet(const ModelOptions& options)
      : kernels_(options.kernels),
        by_table_(options.filter == kTable),
        channels_(options.hidden),
        basis_(*this, BasisType(options)) {
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
    const at::Tensor distances = Distances(graphs, kernels_);
    if constexpr (kHasFusedForms) {
      if (by_table_ && kernels_ == KernelForm::kFused) {
        const TableSchNetWeights weights = Weights();
        if (TakesTableSchNet(weights)) {
          return FusedTableSchNet(weights, {.spacing = DistanceBasis::kSpacing, .width = DistanceBasis::kWidth},
                                  distances, graphs);
        }
      }
    }
    const std::vector<at::Tensor> hidden =
        HiddenFilters(by_table_ ? TableDistances(distances.options()) : distances);
    at::Tensor nodes = at::embedding(embedding_, graphs.classes);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const at::Tensor filters = layers_[i].Filters(hidden[i], kernels_);
      nodes = layers_[i](nodes, by_table_ ? ReadTable(filters, distances) : filters, graphs, kernels_);
    }
    return MeanOverNodes(readout_(nodes, kernels_), graphs);
  }

  std::optional<double> FilterError() override {
    if (!by_table_) return std::nullopt;
    const at::NoGradGuard no_grad;
    const at::Tensor rows = TableDistances(embedding_.options());
    const at::Tensor between = rows.narrow(0, 0, kTableRows - 1) + 0.5 / kTableRowsPerAngstrom;
    const std::vector<at::Tensor> hidden_rows = HiddenFilters(rows), hidden_between = HiddenFilters(between);
    at::Tensor greatest = at::zeros({}, embedding_.options());
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const at::Tensor direct = layers_[i].Filters(hidden_between[i], kernels_);
      const at::Tensor off = ReadTable(layers_[i].Filters(hidden_rows[i], kernels_), between) - direct;
      greatest = at::maximum(greatest, off.abs().max() / direct.abs().max());
    }
    return greatest.item<double>();
  }

 private:
  TableSchNetWeights Weights() const {
    TableSchNetWeights weights = {
        .embedding = embedding_, .layers = {}, .readout_in = readout_.first, .readout_out = readout_.second};
    for (const Interaction& layer : layers_) {
      weights.layers.push_back({.filter_in = layer.filter_in,
                                .filter_out = layer.filter_out,
                                .message = layer.message,
                                .update_in = layer.update.first,
                                .update_out = layer.update.second});
    }
    return weights;
  }

  // What the first halves of the layers' filters make of `distances` [D, 1], [D, C] each. They read the same
  // Gaussians, so they are one product.
  std::vector<at::Tensor> HiddenFilters(const at::Tensor& distances) const {
    std::vector<at::Tensor> matrices;
    for (const Interaction& layer : layers_) matrices.push_back(layer.filter_in);
    const at::Tensor products =
        EdgeProduct(basis_.Expand(distances, kernels_), basis_.Widen(at::cat(matrices, 1)));
    return ShiftedSoftplus(products, kernels_).split(channels_, 1);
  }

  const KernelForm kernels_;
  const bool by_table_;
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
