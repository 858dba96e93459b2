#include "client/cli/run/run_json.h"

#include <map>

#include "proto/wire/run_words.h"

namespace packtrain::cli {

std::pair<std::string, std::string> SplitReference(const std::string& reference) {
  const std::size_t at = reference.find('@');
  if (at == std::string::npos) return {reference, ""};
  return {reference.substr(0, at), reference.substr(at + 1)};
}

Json RunToJson(const v1::Run& run) {
  const v1::RunDescription& about = run.description();
  const auto [dataset, version] = SplitReference(about.dataset());
  Json labels = Json::object();
  for (const auto& [key, value] :
       std::map<std::string, std::string>(about.labels().begin(), about.labels().end())) {
    labels[key] = value;
  }
  return {{"run", run.run()},
          {"state", wire::StateName(run.state())},
          {"model", about.model()},
          {"target", about.target()},
          {"dataset", dataset},
          {"version", version},
          {"policy", wire::PolicyName(about.spec())},
          {"batch_graphs", about.spec().graphs()},
          {"precision", about.precision()},
          {"engine", about.engine()},
          {"world_size", about.world_size()},
          {"seed", about.spec().seed()},
          {"model_seed", about.model_seed()},
          {"steps", run.steps()},
          {"started", FormatTime(run.started_ms())},
          {"hardware", wire::HardwareName(about.hardware())},
          {"labels", labels}};
}

}  // namespace packtrain::cli
