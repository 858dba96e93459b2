// What a precision costs in accuracy.
#ifndef PACKTRAIN_TRAINER_SELFTEST_PRECISION_ERRORS_H_
#define PACKTRAIN_TRAINER_SELFTEST_PRECISION_ERRORS_H_

#include "trainer/data/graph_tensors.h"
#include "trainer/models/model.h"

namespace packtrain::trainer {

// Relative to what plain kernels find in f64 with the same parameters and the model's first filter: the length
// of a difference over that of the right vector.
struct PrecisionErrors {
  double predictions = 0;  // of graphs of weight 1
  double loss = 0;         // the mean of their squared errors
  double gradient = 0;     // of the loss, by all parameters
  double worst_part = 0;   // of the gradient, by the parameter where it is least exact
};

// What is rounded between the inputs and a result.
struct Roundings {
  double unit = 0;   // unit roundoff: the greatest error of one rounding, relative to the value
  double chain = 0;  // roundings one behind another
  double terms = 1;  // values, rounded apart from each other, that add up to one value of the result
};

inline constexpr double kF32Roundoff = 0x1p-24;
inline constexpr double kTf32Roundoff = 0x1p-11;
inline constexpr double kBf16Roundoff = 0x1p-9;

// The relative error of a vector that its roundings explain. A rounding is off by at most `unit` of the value,
// uniformly, so by unit / sqrt(3) in root mean square. Roundings are independent: over a chain the squares of
// their errors add up, and a sum of terms of one size is off by sqrt(terms) less than each of them. Normal
// errors exceed three times that once in some hundred.
double ErrorBound(const Roundings& roundings);

// Of a new model on `graphs`, which lie on a device that has `options.kernels`. See SetPrecision for what else
// decides.
PrecisionErrors ErrorsOf(const ModelEntry& entry, const ModelOptions& options, const GraphTensors& graphs);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_SELFTEST_PRECISION_ERRORS_H_
