// SchNet (arXiv 1706.08566) in the sizes of arXiv 2502.00944: continuous-filter convolutions on distances.
#ifndef PACKTRAIN_TRAINER_MODELS_SCHNET_H_
#define PACKTRAIN_TRAINER_MODELS_SCHNET_H_

#include <memory>
#include <string_view>

#include "trainer/models/model.h"
#include "trainer/tasks/regression.h"

namespace packtrain::trainer {

std::shared_ptr<Model> CreateSchNet(const ModelOptions& options);

inline constexpr ModelForm kSchNetForms[] = {{.readout = "mean",
                                              .inputs = {Input::kAtomicNumbers, Input::kPositions},
                                              .optional = {Input::kCells},
                                              .task = kSquaredError}};

inline constexpr std::string_view kSchNetFilters[] = {kDirect, kTable};

inline constexpr ModelEntry kSchNet = {.name = "schnet",
                                       .forms = kSchNetForms,
                                       .hidden = 64,
                                       .layers = 3,
                                       .filters = kSchNetFilters,
                                       .create = CreateSchNet,
                                       .decay = 0.96};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_MODELS_SCHNET_H_
