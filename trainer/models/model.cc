#include "trainer/models/model.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "trainer/models/ggnn.h"
#include "trainer/models/model_names.h"
#include "trainer/models/mpeu.h"
#include "trainer/models/painn.h"
#include "trainer/models/pna.h"
#include "trainer/models/schnet.h"

namespace packtrain::trainer {
namespace {

// One row a model.
constexpr std::array kModels = {
    kSchNet, kMpeu, kPainn, kPna, kGgnn,
};

std::vector<std::string> ReadoutsOf(const ModelEntry& entry) {
  std::vector<std::string> readouts;
  for (const ModelForm& form : entry.forms) readouts.emplace_back(form.readout);
  return readouts;
}

bool ReadsEdgeTypes(const ModelEntry& entry) {
  return std::ranges::any_of(entry.forms,
                             [](const ModelForm& form) { return form.inputs.Has(Input::kEdgeTypes); });
}

absl::Status Refuse(const std::string& flag, const ModelEntry& entry, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(flag, ": ", std::string(entry.name), " has ", what));
}

absl::Status CheckReadout(const ModelFlags& flags, const ModelEntry& entry) {
  if (!flags.readout.has_value() || (!flags.readout->empty() && entry.FindForm(*flags.readout) != nullptr))
    return absl::OkStatus();
  return Refuse(absl::StrCat("--readout ", *flags.readout), entry, absl::StrJoin(ReadoutsOf(entry), ", "));
}

absl::Status CheckChoice(const std::string& flag, const std::optional<std::string>& value,
                         std::span<const std::string_view> choices, const ModelEntry& entry) {
  if (!value.has_value()) return absl::OkStatus();
  if (choices.empty()) return Refuse(flag, entry, "nothing to choose there");
  if (std::ranges::find(choices, *value) != choices.end()) return absl::OkStatus();
  const std::vector<std::string> known(choices.begin(), choices.end());
  return Refuse(absl::StrCat(flag, " ", *value), entry, absl::StrJoin(known, ", "));
}

}  // namespace

const ModelForm* ModelEntry::FindForm(std::string_view readout) const {
  if (readout.empty()) return &forms.front();
  const auto found = std::ranges::find(forms, readout, &ModelForm::readout);
  return found == forms.end() ? nullptr : &*found;
}

std::span<const ModelEntry> Models() { return kModels; }

absl::StatusOr<ModelEntry> FindModel(std::string_view name) {
  for (const ModelEntry& entry : kModels) {
    if (entry.name == name) return entry;
  }
  return absl::NotFoundError(absl::StrCat("no model '", std::string(name), "'; --model knows: ", ModelNames()));
}

absl::Status CheckFlags(const ModelFlags& flags, const ModelEntry& entry) {
  for (const absl::Status& status :
       {CheckReadout(flags, entry), CheckChoice("--adjacency", flags.adjacency, entry.adjacencies, entry),
        CheckChoice("--filter", flags.filter, entry.filters, entry)}) {
    if (!status.ok()) return status;
  }
  if (!flags.edge_types.has_value() || ReadsEdgeTypes(entry)) return absl::OkStatus();
  return Refuse("--edge-types", entry, "no types of edges");
}

std::vector<ModelForm> FormsFor(const ModelFlags& flags, const ModelEntry& entry) {
  if (flags.readout.has_value()) return {*entry.FindForm(*flags.readout)};
  return {entry.forms.begin(), entry.forms.end()};
}

ModelOptions Completed(ModelOptions options, const ModelEntry& entry) {
  if (options.hidden == 0) options.hidden = entry.hidden;
  if (options.layers == 0) options.layers = entry.layers;
  if (options.readout.empty()) options.readout = entry.forms.front().readout;
  if (options.adjacency.empty() && !entry.adjacencies.empty()) options.adjacency = entry.adjacencies.front();
  if (options.filter.empty() && !entry.filters.empty()) options.filter = entry.filters.front();
  return options;
}

std::map<std::string, std::string> DescribeChoices(const ModelEntry& entry, const ModelOptions& given) {
  const ModelOptions options = Completed(given, entry);
  std::map<std::string, std::string> choices;
  const auto add_unusual = [&choices](const char* name, std::int64_t size, std::int64_t usual) {
    if (size != usual) choices[name] = absl::StrCat(size);
  };
  add_unusual("hidden", options.hidden, entry.hidden);
  add_unusual("layers", options.layers, entry.layers);
  add_unusual("edge_types", options.sizes.edge_types, 0);
  if (entry.forms.size() > 1) choices["readout"] = std::string(options.readout);
  if (!options.adjacency.empty()) choices["adjacency"] = std::string(options.adjacency);
  if (!entry.filters.empty() && options.filter != entry.filters.front()) {
    choices["filter"] = std::string(options.filter);
  }
  const double degree = options.sizes.mean_log_degree;
  if (degree != 0) choices["mean_log_degree"] = absl::StrFormat("%.12g", degree);
  return choices;
}

std::string ModelNames() {
  std::string names;
  for (const ModelEntry& entry : kModels) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", std::string(entry.name));
  }
  return names;
}

std::string ReadoutNames() {
  std::string names;
  for (const ModelEntry& entry : kModels) {
    if (entry.forms.size() == 1) continue;
    absl::StrAppend(&names, names.empty() ? "" : "; ", absl::StrJoin(ReadoutsOf(entry), " or "), " of ",
                    std::string(entry.name));
  }
  return names;
}

std::int64_t CountParameters(const Model& model) {
  std::int64_t count = 0;
  for (const at::Tensor& parameter : model.parameters()) count += parameter.numel();
  return count;
}

}  // namespace packtrain::trainer
