#include "trainer/selftest/bench.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/types.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "trainer/data/tensor_file.h"
#include "trainer/engine/precision.h"
#include "trainer/engine/step_timeline.h"
#include "trainer/engine/trained_model.h"
#include "trainer/models/model.h"
#include "trainer/ranks/gradient_sync.h"
#include "trainer/run/step_statistics.h"
#include "trainer/selftest/precision_errors.h"
#include "trainer/selftest/random_graphs.h"

namespace packtrain::trainer {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr std::int64_t kClasses = 5;
constexpr std::uint32_t kGraphNodes = 18;

wire::Shape FullGraphs(std::uint32_t graphs) {
  return {graphs, graphs * kGraphNodes, graphs * kGraphNodes * (kGraphNodes - 1)};
}

const char* EngineName(const BenchCase& bench) { return bench.captured ? "captured" : "eager"; }
const char* KernelsName(const BenchCase& bench) { return bench.fused ? "fused" : "plain"; }

// On the host.
GraphTensors GraphsOf(const BenchCase& bench) {
  return MakeFullGraphs({.real = bench.real, .padded = bench.padded, .classes = kClasses},
                        at::detail::createCPUGenerator(/*seed_val=*/1));
}

// One training on the same graphs for ever. Used by one thread.
class Bench {
 public:
  static absl::StatusOr<std::unique_ptr<Bench>> Create(const BenchCase& bench, const Device& device) {
    ABSL_ASSIGN_OR_RETURN(const ModelEntry entry, FindModel(bench.model));
    ABSL_ASSIGN_OR_RETURN(const at::ScalarType edge_type, SetPrecision(bench.precision, device.torch_device()));
    const ModelOptions model = {.sizes = {.classes = kClasses},
                                .filter = bench.filter,
                                .kernels = bench.fused ? device.kernels() : KernelForm::kPlain,
                                .edge_type = edge_type};
    ABSL_ASSIGN_OR_RETURN(std::unique_ptr<GradientSync> sync, GradientSync::Connect(World(), {}));
    ABSL_ASSIGN_OR_RETURN(std::unique_ptr<TrainedModel> trained,
                          TrainedModel::Create(entry,
                                               {.model = model,
                                                .adam = {.decay = entry.decay},
                                                .engine = {.captured = bench.captured},
                                                .plain_kernels = !bench.fused},
                                               device, *sync));
    auto created = std::make_unique<Bench>(bench, device.torch_device(), std::move(sync), std::move(trained));
    created->errors_ = ErrorsOf(entry, model, created->graphs_);
    return created;
  }

  Bench(const BenchCase& bench, at::Device device, std::unique_ptr<GradientSync> sync,
        std::unique_ptr<TrainedModel> trained)
      : case_(bench),
        graphs_(CopyTo(GraphsOf(bench), device)),
        sync_(std::move(sync)),
        trained_(std::move(trained)) {}

  absl::StatusOr<SteadyFigures> Time(const BenchOptions& options) {
    StepTimeline timeline(trained_->clock(), [this](const wire::StepRecord& step, const StepReading& reading) {
      Learn(step, reading);
    });
    Clock::time_point start;
    for (std::uint64_t step = 0; step < options.warm_up + options.steps; ++step) {
      if (step == options.warm_up) {
        timeline.HandOver(/*max_pending=*/0);
        start = Clock::now();
      }
      wire::StepRecord record;
      record.flags = step < options.warm_up ? wire::kWarmUp : 0u;
      timeline.Begin(record);
      Fill(trained_->engine().InputsFor(case_.padded), step);
      ABSL_ASSIGN_OR_RETURN(const std::uint64_t capture_ns, trained_->engine().Step(step));
      timeline.End(capture_ns);
    }
    timeline.HandOver(/*max_pending=*/0);
    wall_seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
    if (halted_) return absl::InternalError("the loss is not a finite number");
    return statistics_.Steady();
  }

  // Of the first step.
  const PrecisionErrors& errors() const { return errors_; }

  // Of the normalised predictions as they are now.
  double MeanAbsoluteError() {
    const at::NoGradGuard no_grad;
    const at::Tensor error = (trained_->model().Forward(graphs_) - graphs_.targets).abs();
    return (at::where(graphs_.weights > 0, error, 0).sum() / graphs_.weights.sum()).item<double>();
  }

  // Of the steps that count, by the host's clock and by the steps' totals.
  double wall_seconds() const { return wall_seconds_; }
  double total_seconds() const { return static_cast<double>(total_ns_) * 1e-9; }

 private:
  // The inputs of a captured step stay where they are.
  void Fill(const GraphTensors& inputs, std::uint64_t step) {
    if (!case_.captured || step == 0) CopyInto(graphs_, inputs);
  }

  void Learn(const wire::StepRecord& step, const StepReading& reading) {
    halted_ = halted_ || reading.sums[kHalted] > 0;
    if ((step.flags & wire::kWarmUp) == 0) total_ns_ += step.total_ns;
    wire::StepRecord counted = step;
    if (!case_.captured) counted.total_ns -= std::min(step.copy_ns, step.total_ns);
    statistics_.Add(counted);
  }

  const BenchCase case_;
  const GraphTensors graphs_;
  const std::unique_ptr<GradientSync> sync_;
  const std::unique_ptr<TrainedModel> trained_;
  PrecisionErrors errors_;
  StepStatistics statistics_;
  std::uint64_t total_ns_ = 0;
  double wall_seconds_ = 0;
  bool halted_ = false;
};

// With both kernels.
void AddCases(BenchCase bench, bool captured, const std::string& precision, std::vector<BenchCase>& cases) {
  bench.captured = captured;
  bench.precision = precision;
  for (const bool fused : {false, true}) {
    bench.fused = fused;
    cases.push_back(bench);
  }
}

Json ToJson(const PrecisionErrors& errors) {
  return {{"predictions", errors.predictions},
          {"loss", errors.loss},
          {"gradient", errors.gradient},
          {"worst_part", errors.worst_part}};
}

}  // namespace

std::string NameOf(const BenchCase& bench) {
  const std::string filter = bench.filter.empty() ? "" : absl::StrCat(" with ", std::string(bench.filter));
  return absl::StrCat("bench: ", bench.model, filter, ", ", bench.padded.nodes, " nodes, ", bench.padded.edges,
                      " edges, ", EngineName(bench), ", ", KernelsName(bench), ", ", bench.precision);
}

std::vector<BenchCase> BenchCases() {
  std::vector<BenchCase> cases;
  for (const wire::Shape& padded : {wire::Shape{32, 576, 9'984}, wire::Shape{128, 2'304, 39'936}}) {
    for (const char* model : {"schnet", "mpeu", "painn"}) {
      BenchCase bench = {.model = model, .real = FullGraphs(padded.graphs - 1), .padded = padded};
      AddCases(bench, /*captured=*/false, "f32", cases);
      for (const char* precision : {"f32", "tf32", "bf16"})
        AddCases(bench, /*captured=*/true, precision, cases);
      const std::span<const std::string_view> filters = FindModel(model)->filters;
      for (std::size_t other = 1; other < filters.size(); ++other) {
        bench.filter = filters[other];
        AddCases(bench, /*captured=*/true, "f32", cases);
      }
    }
  }
  return cases;
}

absl::Status WriteBatch(const BenchCase& bench, const std::string& file) {
  const GraphTensors graphs = GraphsOf(bench);
  const at::Tensor vectors =
      graphs.positions.index_select(0, graphs.senders) - graphs.positions.index_select(0, graphs.receivers);
  return WriteTensors({{"classes", graphs.classes.to(at::kLong)},
                       {"positions", graphs.positions},
                       {"senders", graphs.senders.to(at::kLong)},
                       {"receivers", graphs.receivers.to(at::kLong)},
                       {"vectors", vectors},
                       {"graph_of_node", graphs.graph_of_node.to(at::kLong)},
                       {"target", graphs.targets.flatten()},
                       {"mask", graphs.weights.flatten()}},
                      file);
}

absl::StatusOr<Json> TimeSteps(const BenchCase& bench, const BenchOptions& options, const Device& device) {
  ABSL_ASSIGN_OR_RETURN(const std::unique_ptr<Bench> created, Bench::Create(bench, device));
  ABSL_ASSIGN_OR_RETURN(const SteadyFigures figures, created->Time(options));
  return Json{{"model", bench.model},
              {"filter", std::string(Completed({.filter = bench.filter}, *FindModel(bench.model)).filter)},
              {"nodes", bench.padded.nodes},
              {"edges", bench.padded.edges},
              {"graphs", bench.padded.graphs},
              {"engine", EngineName(bench)},
              {"kernels", KernelsName(bench)},
              {"precision", bench.precision},
              {"step_us", {{"median", figures.median_us}, {"p5", figures.p5_us}, {"p95", figures.p95_us}}},
              {"totals_over_wall", created->total_seconds() / created->wall_seconds()},
              {"errors", ToJson(created->errors())},
              {"mae", created->MeanAbsoluteError()},
              {"gpu", device.hardware_name()}};
}

}  // namespace packtrain::trainer
