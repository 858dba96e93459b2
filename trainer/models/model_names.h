// The names in the table of models, for what needs no Torch.
#ifndef PACKTRAIN_TRAINER_MODELS_MODEL_NAMES_H_
#define PACKTRAIN_TRAINER_MODELS_MODEL_NAMES_H_

#include <string>

namespace packtrain::trainer {

// As people read them: "schnet", or "schnet, painn".
std::string ModelNames();

// The readouts of the models that have several: "max or linear of pna".
std::string ReadoutNames();

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_MODELS_MODEL_NAMES_H_
