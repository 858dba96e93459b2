#include "trainer/run/result_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "proto/base/json_text.h"

namespace packtrain::trainer {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ResultJson, NullIsWhatIsNotKnownAndNothingElse) {
  TrainingResult result;
  result.steps = 3;
  result.steady = {.mean_us = kNaN, .median_us = kNaN, .p95_us = kNaN, .wait_share = kNaN};
  result.graphs_per_second = kNaN;
  result.loss = kNaN;
  const nlohmann::ordered_json json = ResultToJson(result);
  for (const char* key : {"graphs_per_second", "wait_share", "loss", "val", "test", "constant_predictor"}) {
    EXPECT_TRUE(json[key].is_null()) << key;
  }
  EXPECT_EQ(json["steady_step_us"].dump(), R"({"mean":null,"median":null,"p95":null})");
}

TEST(ResultJson, MetricsThatAreNoNumbersStayApart) {
  TrainingResult result;
  result.loss = kInfinity;
  result.splits["val"] = {
      .graphs = 2,
      .metrics = {{.name = "mae", .label = "MAE", .value = kNaN, .constant = 1},
                  {.name = "rmse", .label = "RMSE", .value = -kInfinity, .constant = kInfinity}}};
  const nlohmann::ordered_json printed = nlohmann::ordered_json::parse(base::JsonText(ResultToJson(result)));
  EXPECT_EQ(printed["loss"], "Infinity");
  EXPECT_EQ(printed["val"].dump(), R"({"mae":"NaN","rmse":"-Infinity","graphs":2})");
  EXPECT_EQ(printed["constant_predictor"].dump(), R"({"mae":1.0,"rmse":"Infinity"})");
}

TEST(ResultJson, EachTargetHasItsMetricsAndItsUnit) {
  TrainingResult result;
  EXPECT_EQ(ResultToJson(result)["targets"].dump(), "{}");
  const std::vector<Metric> mae = {{.name = "mae", .label = "MAE", .value = 2, .constant = 3}};
  for (const char* split : {"val", "test"}) {
    result.splits[split].targets = {{.name = "gap", .unit = "eV", .graphs = 5, .metrics = mae},
                                    {.name = "U0", .unit = "", .graphs = 4, .metrics = mae}};
  }
  EXPECT_EQ(ResultToJson(result)["targets"].dump(),
            R"({"gap":{"unit":"eV","val":{"mae":2.0,"graphs":5},"constant_predictor":{"mae":3.0},)"
            R"("test":{"mae":2.0,"graphs":5}},)"
            R"("U0":{"unit":"","val":{"mae":2.0,"graphs":4},"constant_predictor":{"mae":3.0},)"
            R"("test":{"mae":2.0,"graphs":4}}})");
}

}  // namespace
}  // namespace packtrain::trainer
