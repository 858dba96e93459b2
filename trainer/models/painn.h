// PaiNN (arXiv 2102.03150) in the sizes of arXiv 2502.00944: nodes have scalars and vectors, which turn with
// the graph.
#ifndef PACKTRAIN_TRAINER_MODELS_PAINN_H_
#define PACKTRAIN_TRAINER_MODELS_PAINN_H_

#include <memory>

#include "trainer/models/model.h"
#include "trainer/tasks/regression.h"

namespace packtrain::trainer {

std::shared_ptr<Model> CreatePainn(const ModelOptions& options);

inline constexpr ModelForm kPainnForms[] = {{.readout = "mean",
                                             .inputs = {Input::kAtomicNumbers, Input::kPositions},
                                             .optional = {Input::kCells},
                                             .task = kSquaredError}};

inline constexpr ModelEntry kPainn = {
    .name = "painn", .forms = kPainnForms, .hidden = 256, .layers = 3, .create = CreatePainn, .decay = 0.98};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_MODELS_PAINN_H_
