// A model's parameters and gradients, each in one contiguous buffer.
#ifndef PACKTRAIN_TRAINER_ENGINE_FLAT_PARAMETERS_H_
#define PACKTRAIN_TRAINER_ENGINE_FLAT_PARAMETERS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "trainer/models/model.h"

namespace packtrain::trainer {

// Makes zeroing, reducing and updating one operation each, whatever the number of matrices. The gradient buffer
// has three elements more, for what is reduced together with the gradients. Used by one thread.
class FlatParameters {
 public:
  // Elements of `sums`: squared errors, graphs that count, and ranks that withdraw from the step.
  enum Sum : std::int64_t { kLoss, kGraphs, kWithdrawals, kSums };

  // Moves the parameters of `model`, which lie on their device already, into the buffer: they become views of
  // it, and backward adds to the views of the gradient buffer.
  explicit FlatParameters(Model& model);

  const at::Tensor& values() const { return values_; }        // [P]
  const at::Tensor& gradients() const { return gradients_; }  // [P], a view of `reduced`
  const at::Tensor& reduced() const { return reduced_; }      // [P + 3]
  const at::Tensor& sums() const { return sums_; }            // [3], a view of `reduced`, see Sum

  // Zeroes all of `reduced`.
  void ZeroGradients() { reduced_.zero_(); }

  // Hash of the values, equal where all bits are.
  std::string Checksum() const;

 private:
  at::Tensor values_;
  at::Tensor reduced_;
  at::Tensor gradients_;
  at::Tensor sums_;
};

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_ENGINE_FLAT_PARAMETERS_H_
