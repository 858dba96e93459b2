#include "trainer/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/flags/spec_flags.h"
#include "proto/base/flag_checks.h"
#include "trainer/models/model_names.h"
#include "trainer/run/output.h"

namespace packtrain::trainer {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr double kMaxGiveUpSeconds = 1e6;
constexpr double kMaxMeetSeconds = 86'400;
constexpr std::uint64_t kMaxSpoolBytes = std::uint64_t{1} << 50;
constexpr std::int64_t kMaxHidden = 4096;
constexpr std::int64_t kMaxLayers = 1024;
constexpr std::int64_t kMaxEdgeTypes = 2 * 256;
constexpr char kModelGroup[] = "Model";
constexpr char kRunGroup[] = "Run";

constexpr char kExitCodes[] =
    "Exit codes: 0 done, 1 failed or stopped, 2 wrong usage, 3 the server cannot be reached.\n";

// Help that starts with examples.
class ExamplesFirst : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    return app->get_footer() + '\n' + CLI::Formatter::make_help(app, std::move(name), mode);
  }
  std::string make_footer(const CLI::App*) const override { return kExitCodes; }
};

// Of a training.
class TrainingHelp final : public ExamplesFirst {
 public:
  std::string make_footer(const CLI::App*) const override {
    return "`predict` writes predictions of a trained model; `predict --help` says how.\n\n"
           "Several processes train one model where RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are set, as "
           "torchrun "
           "sets them.\n\n" +
           std::string(kExitCodes);
  }
};

std::string Examples(const std::string& program) {
  return "Examples:\n  " + program +
         " --dataset qm9 --model schnet --policy dynamic --graphs 31 --steps 5000\n  " + program +
         " --dataset qm9 --model schnet --policy dynamic --graphs 31 --steps 5000 --checkpoint DIR "
         "--checkpoint-every 500 --resume\n  " +
         program + " predict --checkpoint DIR --dataset qm9 --split test -o test.csv\n  " + program +
         " --model schnet --describe --classes 5\n";
}

constexpr char kDefaultServer[] = "127.0.0.1:7077";

void AddConnectionFlags(CLI::App& app, std::string& server, std::chrono::milliseconds& give_up) {
  server = kDefaultServer;
  app.add_option("--server", server, "HOST:PORT, unix:PATH, dns:///NAME:PORT or ipv4:A:P,B:P")
      ->envname("PACKTRAIN_SERVER")
      ->default_str(kDefaultServer);
  app.add_option_function<double>(
         "--give-up",
         [&give_up](double seconds) {
           give_up = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
         },
         "Seconds to go on trying while the server cannot be reached, and at the end while it takes no record")
      ->check(base::NumberBetween(0, kMaxGiveUpSeconds))
      ->type_name("SECONDS")
      ->default_str("60");
}

void AddThreadsFlag(CLI::App& app, int& threads) {
  app.add_option("--threads", threads, "CPU threads of this process [the cores shared among LOCAL_WORLD_SIZE]")
      ->check(base::CountBetween(1, 4096))
      ->group(kRunGroup);
}

void AddServerFlags(CLI::App& app, Options& options) {
  AddConnectionFlags(app, options.training.server, options.training.give_up);
  app.add_option(
         "--run-server", options.training.run_server,
         "Where the run is reported, where that is another data node than batches come from, as a replica "
         "begins no run [--server]")
      ->check(CLI::Validator([](std::string& server) { return server.empty() ? "it is empty" : ""; }, ""))
      ->type_name("ADDRESS");
  app.add_option_function<double>(
         "--meet-timeout",
         [&options](double seconds) {
           options.training.meet_timeout = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
         },
         "Seconds for the ranks to find each other at MASTER_ADDR:MASTER_PORT; 1 to 86400")
      ->check(base::NumberBetween(1, kMaxMeetSeconds))
      ->type_name("SECONDS")
      ->default_str("120");
  app.add_option(
         "--report-spool-bytes", options.training.report_spool_bytes,
         "Largest file of records that wait for the server while it is away, of each rank: in the folder of "
         "--checkpoint, else in $TMPDIR; BYTES may end in K, M or G")
      ->transform(base::BytesBetween(0, kMaxSpoolBytes))
      ->type_name("BYTES")
      ->default_str("1G");
  app.add_flag("--json", options.json, "Print a failure, too, as one line of JSON on stdout");
}

// What a model has of these it checks itself.
void AddFormFlags(CLI::App& app, ModelFlags& flags) {
  app.add_option("--readout", flags.readout,
                 "How nodes become an answer: " + ReadoutNames() +
                     "; other models have one readout [the first of the model that the data set allows]")
      ->type_name("NAME")
      ->group(kModelGroup);
  app.add_option("--hidden", flags.hidden, "Width of a node's state [that of the model's paper]")
      ->check(base::CountBetween(1, kMaxHidden))
      ->group(kModelGroup);
  app.add_option("--layers", flags.layers, "Layers, or steps of propagation [those of the model's paper]")
      ->check(base::CountBetween(1, kMaxLayers))
      ->group(kModelGroup);
  app.add_option("--edge-types", flags.edge_types,
                 "Types of edges of ggnn, each and its reverse counted [twice those of the data set]")
      ->check(base::CountBetween(1, kMaxEdgeTypes))
      ->group(kModelGroup);
  app.add_option(
         "--adjacency", flags.adjacency,
         "How ggnn sums over edges, with equal results: sparse, or banded, by products of the blocks of "
         "--policy supergraph [sparse]")
      ->type_name("NAME")
      ->group(kModelGroup);
  app.add_option(
         "--filter", flags.filter,
         "How schnet makes the filters of edges: direct, from the distance of each; or table, interpolated "
         "between 1,024 distances 1/64 angstrom apart, off by about 2e-6 at initial weights and faster on a "
         "GPU. A resume has the same [direct]")
      ->type_name("NAME")
      ->group(kModelGroup);
}

void AddModelFlags(CLI::App& app, Options& options) {
  app.add_option("--model", options.training.model, "What to train: " + ModelNames())
      ->required()
      ->type_name("NAME")
      ->group(kModelGroup);
  app.add_option("--classes", options.training.classes,
                 "Classes of atoms, or tokens, in the embedding [those of the data set]")
      ->check(base::CountBetween(1, 1'000'000))
      ->group(kModelGroup);
  AddFormFlags(app, options.training.model_flags);
  app.add_option("--model-seed", options.training.model_seed, "Seed of the initial parameters")
      ->check(base::CountBetween(0, std::numeric_limits<std::uint32_t>::max()))
      ->capture_default_str()
      ->group(kModelGroup);
  app.add_flag("--describe", options.describe, "Print the model's layers as JSON, and end")->group(kModelGroup);
}

RateSchedule ScheduleOf(const std::string& word) {
  if (word == "cosine") return RateSchedule::kCosine;
  return word == "constant" ? RateSchedule::kConstant : RateSchedule::kStaircase;
}

void AddRunFlags(CLI::App& app, TrainingOptions& options) {
  app.add_option("--dataset", options.dataset, "NAME or NAME@VERSION")->group(kRunGroup);
  app.add_option(
         "--target", options.target,
         "What to learn, NAME,...: the targets of a graph, each normalised; a graph need not have all of them "
         "[the first target]")
      ->type_name("NAMES")
      ->group(kRunGroup);
  app.add_option("--steps", options.steps, "Training steps in all")
      ->check(base::CountFrom(1))
      ->group(kRunGroup);
  app.add_option("--lr", options.learning_rate, "Learning rate of Adam, after the warm-up and before its decay")
      ->check(base::NumberBetween(1e-12, 1e3))
      ->capture_default_str()
      ->group(kRunGroup);
  app.add_option_function<std::string>(
         "--lr-schedule", [&options](const std::string& word) { options.schedule = ScheduleOf(word); },
         "How the learning rate goes on: staircase, times the model's factor after each 100,000 steps; cosine, "
         "down to 0 at --steps, which a resume then has the same; constant")
      ->check(CLI::IsMember({"staircase", "cosine", "constant"}))
      ->default_str("staircase")
      ->group(kRunGroup);
  app.add_option("--warmup-steps", options.warmup_steps,
                 "Steps over which the learning rate grows to --lr, step by step; fewer than --steps")
      ->check(base::CountFrom(0))
      ->capture_default_str()
      ->group(kRunGroup);
  app.add_option("--evaluate-every", options.evaluate_every,
                 "Steps from one evaluation to the next [only at the end]")
      ->check(base::CountFrom(1))
      ->group(kRunGroup);
  app.add_option_function<std::string>(
         "--labels",
         [&options](const std::string& text) {
           absl::StatusOr<std::map<std::string, std::string>> labels = ParseLabels(text);
           if (!labels.ok()) throw CLI::ValidationError("--labels", std::string(labels.status().message()));
           options.labels = *std::move(labels);
         },
         "Labels of the run, KEY=VALUE,...; a resume has the same")
      ->group(kRunGroup);
}

void AddStreamFlags(CLI::App& app, TrainingOptions& options) {
  CLI::Option* checkpoint =
      app.add_option("--checkpoint", options.checkpoint.folder, "Folder of the checkpoint, on rank 0's host")
          ->check(CLI::Validator([](std::string& folder) { return folder.empty() ? "it is empty" : ""; }, ""))
          ->type_name("DIR")
          ->group(kRunGroup);
  app.add_option("--checkpoint-every", options.checkpoint.every,
                 "Steps from one checkpoint to the next [only at the end, also of a run that is stopped]")
      ->check(base::CountFrom(1))
      ->needs(checkpoint)
      ->group(kRunGroup);
  CLI::Option* resume = app.add_flag("--resume", options.checkpoint.resume,
                                     "Go on from the checkpoint, where there is one; --steps counts all steps")
                            ->needs(checkpoint)
                            ->group(kRunGroup);
  app.add_option("--read-ahead", options.read_ahead_mib,
                 "MiB of memory for batches that have come before they are due; at most 256 batches")
      ->check(base::CountBetween(1, 1 << 20))
      ->type_name("MIB")
      ->capture_default_str()
      ->group(kRunGroup);
  app.add_option_function<std::string>(
         "--on-corrupt",
         [&options](const std::string& word) {
           options.on_corrupt = word == "skip" ? client::OnCorrupt::kSkip : client::OnCorrupt::kStop;
         },
         "What becomes of a graph that the data node finds damaged: stop (the training ends), or skip (its "
         "batch "
         "is trained without it, and the run lists it); a resume may change it")
      ->check(CLI::IsMember({"stop", "skip"}))
      ->default_str("stop")
      ->group(kRunGroup);
  CLI::Option* step_files =
      app.add_option("--write-steps", options.step_files,
                     "Write the parameters before the first step, and the batch of each step, to files of "
                     "torch.load in this folder, so that another program can repeat a short training")
          ->excludes(resume)
          ->type_name("DIR")
          ->group(kRunGroup);
  app.add_flag("--synthetic", options.synthetic,
               "Serve the first batches again and again from where the step reads them, each captured by "
               "itself: 64, or "
               "--max-captures or an epoch where that is less. No feed can be faster, and the time that a run "
               "without it "
               "takes longer is the cost of input. Labels the run input=synthetic")
      ->excludes(checkpoint)
      ->excludes(step_files)
      ->group(kRunGroup);
}

// Values that a flag has only one of are there so that scripts may name them.
void AddDeviceFlags(CLI::App& app, Options& options) {
  app.add_option("--device", options.training.device, "Where to train: cpu, cuda (in packtrain-trainer-cuda)")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str()
      ->group(kRunGroup);
  app.add_option(
         "--precision", options.training.precision,
         "f32; bf16, which keeps data of edges in bfloat16 and all else in f32; or on a GPU tf32, f32 with "
         "10 bits of mantissa in the factors of matrix products; or on a CPU, for checks, f64 throughout")
      ->check(CLI::IsMember({"f32", "tf32", "bf16", "f64"}))
      ->capture_default_str()
      ->group(kRunGroup);
  app.add_option_function<std::string>(
         "--engine",
         [&options](const std::string& engine) { options.training.captured = engine == "captured"; },
         "How a step runs: eager, operation by operation, or captured, as one CUDA graph for each padded shape "
         "[captured on a GPU]")
      ->check(CLI::IsMember({"eager", "captured"}))
      ->group(kRunGroup);
  app.add_flag("--plain-kernels", options.training.plain_kernels,
               "Torch's operators in place of kernels of our own")
      ->group(kRunGroup);
  app.add_option("--max-captures", options.training.max_captures,
                 "CUDA graphs that are kept, one for each shape or, with --synthetic, batch; beyond, the one "
                 "that was not used for "
                 "longest goes")
      ->check(base::CountBetween(1, 1 << 20))
      ->capture_default_str()
      ->group(kRunGroup);
  AddThreadsFlag(app, options.threads);
}

// Of where to read a model from and where to write what it says.
void AddPredictFlags(CLI::App& app, PredictLine& line) {
  const CLI::Validator not_empty([](std::string& text) { return text.empty() ? "it is empty" : ""; }, "");
  AddConnectionFlags(app, line.options.server, line.options.give_up);
  app.add_flag("--json", line.json, "Print a failure, too, as one line of JSON on stdout");
  app.add_option("--checkpoint", line.options.checkpoint,
                 "Folder of the checkpoint; a training may go on in it meanwhile")
      ->required()
      ->check(not_empty)
      ->type_name("DIR")
      ->group(kRunGroup);
  app.add_option("--dataset", line.options.dataset,
                 "NAME or NAME@VERSION: that of the training or another one with the same inputs")
      ->required()
      ->group(kRunGroup);
  app.add_option("--split", line.options.split, "Of the data set: all, train, val or test")
      ->capture_default_str()
      ->group(kRunGroup);
  app.add_option(
         "-o,--output", line.options.output,
         "CSV: id, each target, each prediction; a row for each graph, in the data set's order. A file of "
         "that name stays until the new one is whole")
      ->required()
      ->check(not_empty)
      ->type_name("FILE")
      ->group(kRunGroup);
  app.add_option("--device", line.options.device, "Where to compute: cpu, cuda (in packtrain-trainer-cuda)")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str()
      ->group(kRunGroup);
  AddThreadsFlag(app, line.threads);
}

// What must be there.
void RequireRun(const TrainingOptions& options) {
  if (options.dataset.empty()) throw CLI::RequiredError("--dataset");
  if (!options.spec.policy) throw CLI::RequiredError("--policy");
  if (options.spec.graphs == 0 && options.spec.policy != wire::Policy::kSupergraph)
    throw CLI::RequiredError("--graphs");
  if (options.steps == 0) throw CLI::RequiredError("--steps");
  if (options.warmup_steps >= options.steps)
    throw CLI::ValidationError("--warmup-steps", "there are to be fewer than --steps");
  if (options.precision == "f64" && !options.checkpoint.folder.empty())
    throw CLI::ValidationError("--precision", "a checkpoint holds f32, not f64");
}

// The label that tells synthetic runs from others.
void RefuseLabelOfItsOwn(const TrainingOptions& options) {
  if (!options.synthetic || !options.labels.contains("input")) return;
  throw CLI::ValidationError("--labels", "the label 'input' is set by --synthetic");
}

int ReportParseEnd(const CLI::App& app, const CLI::ParseError& end, bool json) {
  if (end.get_exit_code() != static_cast<int>(CLI::ExitCodes::Success)) {
    const std::string message = std::string(end.what()) + " (--help shows the usage)";
    PrintFailure(app.get_name(), absl::InvalidArgumentError(message), json);
    return kUsage;
  }
  std::cout << (dynamic_cast<const CLI::CallForVersion*>(&end) ? end.what() + std::string("\n") : app.help())
            << std::flush;
  return std::cout ? 0 : kFailed;
}

// For a line that could not be parsed.
bool AsksForJson(int argc, const char* const* argv) {
  return std::any_of(argv, argv + argc, [](std::string_view word) { return word == "--json"; });
}

}  // namespace

CommandLine ParseCommandLine(const std::string& program, int argc, const char* const* argv) {
  CommandLine line;
  client::SpecFlags spec;
  CLI::App app("Trains a model on batches that packtraind streams, and reports the time of every step",
               program);
  app.footer(Examples(program));
  app.formatter(std::make_shared<TrainingHelp>());
  app.set_version_flag("--version", program + " " PACKTRAIN_VERSION);
  AddServerFlags(app, line.options);
  AddModelFlags(app, line.options);
  AddRunFlags(app, line.options.training);
  AddStreamFlags(app, line.options.training);
  AddDeviceFlags(app, line.options);
  client::AddSpecFlags(app, spec, {.required = false, .epoch = false, .world_size = false});
  try {
    base::RefuseFlagsWithoutValue(argc, argv);
    app.parse(argc, argv);
    line.options.training.spec = spec.spec;
    if (!line.options.describe) RequireRun(line.options.training);
    RefuseLabelOfItsOwn(line.options.training);
  } catch (const CLI::ParseError& end) {
    line.exit_code = ReportParseEnd(app, end, AsksForJson(argc, argv));
  }
  return line;
}

PredictLine ParsePredictLine(const std::string& program, int argc, const char* const* argv) {
  PredictLine line;
  CLI::App app("Writes what a trained model says of each graph to a file", program + " predict");
  app.footer("Examples:\n  " + program + " predict --checkpoint DIR --dataset qm9 --split test -o test.csv\n");
  app.formatter(std::make_shared<ExamplesFirst>());
  AddPredictFlags(app, line);
  try {
    base::RefuseFlagsWithoutValue(argc, argv);
    app.parse(argc, argv);
  } catch (const CLI::ParseError& end) {
    line.exit_code = ReportParseEnd(app, end, AsksForJson(argc, argv));
  }
  return line;
}

absl::StatusOr<std::map<std::string, std::string>> ParseLabels(const std::string& text) {
  std::map<std::string, std::string> labels;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const std::pair<std::string, std::string> label = absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (label.first.empty() || part.find('=') == absl::string_view::npos) {
      return absl::InvalidArgumentError(absl::StrCat("'", part, "' is not KEY=VALUE"));
    }
    if (!labels.insert(label).second)
      return absl::InvalidArgumentError(absl::StrCat("label '", label.first, "' twice"));
  }
  return labels;
}

}  // namespace packtrain::trainer
