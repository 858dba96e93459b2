#include "trainer/selftest/precision_errors.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "trainer/selftest/random_graphs.h"

namespace packtrain::trainer {
namespace {

struct FirstStep {
  at::Tensor predictions;
  at::Tensor loss;
  std::vector<at::Tensor> gradient;  // by each parameter, flat
};

FirstStep FirstStepOf(Model& model, const GraphTensors& graphs) {
  const at::Tensor known = graphs.weights.select(1, 0).nonzero().squeeze(1);
  const at::Tensor predictions = model.Forward(graphs).index_select(0, known);
  const at::Tensor loss = at::mse_loss(predictions, graphs.targets.index_select(0, known));
  std::vector<at::Tensor> gradient = torch::autograd::grad({loss}, model.parameters());
  for (at::Tensor& part : gradient) part = part.flatten();
  return {predictions.detach(), loss.detach(), std::move(gradient)};
}

FirstStep RightFirstStep(const ModelEntry& entry, ModelOptions options, const GraphTensors& graphs) {
  options.kernels = KernelForm::kPlain;
  options.edge_type = at::kDouble;
  options.filter = {};
  const std::shared_ptr<Model> model = entry.create(options);
  model->to(graphs.positions.device(), at::kDouble);
  return FirstStepOf(*model, InF64(graphs));
}

double RelativeError(const at::Tensor& got, const at::Tensor& expected) {
  return ((got.to(at::kDouble) - expected).norm() / expected.norm()).item<double>();
}

double WorstError(const std::vector<at::Tensor>& got, const std::vector<at::Tensor>& expected) {
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) worst = std::max(worst, RelativeError(got[i], expected[i]));
  return worst;
}

}  // namespace

double ErrorBound(const Roundings& roundings) {
  return 3 * roundings.unit * std::sqrt(roundings.chain / (3 * roundings.terms));
}

PrecisionErrors ErrorsOf(const ModelEntry& entry, const ModelOptions& options, const GraphTensors& graphs) {
  const std::shared_ptr<Model> model = entry.create(options);
  model->to(graphs.positions.device());
  const FirstStep got = FirstStepOf(*model, graphs), right = RightFirstStep(entry, options, graphs);
  return {.predictions = RelativeError(got.predictions, right.predictions),
          .loss = RelativeError(got.loss, right.loss),
          .gradient = RelativeError(at::cat(got.gradient), at::cat(right.gradient)),
          .worst_part = WorstError(got.gradient, right.gradient)};
}

}  // namespace packtrain::trainer
