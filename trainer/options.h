// The command line of the trainer.
#ifndef PACKTRAIN_TRAINER_OPTIONS_H_
#define PACKTRAIN_TRAINER_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "client/batch_spec.h"
#include "trainer/data/read_ahead.h"
#include "trainer/engine/engine_options.h"

namespace packtrain::trainer {

struct Options {
  std::string server;
  std::chrono::milliseconds give_up{60'000};
  std::string dataset;
  client::BatchSpec spec;
  std::string target;  // empty: the first one
  std::string model;
  std::optional<std::int64_t> classes;  // absent: as many as the data set has
  std::uint32_t model_seed = 0;
  std::uint64_t steps = 0;
  double learning_rate = 1e-4;
  std::uint64_t evaluate_every = 0;    // 0: only at the end
  std::string checkpoint;              // folder; empty: no checkpoints
  std::uint64_t checkpoint_every = 0;  // 0: only at the end
  bool resume = false;
  std::string device = "cpu";
  std::string precision = "f32";
  std::optional<bool> captured;  // the engine; absent: where the device and the ranks can
  std::size_t max_captures = EngineOptions().max_captures;
  bool plain_kernels = false;
  std::uint64_t read_ahead_mib = kReadAheadMib;
  bool synthetic = false;
  int threads = 0;  // 0: the host's cores shared among its processes
  std::map<std::string, std::string> labels;
  bool describe = false;  // show the model and end
  bool json = false;      // failures as JSON on stdout
};

// What main does next: train with `options`, or end with `exit_code`, all being said.
struct CommandLine {
  Options options;
  std::optional<int> exit_code;
};

// Parses for the program called `program`, with defaults from the environment; prints help, the version and
// usage errors itself.
CommandLine ParseCommandLine(const std::string& program, int argc, const char* const* argv);

// "a=b,c=d". INVALID_ARGUMENT: a part without a name or without "=", or a name twice.
absl::StatusOr<std::map<std::string, std::string>> ParseLabels(const std::string& text);

}  // namespace packtrain::trainer

#endif  // PACKTRAIN_TRAINER_OPTIONS_H_
