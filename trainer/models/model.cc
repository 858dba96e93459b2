#include "trainer/models/model.h"

#include <array>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "trainer/models/model_names.h"
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
  for (const ModelEntry& entry : kModels) {
    if (entry.name == name) return entry;
  }
  return absl::NotFoundError(absl::StrCat("no model '", std::string(name), "'; --model knows: ", ModelNames()));
}

std::string ModelNames() {
  std::string names;
  for (const ModelEntry& entry : kModels) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", std::string(entry.name));
  }
  return names;
}

std::int64_t CountParameters(const Model& model) {
  std::int64_t count = 0;
  for (const at::Tensor& parameter : model.parameters()) count += parameter.numel();
  return count;
}

}  // namespace packtrain::trainer
