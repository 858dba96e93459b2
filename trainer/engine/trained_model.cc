#include "trainer/engine/trained_model.h"

#include <utility>

#include "proto/base/status_macros.h"
#include "trainer/models/f64_model.h"

namespace packtrain::trainer {
namespace {

KernelForm KernelsOf(const TrainedModelOptions& options, const Device& device) {
  return options.plain_kernels ? KernelForm::kPlain : device.kernels();
}

std::shared_ptr<Model> MakeModel(const ModelEntry& entry, const TrainedModelOptions& options,
                                 const Device& device) {
  ModelOptions with_kernels = options.model;
  with_kernels.kernels = KernelsOf(options, device);
  std::shared_ptr<Model> model = entry.create(with_kernels);
  if (options.model.edge_type == at::kDouble) model = MakeF64(std::move(model));
  model->to(device.torch_device());
  return model;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TrainedModel>> TrainedModel::Create(const ModelEntry& entry,
                                                                   const TrainedModelOptions& options,
                                                                   const Device& device, GradientSync& sync) {
  std::unique_ptr<TrainedModel> trained(new TrainedModel(entry, options, device));
  ABSL_ASSIGN_OR_RETURN(trained->engine_, StepEngine::Create({.model = trained->model(),
                                                              .task = trained->task(),
                                                              .inputs = trained->inputs(),
                                                              .parameters = trained->parameters(),
                                                              .adam = trained->adam(),
                                                              .sync = sync,
                                                              .device = device,
                                                              .clock = trained->clock()},
                                                             options.engine));
  return trained;
}

TrainedModel::TrainedModel(const ModelEntry& entry, const TrainedModelOptions& options, const Device& device)
    : model_(MakeModel(entry, options, device)),
      task_(entry.FindForm(options.model.readout)->task.create(options.targets, KernelsOf(options, device))),
      inputs_{.inputs = entry.FindForm(options.model.readout)->AllInputs() | options.inputs,
              .sizes = options.model.sizes},
      parameters_(*model_),
      adam_(parameters_.values(), options.adam, KernelsOf(options, device)),
      clock_(device.NewClock()) {}

}  // namespace packtrain::trainer
