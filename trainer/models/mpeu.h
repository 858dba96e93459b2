// The message passing network with edge updates (arXiv 1806.03146) in the sizes of arXiv 2502.00944: SchNet
// whose edges have states of their own.
#ifndef PACKTRAIN_TRAINER_MODELS_MPEU_H_
#define PACKTRAIN_TRAINER_MODELS_MPEU_H_

#include <memory>

#include "trainer/models/model.h"
#include "trainer/tasks/regression.h"

namespace packtrain::trainer {

std::shared_ptr<Model> CreateMpeu(const ModelOptions& options);

inline constexpr ModelForm kMpeuForms[] = {{.readout = "mean",
                                            .inputs = {Input::kAtomicNumbers, Input::kPositions},
                                            .optional = {Input::kCells},
                                            .task = kSquaredError}};

inline constexpr ModelEntry kMpeu = {
    .name = "mpeu", .forms = kMpeuForms, .hidden = 64, .layers = 3, .create = CreateMpeu, .decay = 0.96};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_MODELS_MPEU_H_
