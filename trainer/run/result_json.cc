#include "trainer/run/result_json.h"

#include <cmath>
#include <string>

namespace packtrain::trainer {
namespace {

using Json = nlohmann::ordered_json;

Json NullUnless(bool known, double value) { return known ? Json(value) : Json(nullptr); }

void AddSplits(const TrainingResult& result, Json& json) {
  for (const char* split : {"val", "test"}) {
    const auto found = result.splits.find(split);
    if (found == result.splits.end()) continue;
    json[split] = Json::object();
    json["constant_predictor"] = Json::object();
    for (const Metric& metric : found->second.metrics) {
      json[split][std::string(metric.name)] = metric.value;
      json["constant_predictor"][std::string(metric.name)] = metric.constant;
    }
    json[split]["graphs"] = found->second.graphs;
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
               {"val", nullptr},
               {"test", nullptr},
               {"constant_predictor", nullptr}};
  AddSplits(result, json);
  return json;
}

}  // namespace packtrain::trainer
