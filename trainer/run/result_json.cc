#include "trainer/run/result_json.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace packtrain::trainer {
namespace {

using Json = nlohmann::ordered_json;

Json NullUnless(bool known, double value) { return known ? Json(value) : Json(nullptr); }

// The metrics of `split`, and the constant answer's beside them, which are those of the last split in the end.
void AddMetrics(const char* split, const std::vector<Metric>& metrics, std::uint64_t graphs, Json& json) {
  json[split] = Json::object();
  json["constant_predictor"] = Json::object();
  for (const Metric& metric : metrics) {
    json[split][std::string(metric.name)] = metric.value;
    json["constant_predictor"][std::string(metric.name)] = metric.constant;
  }
  json[split]["graphs"] = graphs;
}

void AddSplits(const TrainingResult& result, Json& json) {
  for (const char* split : {"val", "test"}) {
    const auto found = result.splits.find(split);
    if (found == result.splits.end()) continue;
    AddMetrics(split, found->second.metrics, found->second.graphs, json);
    for (const TargetMetrics& target : found->second.targets) {
      Json& of_target = json["targets"][target.name];
      of_target["unit"] = target.unit;
      AddMetrics(split, target.metrics, target.graphs, of_target);
    }
  }
}

}  // namespace

Json ResultToJson(const TrainingResult& result) {
  const SteadyFigures& steady = result.steady;
  const auto of_steady_steps = [&steady](double value) { return NullUnless(steady.steps > 0, value); };
  Json json = {{"run", result.run},
               {"steps", result.steps},
               {"graphs", result.graphs},
               {"steady_step_us",
                {{"mean", of_steady_steps(steady.mean_us)},
                 {"median", of_steady_steps(steady.median_us)},
                 {"p95", of_steady_steps(steady.p95_us)}}},
               {"graphs_per_second", of_steady_steps(result.graphs_per_second)},
               {"wait_share", of_steady_steps(steady.wait_share)},
               {"captures", result.captures.captures},
               {"evaluation_captures", result.evaluation_captures.captures},
               {"evictions", result.captures.evictions + result.evaluation_captures.evictions},
               {"loss", NullUnless(!std::isnan(result.loss), result.loss)},
               {"targets", Json::object()},
               {"val", nullptr},
               {"test", nullptr},
               {"constant_predictor", nullptr}};
  AddSplits(result, json);
  return json;
}

}  // namespace packtrain::trainer
