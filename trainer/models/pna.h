// Principal neighbourhood aggregation (arXiv 2004.05718): what neighbours send is aggregated in four ways, each
// scaled in three by the node's degree. In the sizes of the PNA benchmark of PyTorch Geometric.
#ifndef PACKTRAIN_TRAINER_MODELS_PNA_H_
#define PACKTRAIN_TRAINER_MODELS_PNA_H_

#include <memory>

#include "trainer/models/model.h"
#include "trainer/tasks/regression.h"

namespace packtrain::trainer {

std::shared_ptr<Model> CreatePna(const ModelOptions& options);

// max: the last layer gives a number for each node, and a graph takes the greatest. linear: a graph takes the
// greatest of each channel, and a linear layer makes a number of them.
inline constexpr InputSet kPnaInputs = {Input::kNodeFeatures, Input::kDegrees};
inline constexpr ModelForm kPnaForms[] = {{.readout = "max", .inputs = kPnaInputs, .task = kAbsoluteError},
                                          {.readout = "linear", .inputs = kPnaInputs, .task = kAbsoluteError}};

inline constexpr ModelEntry kPna = {
    .name = "pna", .forms = kPnaForms, .hidden = 64, .layers = 64, .create = CreatePna, .decay = 1};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_MODELS_PNA_H_
