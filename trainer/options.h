// The command line of the trainer.
#ifndef PACKTRAIN_TRAINER_OPTIONS_H_
#define PACKTRAIN_TRAINER_OPTIONS_H_

#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "trainer/run/prediction.h"
#include "trainer/run/training_options.h"

namespace packtrain::trainer {

struct Options {
  TrainingOptions training;  // but for its world and its functions
  int threads = 0;           // 0: the host's cores shared among its processes
  bool describe = false;     // show the model and end
  bool json = false;         // failures as JSON on stdout
};

// What main does next: train with `options`, or end with `exit_code`, all being said.
struct CommandLine {
  Options options;
  std::optional<int> exit_code;
};

// Parses for the program called `program`, with defaults from the environment; prints help, the version and
// usage errors itself.
CommandLine ParseCommandLine(const std::string& program, int argc, const char* const* argv);

// Of the subcommand `predict`.
struct PredictLine {
  PredictionOptions options;  // but for its functions
  int threads = 0;            // as in Options
  bool json = false;
  std::optional<int> exit_code;
};

// As ParseCommandLine; `argv` begins with "predict".
PredictLine ParsePredictLine(const std::string& program, int argc, const char* const* argv);

// "a=b,c=d". INVALID_ARGUMENT: a part without a name or without "=", or a name twice.
absl::StatusOr<std::map<std::string, std::string>> ParseLabels(const std::string& text);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_OPTIONS_H_
