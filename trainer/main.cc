// packtrain-trainer: flags -> options -> training -> one line of JSON.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/util/Logging.h>
#include <pthread.h>
#include <unistd.h>
#include <csignal>

#include <chrono>
#include <cstdlib>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/process_memory.h"
#include "proto/base/standard_descriptors.h"
#include "trainer/models/model.h"
#include "trainer/options.h"
#include "trainer/ranks/world.h"
#include "trainer/run/output.h"
#include "trainer/run/prediction.h"
#include "trainer/run/result_json.h"
#include "trainer/run/training.h"
#include "trainer/selftest/selftest_command.h"

namespace packtrain::trainer {
namespace {

using Json = nlohmann::ordered_json;

enum ExitCode { kDone = 0, kFailed = 1, kUsage = 2, kUnreachable = 3 };

// Says why on another thread than main's, which does not come to it.
[[noreturn]] void EndProcess(const absl::Status& status, bool json) {
  PrintFailure(PACKTRAIN_PROGRAM, status, json);
  std::_Exit(kFailed);
}

// Turns SIGINT and SIGTERM into a request to stop; a further one ends the process at once, but not within a
// second of the first: programs such as `timeout` send a signal to the process and to its group. To be made
// before any other thread, which then do not get these signals.
class SignalWatch {
 public:
  SignalWatch(std::stop_source& stop, bool json) : json_(json) {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, kQuit}) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    thread_ = std::thread([this, &stop] { Wait(stop); });
  }
  ~SignalWatch() {
    pthread_kill(thread_.native_handle(), kQuit);
    thread_.join();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kQuit = SIGUSR1;
  static constexpr std::chrono::seconds kOneRequest{1};

  void Wait(std::stop_source& stop) {
    Clock::time_point first;
    for (int signal = 0; sigwait(&signals_, &signal) == 0 && signal != kQuit;) {
      const bool is_first = stop.request_stop();
      if (is_first) first = Clock::now();
      if (is_first || Clock::now() - first < kOneRequest) continue;
      EndProcess(absl::CancelledError("ended at once by a second signal, without a checkpoint"), json_);
    }
  }

  const bool json_;
  sigset_t signals_;
  std::thread thread_;
};

ExitCode ExitCodeOf(const absl::Status& status) {
  if (absl::IsInvalidArgument(status)) return kUsage;
  return absl::IsUnavailable(status) ? kUnreachable : kFailed;
}

int Fail(bool json, const absl::Status& status) {
  PrintFailure(PACKTRAIN_PROGRAM, status, json);
  return ExitCodeOf(status);
}

int Succeed(bool json, const Json& result) {
  const absl::Status printed = PrintResult(result);
  return printed.ok() ? kDone : Fail(json, printed);
}

// The model of `training`, with the flags that it has.
absl::StatusOr<ModelEntry> EntryOf(const TrainingOptions& training) {
  absl::StatusOr<ModelEntry> entry = FindModel(training.model);
  if (!entry.ok()) return absl::InvalidArgumentError(entry.status().message());
  if (absl::Status status = CheckFlags(training.model_flags, *entry); !status.ok()) return status;
  return entry;
}

// What a data set would say of the inputs of `form`.
absl::StatusOr<InputSizes> SizesWithoutDataset(const ModelForm& form, const TrainingOptions& training) {
  constexpr std::int64_t kOgbFeatures = 9;  // of `import --features ogb`
  const bool has_classes = form.inputs.Has(Input::kAtomicNumbers) || form.inputs.Has(Input::kTokens);
  if (has_classes && !training.classes.has_value())
    return absl::InvalidArgumentError("--describe needs --classes");
  if (form.inputs.Has(Input::kEdgeTypes) && !training.model_flags.edge_types.has_value())
    return absl::InvalidArgumentError("--describe needs --edge-types");
  return InputSizes{.classes = training.classes.value_or(0),
                    .node_features = kOgbFeatures,
                    .edge_types = training.model_flags.edge_types.value_or(0)};
}

int Describe(const Options& options) {
  const TrainingOptions& training = options.training;
  const absl::StatusOr<ModelEntry> entry = EntryOf(training);
  if (!entry.ok()) return Fail(options.json, entry.status());
  const ModelForm form = FormsFor(training.model_flags, *entry).front();
  const absl::StatusOr<InputSizes> sizes = SizesWithoutDataset(form, training);
  if (!sizes.ok()) return Fail(options.json, sizes.status());
  const std::shared_ptr<Model> model = entry->create({.sizes = *sizes,
                                                      .readout = form.readout,
                                                      .hidden = training.model_flags.hidden.value_or(0),
                                                      .layers = training.model_flags.layers.value_or(0),
                                                      .seed = training.model_seed});
  Json layers = Json::array();
  for (const auto& parameter : model->named_parameters()) {
    layers.push_back({{"name", parameter.key()},
                      {"shape", parameter.value().sizes().vec()},
                      {"parameters", parameter.value().numel()}});
  }
  return Succeed(options.json,
                 {{"model", training.model}, {"parameters", CountParameters(*model)}, {"layers", layers}});
}

TrainingOptions OptionsOfRank(const Options& options, const World& world) {
  TrainingOptions training = options.training;
  training.world = world;
  training.end_process = [json = options.json](const absl::Status& status) { EndProcess(status, json); };
  training.progress = PrintProgress;
  return training;
}

// Says what a failure means for the model.
absl::Status WithWhatIsKept(const Options& options, const absl::Status& status) {
  if (!absl::IsUnavailable(status) || !options.training.checkpoint.folder.empty()) return status;
  return absl::UnavailableError(
      absl::StrCat(status.message(), "; nothing of the model was kept: --checkpoint DIR keeps it"));
}

// Numbers below the smallest normal one cost a hundred times their worth: Gaussians of far edges are such.
// `threads` 0: this process's share.
void SetUpTorch(int threads, const World& world) {
  at::globalContext().setFlushDenormal(true);
  at::set_num_threads(threads > 0 ? threads : ThreadsPerProcess(world, std::thread::hardware_concurrency()));
}

int TrainAndPrint(const Options& options, const std::stop_token& stop) {
  const absl::StatusOr<World> world = WorldFromEnvironment([](const char* name) { return std::getenv(name); });
  if (!world.ok()) return Fail(options.json, world.status());
  if (const absl::StatusOr<ModelEntry> entry = EntryOf(options.training); !entry.ok())
    return Fail(options.json, entry.status());
  SetUpTorch(options.threads, *world);
  const absl::StatusOr<TrainingResult> result = Train(OptionsOfRank(options, *world), stop);
  if (!result.ok()) return Fail(options.json, WithWhatIsKept(options, result.status()));
  return world->rank == 0 ? Succeed(options.json, ResultToJson(*result)) : kDone;
}

// Sets `name` where the environment lacks it; whether it did.
bool SetDefault(const char* name, const char* value) {
  if (std::getenv(name) != nullptr) return false;
  return setenv(name, value, /*overwrite=*/0) == 0;
}

// What libraries read from the environment. Starts this program again where that was missing which OpenMP reads
// before main; returns where it was not, or where that is not possible.
void SetLibraryDefaults(char** argv) {
  // Torch says nothing of sockets that close; the rank that is gone is named once, by us.
  SetDefault("TORCH_CPP_LOG_LEVEL", "ERROR");
  c10::initLogging();
  // NVLink's multicast is left off: a process that dies while it uses it can put all of a host's cards out of
  // service. Read when NCCL is first used.
  SetDefault("NCCL_NVLS_ENABLE", "0");
  // OpenMP threads sleep while they wait: on a host shared with others, spinning ones make a step several times
  // longer.
  if (SetDefault("OMP_WAIT_POLICY", "passive")) execv("/proc/self/exe", argv);
}

// `argv` begins with the subcommand, `program_argv` with the program.
int PredictAndPrint(int argc, char** argv, char** program_argv) {
  const PredictLine line = ParsePredictLine(PACKTRAIN_PROGRAM, argc, argv);
  if (line.exit_code.has_value()) return *line.exit_code;
  SetLibraryDefaults(program_argv);
  client::KeepFreedMemory();
  std::stop_source stop;
  const SignalWatch watch(stop, line.json);
  SetUpTorch(line.threads, World{});
  PredictionOptions options = line.options;
  options.progress = PrintProgress;
  const absl::StatusOr<PredictionResult> result = Predict(options, stop.get_token());
  if (!result.ok()) return Fail(line.json, result.status());
  if (!result->on_stdout) return Succeed(line.json, {{"rows", result->rows}});
  PrintProgress(absl::StrCat(result->rows, " rows"));
  return kDone;
}

int Main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "predict") return PredictAndPrint(argc - 1, argv + 1, argv);
  if (argc > 1 && std::string_view(argv[1]) == "selftest") {
    SetLibraryDefaults(argv);
    return SelftestCommand(argc - 1, argv + 1);
  }
  const CommandLine line = ParseCommandLine(PACKTRAIN_PROGRAM, argc, argv);
  if (line.exit_code.has_value()) return *line.exit_code;
  if (line.options.describe) return Describe(line.options);
  SetLibraryDefaults(argv);
  // A rank that is gone is an error of the write to it, which names the rank, and not the end of this process.
  std::signal(SIGPIPE, SIG_IGN);
  client::KeepFreedMemory();
  std::stop_source stop;
  const SignalWatch watch(stop, line.options.json);
  return TrainAndPrint(line.options, stop.get_token());
}

}  // namespace
}  // namespace packtrain::trainer

int main(int argc, char** argv) {
  if (!packtrain::base::HoldStandardDescriptors()) return 1;
  return packtrain::trainer::Main(argc, argv);
}
