#include "trainer/models/model.h"

#include <array>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "trainer/models/schnet.h"

namespace packtrain::trainer {
namespace {

// One row a model.
constexpr std::array kModels = {
    kSchNet,
};

}  // namespace

std::span<const ModelEntry> Models() { return kModels; }

absl::StatusOr<ModelEntry> FindModel(std::string_view name) {
  std::string known;
  for (const ModelEntry& entry : kModels) {
    if (entry.name == name) return entry;
    absl::StrAppend(&known, known.empty() ? "" : ", ", std::string(entry.name));
  }
  return absl::NotFoundError(absl::StrCat("no model '", std::string(name), "'; --model knows: ", known));
}

std::int64_t CountParameters(const Model& model) {
  std::int64_t count = 0;
  for (const at::Tensor& parameter : model.parameters()) count += parameter.numel();
  return count;
}

}  // namespace packtrain::trainer
