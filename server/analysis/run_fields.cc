#include "server/analysis/run_fields.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/wire/batch_spec_convert.h"
#include "proto/wire/run_words.h"

namespace packtrain::analysis {
namespace {

constexpr std::string_view kLabelPrefix = "label.";

std::string DatasetName(const v1::RunDescription& description) {
  return description.dataset().substr(0, description.dataset().find('@'));
}

std::string DatasetVersion(const v1::RunDescription& description) {
  const std::size_t at = description.dataset().find('@');
  return at == std::string::npos ? "" : description.dataset().substr(at + 1);
}

// The devices of one rank: how many ranks there are is a factor of its own.
std::string HardwareOfARank(const v1::RunDescription& description) {
  v1::Hardware hardware = description.hardware();
  hardware.set_count(hardware.count() / std::max(1u, description.world_size()));
  return wire::HardwareName(hardware);
}

using Fields = std::map<std::string, FieldReader, std::less<>>;

Fields MakeFields() {
  const auto text = [](auto read) -> FieldReader {
    return [read](const v1::Run& run) { return std::string(read(run.description())); };
  };
  const auto number = [](auto read) -> FieldReader {
    return [read](const v1::Run& run) { return absl::StrCat(read(run)); };
  };
  using Description = v1::RunDescription;
  return {
      {"run", [](const v1::Run& run) { return run.run(); }},
      {"state", [](const v1::Run& run) { return wire::StateName(run.state()); }},
      {"model", text([](const Description& d) { return d.model(); })},
      {"target", text([](const Description& d) { return d.target(); })},
      {"dataset", text(DatasetName)},
      {"version", text(DatasetVersion)},
      {"policy", text([](const Description& d) { return wire::PolicyName(d.spec()); })},
      {"batch_graphs", number([](const v1::Run& run) { return run.description().spec().graphs(); })},
      {"precision", text([](const Description& d) { return d.precision(); })},
      {"engine", text([](const Description& d) { return d.engine(); })},
      {"world_size", number([](const v1::Run& run) { return run.description().world_size(); })},
      {"seed", number([](const v1::Run& run) { return run.description().spec().seed(); })},
      {"model_seed", number([](const v1::Run& run) { return run.description().model_seed(); })},
      {"steps", number([](const v1::Run& run) { return run.steps(); })},
      {"hardware", text([](const Description& d) { return wire::HardwareName(d.hardware()); })},
  };
}

FieldReader LabelReader(std::string label) {
  return [label = std::move(label)](const v1::Run& run) -> std::optional<std::string> {
    const auto found = run.description().labels().find(label);
    if (found == run.description().labels().end()) return std::nullopt;
    return found->second;
  };
}

}  // namespace

std::map<std::string, std::string> Factors(const v1::RunDescription& description) {
  return {
      {"policy", wire::PolicyName(description.spec())},
      {"model", description.model()},
      {"target", description.target()},
      {"dataset", DatasetName(description)},
      {"version", DatasetVersion(description)},
      {"precision", description.precision()},
      {"engine", description.engine()},
      {"world_size", absl::StrCat(description.world_size())},
      {"batch_graphs", absl::StrCat(description.spec().graphs())},
      {"hardware", HardwareOfARank(description)},
  };
}

FieldReader FindField(std::string_view key) {
  if (key.starts_with(kLabelPrefix) && key.size() > kLabelPrefix.size()) {
    return LabelReader(std::string(key.substr(kLabelPrefix.size())));
  }
  Fields fields = MakeFields();
  const auto found = fields.find(key);
  return found == fields.end() ? FieldReader() : std::move(found->second);
}

std::string KnownFields() {
  return absl::StrCat(
      absl::StrJoin(MakeFields(), ", ", [](std::string* out, const auto& field) { out->append(field.first); }),
      ", label.NAME");
}

}  // namespace packtrain::analysis
