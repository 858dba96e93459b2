// SchNet (arXiv 1706.08566) in the sizes of arXiv 2502.00944: continuous-filter convolutions on distances.
#ifndef PACKTRAIN_TRAINER_MODELS_SCHNET_H_
#define PACKTRAIN_TRAINER_MODELS_SCHNET_H_

#include <memory>

#include "trainer/models/model.h"

namespace packtrain::trainer {

std::shared_ptr<Model> CreateSchNet(const ModelOptions& options);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_MODELS_SCHNET_H_
