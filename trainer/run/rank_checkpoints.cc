#include "trainer/run/rank_checkpoints.h"

#include <torch/types.h>

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "trainer/ranks/gather_on_first.h"
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

// Those of all ranks on rank 0, none on the others.
absl::Status GatherUnsent(client::UnsentRecords& unsent, GradientSync& sync) {
  std::string own;
  if (sync.world().rank > 0) own = EncodeUnsent(std::exchange(unsent, {}));
  ABSL_ASSIGN_OR_RETURN(std::vector<std::string> parts, GatherOnFirst(own, sync));
  for (std::size_t rank = 1; rank < parts.size(); ++rank) {
    ABSL_ASSIGN_OR_RETURN(client::UnsentRecords records, DecodeUnsent(std::exchange(parts[rank], {})));
    Append(std::move(records.steps), unsent.steps);
    Append(std::move(records.evaluations), unsent.evaluations);
    Append(std::move(records.lost), unsent.lost);
  }
  return absl::OkStatus();
}

absl::Status CheckCount(const std::vector<float>& values, const FlatParameters& parameters) {
  const auto count = static_cast<std::size_t>(parameters.values().numel());
  if (values.size() == count) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the checkpoint's model has ", values.size(), " parameters, this program's has ", count));
}

}  // namespace

absl::StatusOr<std::optional<Checkpoint>> ReadCheckpoint(const std::string& file) {
  ABSL_ASSIGN_OR_RETURN(const std::optional<std::string> bytes, CheckpointFolder::ReadFile(file));
  if (!bytes) return std::nullopt;
  absl::StatusOr<Checkpoint> checkpoint = DecodeCheckpoint(*bytes);
  if (checkpoint.ok()) return *std::move(checkpoint);
  return absl::Status(checkpoint.status().code(),
                      absl::StrCat(file, " cannot be used: ", checkpoint.status().message()));
}

// Rank 0 alone has its unsent records: it alone passes them on, and they may be many.
absl::StatusOr<std::optional<Checkpoint>> LoadCheckpoint(const std::optional<CheckpointFolder>& folder,
                                                         GradientSync& sync) {
  absl::StatusOr<std::optional<Checkpoint>> read = std::nullopt;
  if (folder) read = ReadCheckpoint(folder->file());
  ABSL_RETURN_IF_ERROR(sync.AllSucceed(read.status()));
  client::UnsentRecords unsent;
  std::string bytes;
  if (read->has_value()) {
    unsent = std::exchange((*read)->unsent, {});
    bytes = EncodeCheckpoint(**read);
  }
  ABSL_ASSIGN_OR_RETURN(const std::string shared, sync.Share(bytes));
  if (shared.empty()) return std::nullopt;
  ABSL_ASSIGN_OR_RETURN(Checkpoint checkpoint, DecodeCheckpoint(shared));
  checkpoint.unsent = std::move(unsent);
  return checkpoint;
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

absl::Status RestoreParameters(const Checkpoint& checkpoint, FlatParameters& parameters) {
  ABSL_RETURN_IF_ERROR(CheckCount(checkpoint.parameters, parameters));
  const at::NoGradGuard no_grad;
  at::Tensor target = parameters.values();
  target.copy_(TensorOf(checkpoint.parameters));
  return absl::OkStatus();
}

absl::Status RestoreModel(const Checkpoint& checkpoint, FlatParameters& parameters, Adam& adam) {
  for (const std::vector<float>* values :
       {&checkpoint.parameters, &checkpoint.adam_mean, &checkpoint.adam_square}) {
    ABSL_RETURN_IF_ERROR(CheckCount(*values, parameters));
  }
  ABSL_RETURN_IF_ERROR(RestoreParameters(checkpoint, parameters));
  adam.Restore(TensorOf(checkpoint.adam_mean), TensorOf(checkpoint.adam_square), checkpoint.position.steps);
  return absl::OkStatus();
}

}  // namespace packtrain::trainer
