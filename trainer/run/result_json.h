// The result of a training as the program prints it.
#ifndef PACKTRAIN_TRAINER_RUN_RESULT_JSON_H_
#define PACKTRAIN_TRAINER_RUN_RESULT_JSON_H_

#include <nlohmann/json.hpp>

#include "trainer/run/training.h"

namespace packtrain::trainer {

// Null is what is not known: figures of steady steps where there was none, a loss that no step had, a split
// that is not there or in which no graph has the target. The constant predictor's errors are those on the test
// split, or on val where there is no test.
nlohmann::ordered_json ResultToJson(const TrainingResult& result);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_RESULT_JSON_H_
