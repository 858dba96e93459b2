// A model's parameters and gradients, each in one contiguous buffer.
#ifndef PACKTRAIN_TRAINER_ENGINE_FLAT_PARAMETERS_H_
#define PACKTRAIN_TRAINER_ENGINE_FLAT_PARAMETERS_H_

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trainer/engine/step_sums.h"
#include "trainer/models/model.h"

namespace packtrain::trainer {

// Makes reducing and updating one operation each, whatever the number of matrices. Used by one thread.
class FlatParameters {
 public:
  // Moves the parameters of `model`, which lie on their device already, into the buffer: they become views of
  // it.
  explicit FlatParameters(Model& model);

  const at::Tensor& values() const { return values_; }        // [P]
  const at::Tensor& gradients() const { return gradients_; }  // [P], a view of `reduced`
  const at::Tensor& reduced() const { return reduced_; }      // [P + kStepSums]
  const at::Tensor& sums() const { return sums_; }            // [kStepSums], a view of `reduced`, see StepSum

  // Fills `reduced` with the gradient of `loss`, a scalar, and with `sums`, scalars by StepSum. `one` is 1, the
  // gradient of a loss by itself. Frees what was kept for the gradient.
  void Differentiate(const at::Tensor& loss, const at::Tensor& one,
                     const std::array<at::Tensor, kStepSums>& sums);

  // Hash of the values, equal where all bits are.
  std::string Checksum() const;

 private:
  std::vector<at::Tensor> parameters_;
  at::Tensor values_;
  at::Tensor reduced_;
  at::Tensor gradients_;
  at::Tensor sums_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_FLAT_PARAMETERS_H_
