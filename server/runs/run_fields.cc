#include "server/runs/run_fields.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace packtrain::runs {
namespace {

constexpr std::string_view kLabelPrefix = "label.";

std::string PadName(v1::Pad pad) {
  switch (pad) {
    case v1::PAD_NONE:
      return "none";
    case v1::PAD_POW2:
      return "pow2";
    case v1::PAD_CONSTANT:
      return "constant";
    default:
      return "multiple";
  }
}

std::string DatasetName(const v1::RunDescription& description) {
  return description.dataset().substr(0, description.dataset().find('@'));
}

std::string DatasetVersion(const v1::RunDescription& description) {
  const std::size_t at = description.dataset().find('@');
  return at == std::string::npos ? "" : description.dataset().substr(at + 1);
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
      {"state", [](const v1::Run& run) { return StateName(run.state()); }},
      {"model", text([](const Description& d) { return d.model(); })},
      {"target", text([](const Description& d) { return d.target(); })},
      {"dataset", text(DatasetName)},
      {"version", text(DatasetVersion)},
      {"policy", text([](const Description& d) { return PolicyName(d.spec()); })},
      {"batch_graphs", number([](const v1::Run& run) { return run.description().spec().graphs(); })},
      {"precision", text([](const Description& d) { return d.precision(); })},
      {"engine", text([](const Description& d) { return d.engine(); })},
      {"world_size", number([](const v1::Run& run) { return run.description().world_size(); })},
      {"seed", number([](const v1::Run& run) { return run.description().spec().seed(); })},
      {"model_seed", number([](const v1::Run& run) { return run.description().model_seed(); })},
      {"steps", number([](const v1::Run& run) { return run.steps(); })},
      {"hardware", text([](const Description& d) { return HardwareName(d.hardware()); })},
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

std::string PolicyName(const v1::BatchSpec& spec) {
  switch (spec.policy()) {
    case v1::POLICY_STATIC:
      return absl::StrCat("static-", PadName(spec.pad()));
    case v1::POLICY_DYNAMIC:
      return "dynamic";
    default:
      return "";
  }
}

std::string HardwareName(const v1::Hardware& hardware) {
  const std::string& name = hardware.name().empty() ? hardware.device() : hardware.name();
  return hardware.count() > 1 ? absl::StrCat(hardware.count(), " x ", name) : name;
}

std::string StateName(v1::RunState state) {
  switch (state) {
    case v1::RUN_STATE_RUNNING:
      return "running";
    case v1::RUN_STATE_DONE:
      return "done";
    case v1::RUN_STATE_FAILED:
      return "failed";
    case v1::RUN_STATE_LOST:
      return "lost";
    default:
      return "";
  }
}

std::map<std::string, std::string> Factors(const v1::RunDescription& description) {
  return {
      {"policy", PolicyName(description.spec())},
      {"model", description.model()},
      {"target", description.target()},
      {"dataset", description.dataset()},
      {"precision", description.precision()},
      {"engine", description.engine()},
      {"world_size", absl::StrCat(description.world_size())},
      {"graphs", absl::StrCat(description.spec().graphs())},
      {"hardware", HardwareName(description.hardware())},
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

}  // namespace packtrain::runs
