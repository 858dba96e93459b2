#include "trainer/selftest/model_checks.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "trainer/engine/precision.h"
#include "trainer/models/model.h"
#include "trainer/selftest/kernel_expectations.h"
#include "trainer/selftest/precision_errors.h"
#include "trainer/selftest/random_graphs.h"

namespace packtrain::trainer {
namespace {

std::shared_ptr<Model> MakeModel(const std::string& name, ModelOptions options) {
  options.sizes.classes = 5;
  options.seed = 1;
  std::shared_ptr<Model> model = FindModel(name)->create(options);
  model->to(kCard);
  model->to(options.edge_type == at::kDouble ? at::kDouble : at::kFloat);
  return model;
}

// Predictions of the first graphs, and the gradient of the sum of their squares by each parameter.
std::vector<at::Tensor> Differentiate(Model& model, const GraphTensors& graphs, std::int64_t first_graphs) {
  const at::Tensor predictions = model.Forward(graphs).narrow(0, 0, first_graphs);
  std::vector<at::Tensor> results = torch::autograd::grad({predictions.square().sum()}, model.parameters());
  results.push_back(predictions.detach());
  return results;
}

std::vector<at::Tensor> RunModel(const std::string& name, const ModelOptions& options,
                                 const GraphTensors& graphs, std::int64_t real_graphs) {
  const bool in_f64 = options.edge_type == at::kDouble;
  return Differentiate(*MakeModel(name, options), in_f64 ? InF64(graphs) : graphs, real_graphs);
}

absl::Status CheckModel(const std::string& model, const RandomGraphsOptions& options, at::ScalarType edge_type,
                        double tolerance) {
  const GraphTensors graphs = CopyTo(MakeRandomGraphs(options, Random(8)), kCard);
  const std::int64_t real_graphs = options.real.graphs;
  SoilMemory(options, 64);
  const std::vector<at::Tensor> got =
      RunModel(model, {.kernels = KernelForm::kFused, .edge_type = edge_type}, graphs, real_graphs);
  const std::vector<at::Tensor> expected =
      RunModel(model, {.edge_type = at::kDouble}, WithoutPadding(graphs, options.real), real_graphs);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::string name = absl::StrCat(model, ", ", NameOf(options), ", result ", i);
    ABSL_RETURN_IF_ERROR(RequireClose(name, got[i], expected[i], tolerance));
  }
  return absl::OkStatus();
}

absl::Status ModelIsPlain(const std::string& model, at::ScalarType edge_type, double tolerance) {
  for (const RandomGraphsOptions& options :
       {RandomGraphsOptions{.real = {1, 1, 0}, .padded = {2, 8, 16}},
        RandomGraphsOptions{.real = {5, 90, 1500}, .padded = {6, 100, 1600}},
        RandomGraphsOptions{.real = {127, 2250, 38000}, .padded = {128, 2304, 39936}}}) {
    ABSL_RETURN_IF_ERROR(CheckModel(model, options, edge_type, tolerance));
  }
  return absl::OkStatus();
}

// Positions are `stretch` times those of random graphs.
absl::Status CheckTables(const RandomGraphsOptions& options, std::int64_t targets, double stretch) {
  const GraphTensors graphs = CopyTo(MakeRandomGraphs(options, Random(8)), kCard);
  graphs.positions.mul_(stretch);
  const std::int64_t real_graphs = options.real.graphs;
  ModelOptions model = {.sizes = {.targets = targets}, .filter = kTable, .kernels = KernelForm::kFused};
  SoilMemory(options, 64);
  const std::vector<at::Tensor> got = RunModel("schnet", model, graphs, real_graphs);
  const std::vector<at::Tensor> again = RunModel("schnet", model, graphs, real_graphs);
  model.kernels = KernelForm::kPlain;
  model.edge_type = at::kDouble;
  const std::vector<at::Tensor> expected =
      RunModel("schnet", model, WithoutPadding(graphs, options.real), real_graphs);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::string name =
        absl::StrCat(NameOf(options), ", ", targets, " targets, ", stretch, " times as far, result ", i);
    absl::Status status = RequireClose(name, got[i], expected[i], 1e-4);
    if (status.ok()) status = RequireSameBits(name, got[i], again[i]);
    ABSL_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

// Some edges of those stretched graphs are longer than the table.
absl::Status SchNetWithTablesIsPlain() {
  for (const RandomGraphsOptions& options : Shapes()) {
    for (const double stretch : {1, 4}) {
      ABSL_RETURN_IF_ERROR(CheckTables(options, /*targets=*/1, stretch));
    }
  }
  return CheckTables({.real = {9, 290, 2000}, .padded = {10, 301, 2500}}, /*targets=*/4, 1);
}

absl::Status SchNetInF32IsPlain() { return ModelIsPlain("schnet", at::kFloat, 1e-4); }
absl::Status PainnInF32IsPlain() { return ModelIsPlain("painn", at::kFloat, 1e-4); }
absl::Status SchNetInBf16IsNearPlain() {
  SetPrecision("bf16", kCard).value();
  // Five roundings in each of three layers, forth and back; in a single element few terms average.
  return ModelIsPlain("schnet", at::kBFloat16, ErrorBound({.unit = kBf16Roundoff, .chain = 2 * 3 * 5}));
}

absl::Status OneCaptureOfTablesServesAllRealSizes() {
  const RandomGraphsOptions first = {.real = {2, 60, 900}, .padded = {4, 80, 1200}};
  const RandomGraphsOptions second = {.real = {3, 75, 1100}, .padded = first.padded};
  const GraphTensors graphs = CopyTo(MakeRandomGraphs(first, Random(9)), kCard);
  const std::shared_ptr<Model> model = MakeModel("schnet", {.filter = kTable, .kernels = KernelForm::kFused});
  const auto run = [&] { return Differentiate(*model, graphs, first.real.graphs); };
  at::cuda::CUDAGraph graph;
  std::vector<at::Tensor> got;
  c10::cuda::getCurrentCUDAStream().synchronize();
  Capture(graph, [&] { got = run(); });

  CopyInto(MakeRandomGraphs(second, Random(11)), graphs);
  graph.replay();
  const std::vector<at::Tensor> expected = run();
  for (std::size_t i = 0; i < got.size(); ++i)
    ABSL_RETURN_IF_ERROR(RequireSameBits(absl::StrCat("result ", i), got[i], expected[i]));
  return absl::OkStatus();
}

constexpr std::array<Check, 5> kChecks = {
    {{"kernels: SchNet and its gradients are the plain ones", SchNetInF32IsPlain},
     {"kernels: SchNet with tables and its gradients are the plain ones, twice the same",
      SchNetWithTablesIsPlain},
     {"kernels: SchNet with tables captured once serves all real sizes", OneCaptureOfTablesServesAllRealSizes},
     {"kernels: PaiNN and its gradients are the plain ones", PainnInF32IsPlain},
     {"kernels: SchNet in bf16 and its gradients are near the plain ones in f64", SchNetInBf16IsNearPlain}}};

}  // namespace

std::span<const Check> ModelChecks() { return kChecks; }

}  // namespace packtrain::trainer
