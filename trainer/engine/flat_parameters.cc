#include "trainer/engine/flat_parameters.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <string_view>
#include <vector>

#include "proto/base/content_hash.h"

namespace packtrain::trainer {

FlatParameters::FlatParameters(Model& model) : parameters_(model.parameters()) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> flattened;
  for (const at::Tensor& parameter : parameters_) flattened.push_back(parameter.detach().flatten());
  values_ = at::cat(flattened);
  const std::int64_t count = values_.numel();
  reduced_ = at::zeros({count + static_cast<std::int64_t>(kStepSums)}, values_.options());
  gradients_ = reduced_.narrow(0, 0, count);
  sums_ = reduced_.narrow(0, count, kStepSums);

  std::int64_t offset = 0;
  for (at::Tensor& parameter : parameters_) {
    const std::int64_t size = parameter.numel();
    parameter.set_data(values_.narrow(0, offset, size).view(parameter.sizes()));
    offset += size;
  }
}

void FlatParameters::Differentiate(const at::Tensor& loss, const at::Tensor& one,
                                   const std::array<at::Tensor, kStepSums>& sums) {
  std::vector<at::Tensor> parts = torch::autograd::grad({loss}, parameters_, {one});
  const at::NoGradGuard no_grad;
  for (at::Tensor& part : parts) part = part.flatten();
  for (const at::Tensor& sum : sums) parts.push_back(sum.detach().to(reduced_.scalar_type()).view(1));
  at::cat_out(reduced_, parts);
}

std::string FlatParameters::Checksum() const {
  const at::Tensor host = values_.cpu();
  return base::HexSha256({reinterpret_cast<const char*>(host.const_data_ptr()), host.nbytes()});
}

}  // namespace packtrain::trainer
