#include "trainer/engine/flat_parameters.h"

#include <torch/types.h>

#include <string_view>
#include <vector>

#include "proto/wire/content_hash.h"

namespace packtrain::trainer {

FlatParameters::FlatParameters(Model& model) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> parameters = model.parameters();
  std::vector<at::Tensor> flattened;
  for (const at::Tensor& parameter : parameters) flattened.push_back(parameter.detach().flatten());
  values_ = at::cat(flattened);
  const std::int64_t count = values_.numel();
  reduced_ = at::zeros({count + kSums}, values_.options());
  gradients_ = reduced_.narrow(0, 0, count);
  sums_ = reduced_.narrow(0, count, kSums);

  std::int64_t offset = 0;
  for (at::Tensor& parameter : parameters) {
    const std::int64_t size = parameter.numel();
    parameter.set_data(values_.narrow(0, offset, size).view(parameter.sizes()));
    parameter.mutable_grad() = gradients_.narrow(0, offset, size).view(parameter.sizes());
    offset += size;
  }
}

std::string FlatParameters::Checksum() const {
  const at::Tensor host = values_.cpu();
  return wire::HexSha256({reinterpret_cast<const char*>(host.const_data_ptr()), host.nbytes()});
}

}  // namespace packtrain::trainer
