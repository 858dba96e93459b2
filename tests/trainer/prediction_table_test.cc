#include <gmock/gmock.h>

#include <limits>
#include <vector>

#include "trainer/run/prediction_table.h"

namespace packtrain::trainer {
namespace {

TEST(PredictionTable, HasAColumnForEachTargetAndEachPrediction) {
  EXPECT_EQ(PredictionHeader({"gap", "U0"}), "id,gap,U0,predicted_gap,predicted_U0\n");
  EXPECT_EQ(PredictionHeader({"a \"b\", c"}), "id,\"a \"\"b\"\", c\",\"predicted_a \"\"b\"\", c\"\n");
}

TEST(PredictionTable, HasValuesAsTheyAreAndNothingWhereThereIsNone) {
  const std::vector<double> values = {0.1, std::numeric_limits<double>::quiet_NaN(), -12.024000000000001};
  EXPECT_EQ(PredictionRow("a,b", values, std::vector<double>{1.0 / 3}),
            "\"a,b\",0.1,,-12.024000000000001,0.333333333\n");
}

}  // namespace
}  // namespace packtrain::trainer
