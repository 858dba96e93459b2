// Files of tensors by name, which torch.load reads as a dictionary.
//
//   ABSL_RETURN_IF_ERROR(WriteTensors({{"senders", graphs.senders}}, "batch.pt"));
#ifndef PACKTRAIN_TRAINER_DATA_TENSOR_FILE_H_
#define PACKTRAIN_TRAINER_DATA_TENSOR_FILE_H_

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace packtrain::trainer {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

// The file is there whole or not at all. Tensors may be on any device. INVALID_ARGUMENT: it cannot be written.
absl::Status WriteTensors(const NamedTensors& tensors, const std::string& file);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_DATA_TENSOR_FILE_H_
