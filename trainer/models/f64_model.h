// Models in f64, for checks.
#ifndef PACKTRAIN_TRAINER_MODELS_F64_MODEL_H_
#define PACKTRAIN_TRAINER_MODELS_F64_MODEL_H_

#include <memory>

#include "trainer/models/model.h"

namespace packtrain::trainer {

// `model`, made for edge-sized data in f64, with its parameters in f64. It takes graphs as they are fed and
// computes in f64 throughout; so are its outputs.
std::shared_ptr<Model> MakeF64(std::shared_ptr<Model> model);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_MODELS_F64_MODEL_H_
