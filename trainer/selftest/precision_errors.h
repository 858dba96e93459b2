// What a precision costs in accuracy.
#ifndef PACKTRAIN_TRAINER_SELFTEST_PRECISION_ERRORS_H_
#define PACKTRAIN_TRAINER_SELFTEST_PRECISION_ERRORS_H_

#include "trainer/data/graph_tensors.h"
#include "trainer/models/model.h"

namespace packtrain::trainer {

// Relative to what plain kernels find in f64 with the same parameters: the length of a difference over that of
// the right vector.
struct PrecisionErrors {
  double predictions = 0;  // of graphs of weight 1
  double loss = 0;         // the mean of their squared errors
  double gradient = 0;     // of the loss, by all parameters
  double worst_part = 0;   // of the gradient, by the parameter where it is least exact
};

// Of a new model on `graphs`, which lie on a device that has `options.kernels`. See SetPrecision for what else
// decides.
PrecisionErrors ErrorsOf(const ModelEntry& entry, const ModelOptions& options, const GraphTensors& graphs);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_SELFTEST_PRECISION_ERRORS_H_
