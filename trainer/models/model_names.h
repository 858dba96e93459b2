// The names in the table of models, for what needs no Torch.
#ifndef PACKTRAIN_TRAINER_MODELS_MODEL_NAMES_H_
#define PACKTRAIN_TRAINER_MODELS_MODEL_NAMES_H_

#include <string>

namespace packtrain::trainer {

// As people read them: "schnet", or "schnet, painn".
std::string ModelNames();

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_MODELS_MODEL_NAMES_H_
