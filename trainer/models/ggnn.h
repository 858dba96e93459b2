// The gated graph neural network (arXiv 1511.05493): states of nodes go along edges of several types, both
// ways, and a gated recurrent unit takes them in. In the sizes of arXiv 1906.11786.
#ifndef PACKTRAIN_TRAINER_MODELS_GGNN_H_
#define PACKTRAIN_TRAINER_MODELS_GGNN_H_

#include <memory>
#include <string_view>

#include "trainer/models/model.h"
#include "trainer/tasks/choice.h"
#include "trainer/tasks/regression.h"

namespace packtrain::trainer {

std::shared_ptr<Model> CreateGgnn(const ModelOptions& options);

// choice: of programs, a score for each node as the answer for the graph's slot. mean: of molecules, a number
// for each graph.
inline constexpr ModelForm kGgnnForms[] = {
    {.readout = "choice", .inputs = {Input::kTokens, Input::kEdgeTypes, Input::kCandidates}, .task = kChoice},
    {.readout = "mean", .inputs = {Input::kAtomicNumbers, Input::kEdgeTypes}, .task = kSquaredError}};

inline constexpr std::string_view kGgnnAdjacencies[] = {"sparse", kBanded};

inline constexpr ModelEntry kGgnn = {.name = "ggnn",
                                     .forms = kGgnnForms,
                                     .hidden = 128,
                                     .layers = 8,
                                     .adjacencies = kGgnnAdjacencies,
                                     .create = CreateGgnn,
                                     .decay = 0.96};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_MODELS_GGNN_H_
