// The predictions of a trained model, written back against the source ids of the graphs.
//
//   const absl::StatusOr<PredictionResult> result =
//       Predict({.checkpoint = "runs/1", .dataset = "qm9", .split = "test", .output = "test.csv"}, stop);
#ifndef PACKTRAIN_TRAINER_RUN_PREDICTION_H_
#define PACKTRAIN_TRAINER_RUN_PREDICTION_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"

namespace packtrain::trainer {

struct PredictionOptions {
  std::string server;
  std::chrono::milliseconds give_up{60'000};
  std::string checkpoint;     // its folder, in which a trainer may be at work
  std::string dataset;        // NAME or NAME@VERSION; that of the training or another one
  std::string split = "all";  // of `dataset`
  std::string output;         // file
  std::string device = "cpu";
  std::function<void(const std::string& line)> progress;  // from any thread
};

struct PredictionResult {
  std::uint64_t rows = 0;
  bool on_stdout = false;  // `output` is what the program's results are printed to
};

// Writes `output`, whole or not at all: a header `id,A,..,predicted_A,..` for the targets that the model was
// trained for, then a row for each graph of the split, in the data set's order. A target that a graph, or all
// of the data set, does not have is an empty cell. Predictions are in the target's unit, computed in f32. The
// normalisation and the classes are those of the training's data set, which is to be on the server still.
//
// INVALID_ARGUMENT: the file cannot be written. NOT_FOUND: no checkpoint, data set or
// split. FAILED_PRECONDITION: the checkpoint is of a model without targets, or the data set lacks what the
// model reads, or has atoms or words that it was not trained with. DATA_LOSS: the checkpoint is corrupt, or a
// graph. CANCELLED: asked to stop. UNAVAILABLE: the server could not be reached.
absl::StatusOr<PredictionResult> Predict(const PredictionOptions& options, const std::stop_token& stop);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_RUN_PREDICTION_H_
