#include "trainer/run/rank_checkpoints.h"

#include <torch/types.h>

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "trainer/run/rank_totals.h"

namespace packtrain::trainer {
namespace {

std::vector<float> ValuesOf(const at::Tensor& tensor) {
  const at::Tensor host = tensor.cpu();
  const float* values = host.const_data_ptr<float>();
  return {values, values + host.numel()};
}

// Borrows `values`.
at::Tensor TensorOf(const std::vector<float>& values) {
  return at::from_blob(const_cast<float*>(values.data()), {static_cast<std::int64_t>(values.size())},
                       at::kFloat);
}

template <typename T>
void Append(std::vector<T> more, std::vector<T>& records) {
  records.insert(records.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

absl::Status GatherUnsent(client::UnsentRecords& unsent, GradientSync& sync) {
  ABSL_ASSIGN_OR_RETURN(const std::vector<std::string> parts, sync.Gather(EncodeUnsent(unsent)));
  unsent = {};
  for (const std::string& part : parts) {
    ABSL_ASSIGN_OR_RETURN(client::UnsentRecords records, DecodeUnsent(part));
    Append(std::move(records.steps), unsent.steps);
    Append(std::move(records.evaluations), unsent.evaluations);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<Checkpoint>> LoadCheckpoint(const std::optional<CheckpointFolder>& folder,
                                                         GradientSync& sync) {
  const absl::StatusOr<std::optional<std::string>> read = folder ? folder->Read() : std::nullopt;
  ABSL_RETURN_IF_ERROR(sync.AllSucceed(read.status()));
  ABSL_ASSIGN_OR_RETURN(const std::string shared, sync.Share(read->value_or("")));
  if (shared.empty()) return std::nullopt;
  absl::StatusOr<Checkpoint> checkpoint = DecodeCheckpoint(shared);
  if (checkpoint.ok()) return *std::move(checkpoint);
  return absl::Status(checkpoint.status().code(),
                      absl::StrCat(folder ? folder->file() : "rank 0's checkpoint",
                                   " cannot be used: ", checkpoint.status().message()));
}

absl::Status SaveCheckpoint(Checkpoint checkpoint, const FlatParameters& parameters, const Adam& adam,
                            const std::optional<CheckpointFolder>& folder, GradientSync& sync) {
  ABSL_RETURN_IF_ERROR(GatherUnsent(checkpoint.unsent, sync));
  ABSL_RETURN_IF_ERROR(SumGraphs(checkpoint.totals, sync));
  if (!folder) return absl::OkStatus();
  checkpoint.parameters = ValuesOf(parameters.values());
  checkpoint.adam_mean = ValuesOf(adam.mean());
  checkpoint.adam_square = ValuesOf(adam.square());
  return folder->Write(EncodeCheckpoint(checkpoint));
}

absl::Status RestoreModel(const Checkpoint& checkpoint, FlatParameters& parameters, Adam& adam) {
  const auto count = static_cast<std::size_t>(parameters.values().numel());
  for (const std::vector<float>* values :
       {&checkpoint.parameters, &checkpoint.adam_mean, &checkpoint.adam_square}) {
    if (values->size() == count) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("the checkpoint's model has ", values->size(), " parameters, this program's has ", count));
  }
  const at::NoGradGuard no_grad;
  at::Tensor target = parameters.values();
  target.copy_(TensorOf(checkpoint.parameters));
  adam.Restore(TensorOf(checkpoint.adam_mean), TensorOf(checkpoint.adam_square), checkpoint.position.steps);
  return absl::OkStatus();
}

}  // namespace packtrain::trainer
