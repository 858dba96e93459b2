#include "trainer/engine/training.h"

#include <torch/types.h>
#include <torch/version.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <limits>
#include <memory>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/connection.h"
#include "client/run_reporter.h"
#include "trainer/data/device_feed.h"
#include "trainer/data/training_data.h"
#include "trainer/engine/adam.h"
#include "trainer/engine/device.h"
#include "trainer/engine/flat_parameters.h"
#include "trainer/engine/git_revision.h"
#include "trainer/engine/gradient_sync.h"
#include "trainer/engine/process_sampler.h"
#include "trainer/engine/step_engine.h"
#include "trainer/engine/step_timeline.h"
#include "trainer/models/model.h"

namespace packtrain::trainer {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kWarmUpSteps = 10;
constexpr std::chrono::seconds kProgressPeriod{2};
// How much longer than its own server's absence a rank waits for another one.
constexpr std::chrono::seconds kPeerPatience{60};

std::uint64_t NanosecondsSince(Clock::time_point start) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - start).count());
}

std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

// 128 random bits in hexadecimal.
std::string RandomKey() {
  std::random_device random;
  std::string key;
  for (int i = 0; i < 4; ++i) absl::StrAppend(&key, absl::Hex(random(), absl::kZeroPad8));
  return key;
}

// Fewer graphs than aimed at, in the last step of an epoch.
bool IsShort(const wire::BatchHeader& header, std::uint32_t graphs_aimed_at) {
  return header.empty || (header.step + 1 == header.epoch_steps && header.real.graphs < graphs_aimed_at);
}

absl::Status Stopped() { return absl::CancelledError("stopped by a signal"); }

// What a run lacks; empty where it lacks nothing.
std::string NoteDropped(std::uint64_t records) {
  if (records == 0) return "";
  return absl::StrCat(records, " records were dropped while the server could not be reached");
}

// One rank's part in a run. Used by one thread.
class Session {
 public:
  Session(const TrainingOptions& options, const std::stop_token& stop) : options_(options), stop_(stop) {}

  // Trains to the end, and says so to the server and to the other ranks however it ends.
  absl::StatusOr<TrainingResult> Run() {
    absl::Status status = Guarded([this] { return RunToEnd(); });
    if (!status.ok() && stop_.stop_requested()) status = Stopped();
    if (!status.ok()) {
      EndAsFailed(status);
      return status;
    }
    return result_;
  }

 private:
  template <typename Body>
  static absl::Status Guarded(Body body) {
    try {
      return body();
    } catch (const std::exception& error) {
      const std::string text = error.what();
      return absl::InternalError(text.substr(0, text.find('\n')));
    }
  }

  absl::Status RunToEnd() {
    using Part = absl::Status (Session::*)();
    constexpr std::array<Part, 7> kParts = {
        &Session::OpenDeviceAndRanks, &Session::LoadData,         &Session::MakeModel, &Session::AgreeOnRun,
        &Session::StartReporter,      &Session::TrainAndEvaluate, &Session::EndAsDone};
    for (const Part part : kParts) {
      if (absl::Status status = (this->*part)(); !status.ok()) return status;
      if (stop_.stop_requested()) return Stopped();
    }
    return absl::OkStatus();
  }

  absl::Status OpenDeviceAndRanks() {
    absl::StatusOr<std::unique_ptr<Device>> device = OpenDevice(options_.device, options_.world.local_rank);
    if (!device.ok()) return device.status();
    device_ = *std::move(device);
    absl::StatusOr<std::unique_ptr<GradientSync>> sync =
        GradientSync::Connect(options_.world, {.timeout = options_.give_up + kPeerPatience});
    if (!sync.ok()) return sync.status();
    sync_ = *std::move(sync);
    return absl::OkStatus();
  }

  absl::Status LoadData() {
    absl::StatusOr<std::shared_ptr<client::Connection>> connection =
        client::Connection::Open({.server = options_.server, .give_up = options_.give_up});
    if (!connection.ok()) return connection.status();
    absl::StatusOr<TrainingData> data =
        LoadTrainingData(*std::move(connection), {.dataset = options_.dataset,
                                                  .spec = options_.spec,
                                                  .target = options_.target,
                                                  .classes = options_.classes,
                                                  .rank = options_.world.rank,
                                                  .world_size = options_.world.size});
    if (!data.ok()) return data.status();
    data_ = *std::move(data);
    feed_.emplace(data_.target, data_.class_table, device_->torch_device());
    return absl::OkStatus();
  }

  absl::Status MakeModel() {
    const absl::StatusOr<ModelEntry> entry = FindModel(options_.model);
    if (!entry.ok()) return entry.status();
    model_ = entry->create({.classes = data_.classes, .seed = options_.model_seed});
    model_->to(device_->torch_device());
    parameters_.emplace(*model_);
    adam_options_ = {.learning_rate = options_.learning_rate, .decay = entry->decay};
    adam_.emplace(parameters_->values(), adam_options_);
    return absl::OkStatus();
  }

  // All ranks must train the same model on parts of the same plan.
  absl::Status AgreeOnRun() {
    const std::string settings =
        absl::StrCat(options_.model, ", target ", data_.target.name, ", ", options_.steps,
                     " steps, evaluation every ", options_.evaluate_every, ", ", Describe(adam_options_));
    if (absl::Status s = sync_->Agree("the plan's fingerprint", data_.plan.fingerprint); !s.ok()) return s;
    if (absl::Status s = sync_->Agree("what they train", settings); !s.ok()) return s;
    return sync_->Agree("their initial parameters", parameters_->Checksum());
  }

  // Rank 0 starts the run, the others join it by its key.
  absl::Status StartReporter() {
    const absl::StatusOr<std::string> key = sync_->Share("key", RandomKey());
    if (!key.ok()) return key.status();
    if (IsFirstRank()) {
      if (absl::Status status = OpenReporter(*key); !status.ok()) return status;
    }
    const absl::StatusOr<std::string> run = sync_->Share("run", IsFirstRank() ? reporter_->run() : "");
    if (!run.ok()) return run.status();
    result_.run = *run;
    return IsFirstRank() ? absl::OkStatus() : OpenReporter(*key);
  }

  absl::Status OpenReporter(const std::string& key) {
    absl::StatusOr<std::unique_ptr<client::RunReporter>> reporter = client::RunReporter::Start(
        data_.connection, DescribeRun(), {.idempotency_key = key, .rank = options_.world.rank});
    if (!reporter.ok()) return reporter.status();
    reporter_ = *std::move(reporter);
    return absl::OkStatus();
  }

  client::RunDescription DescribeRun() const {
    client::RunDescription run;
    run.model = options_.model;
    run.parameters = static_cast<std::uint64_t>(CountParameters(*model_));
    run.target = data_.target.name;
    run.dataset = data_.dataset.reference;
    run.spec = data_.spec;
    run.plan_fingerprint = data_.plan.fingerprint;
    run.optimizer = Describe(adam_options_);
    run.learning_rate = options_.learning_rate;
    run.world_size = options_.world.size;
    run.model_seed = options_.model_seed;
    run.device = options_.device;
    run.hardware_name = device_->hardware_name();
    run.device_count = options_.device == "cpu" ? 1 : options_.world.size;
    run.cpu = CpuName();
    run.host = HostName();
    run.driver = device_->driver();
    run.libraries["libtorch"] = TORCH_VERSION;
    run.git_revision = GitRevision();
    run.labels = options_.labels;
    run.timing_method = device_->timing_method();
    run.planned_steps = options_.steps;
    return run;
  }

  absl::Status TrainAndEvaluate() {
    Progress(absl::StrCat("run ", result_.run, ": ", options_.model, " on ", data_.target.name, " of ",
                          data_.dataset.reference, ", ", data_.plan.steps, " steps an epoch"));
    const ProcessSampler sampler([device = device_.get()] { return device->memory_bytes(); },
                                 [this](const client::Sample& sample) { reporter_->AddSample(sample); });
    if (absl::Status status = TrainSteps(); !status.ok()) return status;
    if (absl::Status status = EvaluateSplits(options_.steps); !status.ok()) return status;
    return CountGraphs();
  }

  absl::Status TrainSteps() {
    absl::StatusOr<std::unique_ptr<client::BatchReader>> batches =
        OpenBatches(data_, data_.spec, data_.plan.fingerprint, /*epochs=*/0);
    if (!batches.ok()) return batches.status();
    const std::stop_callback cancel(stop_, [&batches] { (*batches)->Cancel(); });
    StepEngine engine(*model_, *parameters_, *adam_, *sync_, *device_);
    StepTimeline timeline(*device_, [this](const wire::StepRecord& step) { Report(step); });
    for (std::uint64_t step = 0; step < options_.steps; ++step) {
      if (absl::Status status = TrainStep(step, **batches, engine, timeline); !status.ok()) return status;
      if (!IsEvaluationDue(step + 1)) continue;
      if (absl::Status status = EvaluateSplits(step + 1); !status.ok()) return status;
    }
    timeline.Drain();
    return absl::OkStatus();
  }

  // The last evaluation is not among these.
  bool IsEvaluationDue(std::uint64_t steps) const {
    return options_.evaluate_every > 0 && steps % options_.evaluate_every == 0 && steps < options_.steps;
  }

  absl::Status TrainStep(std::uint64_t step, client::BatchReader& batches, StepEngine& engine,
                         StepTimeline& timeline) {
    const Clock::time_point asked = Clock::now();
    const absl::StatusOr<std::optional<wire::Batch>> batch = batches.Next();
    const std::uint64_t wait_ns = NanosecondsSince(asked);
    if (!batch.ok()) return batch.status();
    if (stop_.stop_requested()) return Stopped();
    if (!batch->has_value())
      return absl::DataLossError(absl::StrCat("the stream of batches ended at step ", step));
    wire::StepRecord record = RecordOf(step, **batch);
    record.wait_ns = wait_ns;
    timeline.Begin(record);
    timeline.Mark(Moment::kCopy);
    const absl::StatusOr<GraphTensors> graphs = feed_->Expand(**batch);
    if (!graphs.ok()) return graphs.status();
    return engine.Step(*graphs, timeline);
  }

  wire::StepRecord RecordOf(std::uint64_t step, const wire::Batch& batch) const {
    const wire::BatchHeader& header = batch.header();
    wire::StepRecord record;
    record.step = step;
    record.epoch = header.epoch;
    record.batch_index = header.index;
    record.real = header.real;
    record.padded = header.padded;
    record.server_build_ns = batch.timing().build_ns;
    record.server_queue_ns = batch.timing().queue_ns;
    if (step < kWarmUpSteps) record.flags |= wire::kWarmUp;
    if (header.step == 0) record.flags |= wire::kFirstOfEpoch;
    if (IsShort(header, data_.spec.graphs)) record.flags |= wire::kShortBatch;
    if (step > 0 && IsEvaluationDue(step)) record.flags |= wire::kEvaluation;
    return record;
  }

  void Report(const wire::StepRecord& step) {
    reporter_->AddStep(step);
    statistics_.Add(step);
    if (step.step + 1 != options_.steps && Clock::now() < next_progress_) return;
    next_progress_ = Clock::now() + kProgressPeriod;
    Progress(absl::StrFormat("step %d/%d  epoch %d  loss %.4g  %.1f ms", step.step + 1, options_.steps,
                             step.epoch, statistics_.last_loss(), static_cast<double>(step.total_ns) * 1e-6));
  }

  absl::Status EvaluateSplits(std::uint64_t step) {
    for (const char* split : {"val", "test"}) {
      const client::SplitInfo* info = data_.dataset.FindSplit(split);
      if (info == nullptr || info->graphs == 0) continue;
      if (absl::Status status = EvaluateSplit(step, split); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status EvaluateSplit(std::uint64_t step, const std::string& split) {
    const Clock::time_point start = Clock::now();
    absl::StatusOr<std::unique_ptr<client::BatchReader>> batches =
        OpenBatches(data_, EvaluationSpec(data_.spec, data_.plan, split), /*fingerprint=*/"", /*epochs=*/1);
    if (!batches.ok()) return batches.status();
    const std::stop_callback cancel(stop_, [&batches] { (*batches)->Cancel(); });
    const absl::StatusOr<SplitErrors> errors = Evaluate(*model_, **batches, *feed_, data_.target, *sync_);
    if (!errors.ok()) return errors.status();
    result_.splits[split] = *errors;
    if (!IsFirstRank()) return absl::OkStatus();
    reporter_->AddEvaluation({.step = step,
                              .split = split,
                              .graphs = errors->graphs,
                              .mae = errors->mae,
                              .rmse = errors->rmse,
                              .constant_mae = errors->constant_mae,
                              .constant_rmse = errors->constant_rmse,
                              .duration_ns = NanosecondsSince(start)});
    Progress(absl::StrFormat("step %d  %s  MAE %.5g  RMSE %.5g  (constant predictor: %.5g, %.5g)", step, split,
                             errors->mae, errors->rmse, errors->constant_mae, errors->constant_rmse));
    return absl::OkStatus();
  }

  absl::Status CountGraphs() {
    result_.steps = statistics_.steps();
    result_.steady = statistics_.Steady();
    result_.loss = statistics_.last_loss();
    const at::Tensor graphs = at::tensor(
        {static_cast<std::int64_t>(statistics_.graphs()), static_cast<std::int64_t>(result_.steady.graphs)},
        at::kLong);
    if (absl::Status status = sync_->Sum(graphs); !status.ok()) return status;
    result_.graphs = static_cast<std::uint64_t>(graphs[0].item<std::int64_t>());
    result_.graphs_per_second = graphs[1].item<double>() / result_.steady.seconds;
    return absl::OkStatus();
  }

  absl::Status EndAsDone() {
    if (absl::Status status = reporter_->Flush(); !status.ok()) return status;
    // No rank leaves this before all have flushed.
    const at::Tensor dropped = at::tensor({static_cast<std::int64_t>(reporter_->dropped())}, at::kLong);
    if (absl::Status status = sync_->Sum(dropped); !status.ok()) return status;
    if (!IsFirstRank()) return absl::OkStatus();
    const std::string note = NoteDropped(static_cast<std::uint64_t>(dropped[0].item<std::int64_t>()));
    if (!note.empty()) Progress(note);
    return reporter_->Finish(/*failed=*/false, note);
  }

  void EndAsFailed(const absl::Status& reason) {
    if (sync_ != nullptr) sync_->Leave(reason);
    if (reporter_ == nullptr) return;
    const absl::Status told =
        IsFirstRank() ? reporter_->Finish(/*failed=*/true, std::string(reason.message())) : reporter_->Flush();
    // Where the server is what failed, the reason says so already.
    if (!told.ok() && !absl::IsUnavailable(reason)) {
      Progress(absl::StrCat("the server was not told of the end: ", told.message()));
    }
  }

  bool IsFirstRank() const { return options_.world.rank == 0; }
  void Progress(const std::string& line) const {
    if (IsFirstRank() && options_.progress) options_.progress(line);
  }

  const TrainingOptions& options_;
  const std::stop_token stop_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<GradientSync> sync_;
  TrainingData data_;
  std::optional<DeviceFeed> feed_;
  std::shared_ptr<Model> model_;
  std::optional<FlatParameters> parameters_;
  AdamOptions adam_options_;
  std::optional<Adam> adam_;
  std::unique_ptr<client::RunReporter> reporter_;
  StepStatistics statistics_;
  Clock::time_point next_progress_;
  TrainingResult result_;
};

}  // namespace

absl::StatusOr<TrainingResult> Train(const TrainingOptions& options, const std::stop_token& stop) {
  return Session(options, stop).Run();
}

}  // namespace packtrain::trainer
