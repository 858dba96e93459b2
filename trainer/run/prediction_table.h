// Predictions as lines of CSV (RFC 4180, but for its line ends: each is one line feed).
#ifndef PACKTRAIN_TRAINER_RUN_PREDICTION_TABLE_H_
#define PACKTRAIN_TRAINER_RUN_PREDICTION_TABLE_H_

#include <span>
#include <string>
#include <vector>

namespace packtrain::trainer {

// "id,A,B,predicted_A,predicted_B" for targets A and B.
std::string PredictionHeader(const std::vector<std::string>& targets);

// Of one graph. Values of the targets are given to the last bit, and are empty cells where they are NaN;
// predictions have nine digits.
std::string PredictionRow(const std::string& id, std::span<const double> values,
                          std::span<const double> predictions);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_PREDICTION_TABLE_H_
