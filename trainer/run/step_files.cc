#include "trainer/run/step_files.h"

#include <system_error>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "trainer/data/tensor_file.h"

namespace packtrain::trainer {
namespace {

constexpr char kParameters[] = "parameters.pt";
constexpr char kStep[] = "step-";
constexpr char kEnding[] = ".pt";

// The name of a parameter or buffer, without those of the modules that hold it.
std::string OwnName(const std::string& name) { return name.substr(name.rfind('.') + 1); }

NamedTensors StateOf(const Model& model) {
  NamedTensors state;
  for (const auto& parameter : model.named_parameters())
    state.emplace_back(OwnName(parameter.key()), parameter.value());
  for (const auto& buffer : model.named_buffers()) state.emplace_back(OwnName(buffer.key()), buffer.value());
  return state;
}

}  // namespace

absl::Status StepFiles::CheckUnused(const std::string& folder) {
  std::error_code error;
  for (std::filesystem::directory_iterator file(folder, error), end; !error && file != end;
       file.increment(error)) {
    const std::string name = file->path().filename();
    if (name != kParameters && !(name.starts_with(kStep) && name.ends_with(kEnding))) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--write-steps ", folder, ": the folder holds ", name, " of an earlier training"));
  }
  return absl::OkStatus();
}

absl::StatusOr<StepFiles> StepFiles::Create(const std::string& folder, const World& world, const Model& model) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return absl::InvalidArgumentError(absl::StrCat("--write-steps ", folder, ": ", error.message()));
  StepFiles files(folder, world.rank);
  if (world.rank == 0) {
    ABSL_RETURN_IF_ERROR(WriteTensors(StateOf(model), files.folder_ / kParameters));
  }
  return files;
}

absl::Status StepFiles::Write(std::uint64_t step, const GraphTensors& graphs) const {
  NamedTensors batch;
  for (const GraphMember& member : GraphMembers()) {
    const at::Tensor& tensor = graphs.*member.tensor;
    if (tensor.defined()) batch.emplace_back(member.name, tensor);
  }
  const absl::Status written =
      WriteTensors(batch, folder_ / absl::StrCat(kStep, step, ".rank-", rank_, kEnding));
  return written.ok() ? written : absl::DataLossError(absl::StrCat("--write-steps: ", written.message()));
}

}  // namespace packtrain::trainer
