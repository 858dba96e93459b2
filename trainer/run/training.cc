#include "trainer/run/training.h"

#include <torch/types.h>

#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/connection.h"
#include "client/run_reporter.h"
#include "client/server_info.h"
#include "proto/base/host_id.h"
#include "proto/base/status_macros.h"
#include "trainer/data/device_feed.h"
#include "trainer/data/training_data.h"
#include "trainer/engine/adam.h"
#include "trainer/engine/device.h"
#include "trainer/engine/precision.h"
#include "trainer/engine/trained_model.h"
#include "trainer/models/model.h"
#include "trainer/ranks/gradient_sync.h"
#include "trainer/ranks/rank_errors.h"
#include "trainer/ranks/work_together.h"
#include "trainer/run/joined_run.h"
#include "trainer/run/process_sampler.h"
#include "trainer/run/rank_checkpoints.h"
#include "trainer/run/rank_totals.h"
#include "trainer/run/reported_settings.h"
#include "trainer/run/run_description.h"
#include "trainer/run/run_settings.h"
#include "trainer/run/training_loop.h"

namespace packtrain::trainer {
namespace {

// How much longer than its own server's absence a rank waits for another one.
constexpr std::chrono::seconds kPeerTimeoutMargin{60};

// Times of the former run are not of the one that begins.
void ForgetTimes(StepTotals& totals) {
  totals.steady_graphs = 0;
  totals.steady_wait_ns = 0;
  totals.steady = {};
}

absl::Status Stopped() { return absl::CancelledError("stopped by a signal"); }

// What a run lacks; empty where it lacks nothing.
std::string NoteLost(std::uint64_t records) {
  if (records == 0) return "";
  return absl::StrCat(records,
                      " records were lost while the server could not be reached: there was no more room "
                      "for them (--report-spool-bytes, or the disk)");
}

// One rank's part in a run. Used by one thread.
class Session {
 public:
  Session(const TrainingOptions& options, const std::stop_token& stop) : options_(options), stop_(stop) {}

  // Trains to the end, and says so to the server and to the other ranks however it ends.
  absl::StatusOr<TrainingResult> Run() {
    absl::Status status = Guarded([this] { return RunToEnd(); });
    if (absl::IsInternal(status)) status = CauseOf(status);
    if (!status.ok() && stop_.stop_requested()) {
      status = absl::IsCancelled(status) ? Stopped() : WithReason(Stopped(), status);
    }
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
      return absl::InternalError(FirstLine(error));
    }
  }

  // A device whose sums have been aborted may throw.
  absl::Status CauseOf(const absl::Status& failure) const {
    if (sync_ == nullptr) return failure;
    const absl::Status lost = sync_->CheckRanks();
    return lost.ok() ? failure : lost;
  }

  using Part = absl::Status (Session::*)();

  absl::Status RunToEnd() {
    ABSL_RETURN_IF_ERROR(MeetRanks());
    ABSL_RETURN_IF_ERROR(RunOnAll(&Session::OpenDevice));
    ABSL_RETURN_IF_ERROR(sync_->JoinDevices(device_->communicators()));
    for (const Part part : {&Session::OpenFolder, &Session::CheckStepFiles, &Session::LoadData,
                            &Session::MakeModel, &Session::MakeEvaluator, &Session::ReachRunServer}) {
      ABSL_RETURN_IF_ERROR(RunOnAll(part));
    }
    for (const Part part : {&Session::AgreeOnRun, &Session::Resume, &Session::OpenStepFiles,
                            &Session::StartReporter, &Session::TrainAndEvaluate, &Session::EndAsDone}) {
      ABSL_RETURN_IF_ERROR(RunPart(part));
    }
    return absl::OkStatus();
  }

  // For parts in which the ranks do not wait for each other: those that are slow learn why another one failed.
  absl::Status RunOnAll(Part part) {
    return sync_->AllSucceed(Guarded([this, part] { return RunPart(part); }));
  }

  absl::Status RunPart(Part part) { return stop_.stop_requested() ? Stopped() : (this->*part)(); }

  absl::Status MeetRanks() {
    ABSL_ASSIGN_OR_RETURN(
        sync_, GradientSync::Connect(options_.world, {.meet_timeout = options_.meet_timeout,
                                                      .timeout = options_.give_up + kPeerTimeoutMargin,
                                                      .stop = stop_,
                                                      .watch = {},
                                                      .end_process = options_.end_process}));
    return absl::OkStatus();
  }

  absl::Status OpenDevice() {
    ABSL_ASSIGN_OR_RETURN(device_, trainer::OpenDevice(options_.device, options_.world.local_rank));
    ABSL_ASSIGN_OR_RETURN(edge_type_, SetPrecision(options_.precision, device_->torch_device()));
    const at::Device card = device_->torch_device();
    if (card.is_cuda() && static_cast<std::uint32_t>(card.index()) != options_.world.local_rank) {
      Notice(absl::StrCat("LOCAL_RANK is ", options_.world.local_rank,
                          " and one GPU is visible, which this process takes"));
    }
    return absl::OkStatus();
  }

  // Rank 0's alone: the others send what they have to it.
  absl::Status OpenFolder() {
    if (options_.checkpoint.folder.empty() || !IsFirstRank()) return absl::OkStatus();
    ABSL_ASSIGN_OR_RETURN(folder_, CheckpointFolder::Open(options_.checkpoint.folder));
    return absl::OkStatus();
  }

  absl::Status CheckStepFiles() {
    return options_.step_files.empty() ? absl::OkStatus() : StepFiles::CheckUnused(options_.step_files);
  }

  absl::StatusOr<std::shared_ptr<client::Connection>> Connect(const std::string& server) const {
    return client::Connection::Open({.server = server,
                                     .give_up = options_.give_up,
                                     .on_notice = [this](const std::string& line) { Notice(line); }});
  }

  absl::Status LoadData() {
    ABSL_ASSIGN_OR_RETURN(entry_, FindModel(options_.model));
    ABSL_RETURN_IF_ERROR(CheckFlags(options_.model_flags, *entry_));
    ABSL_RETURN_IF_ERROR(CheckBlocks());
    const std::vector<ModelForm> forms = FormsFor(options_.model_flags, *entry_);
    ABSL_ASSIGN_OR_RETURN(std::shared_ptr<client::Connection> connection, Connect(options_.server));
    ABSL_ASSIGN_OR_RETURN(data_,
                          LoadTrainingData(std::move(connection), {.dataset = options_.dataset,
                                                                   .spec = options_.spec,
                                                                   .inputs = InputsToAskFor(forms),
                                                                   .read_ahead_mib = options_.read_ahead_mib,
                                                                   .on_corrupt = options_.on_corrupt,
                                                                   .rank = options_.world.rank,
                                                                   .world_size = options_.world.size}));
    feed_ = device_->NewFeed(data_.feed);
    model_options_ = OptionsOfModel(forms[data_.need]);
    return absl::OkStatus();
  }

  absl::Status CheckBlocks() const {
    if (options_.model_flags.adjacency != kBanded || options_.spec.policy == wire::Policy::kSupergraph)
      return absl::OkStatus();
    return absl::InvalidArgumentError("--adjacency banded: only batches of --policy supergraph have blocks");
  }

  InputRequest InputsToAskFor(const std::vector<ModelForm>& forms) const {
    InputRequest request{.needs = {},
                         .targets = options_.target,
                         .classes = options_.classes,
                         .edge_types = options_.model_flags.edge_types};
    for (const ModelForm& form : forms)
      request.needs.push_back({.required = form.AllInputs(), .optional = form.optional});
    return request;
  }

  ModelOptions OptionsOfModel(const ModelForm& form) const {
    const ModelFlags& flags = options_.model_flags;
    return Completed({.sizes = data_.feed.layout.sizes,
                      .token_classes = data_.feed.token_classes.of_token,
                      .readout = form.readout,
                      .adjacency = flags.adjacency ? std::string_view(*flags.adjacency) : std::string_view(),
                      .filter = flags.filter ? std::string_view(*flags.filter) : std::string_view(),
                      .hidden = flags.hidden.value_or(0),
                      .layers = flags.layers.value_or(0),
                      .seed = options_.model_seed,
                      .edge_type = edge_type_},
                     *entry_);
  }

  // Sums that wait on the host cannot be captured.
  absl::Status ChooseEngine() {
    const absl::Status sums = sync_->device_sums();
    engine_options_ = {.captured = options_.captured.value_or(device_->torch_device().is_cuda() && sums.ok()),
                       .max_captures = options_.max_captures};
    if (!engine_options_.captured || !device_->torch_device().is_cuda() || sums.ok()) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat("--engine captured: ", sums.message()));
  }

  absl::Status MakeModel() {
    ABSL_RETURN_IF_ERROR(ChooseEngine());
    adam_options_ = {.learning_rate = options_.learning_rate,
                     .schedule = options_.schedule,
                     .decay = entry_->decay,
                     .warmup_steps = options_.warmup_steps,
                     .steps = options_.steps};
    ABSL_ASSIGN_OR_RETURN(trained_, TrainedModel::Create(*entry_,
                                                         {.model = model_options_,
                                                          .inputs = data_.feed.layout.inputs,
                                                          .targets = data_.feed.targets,
                                                          .adam = adam_options_,
                                                          .engine = engine_options_,
                                                          .plain_kernels = options_.plain_kernels},
                                                         *device_, *sync_));
    return absl::OkStatus();
  }

  absl::Status MakeEvaluator() {
    ABSL_ASSIGN_OR_RETURN(evaluator_, Evaluator::Create({.model = trained_->model(),
                                                         .task = trained_->task(),
                                                         .inputs = trained_->inputs(),
                                                         .feed = *feed_,
                                                         .device = *device_},
                                                        engine_options_));
    return absl::OkStatus();
  }

  PreparedTraining Prepared() const {
    return {.options = options_,
            .data = data_,
            .entry = *entry_,
            .model = model_options_,
            .adam = adam_options_,
            .device = *device_,
            .trained = *trained_,
            .captured = engine_options_.captured};
  }

  absl::Status AgreeOnRun() {
    for (const Setting& setting : SettingsOfRanks(Prepared())) {
      ABSL_RETURN_IF_ERROR(sync_->Agree(setting.name, setting.value));
    }
    return absl::OkStatus();
  }

  // Takes the state of the checkpoint, or that of a new training.
  absl::Status Resume() {
    const Settings settings = SettingsOfPart(Prepared());
    if (!options_.checkpoint.resume) return StartAnew(settings);
    ABSL_ASSIGN_OR_RETURN(std::optional<Checkpoint> checkpoint, LoadCheckpoint(folder_, *sync_));
    if (!checkpoint.has_value()) {
      Progress(absl::StrCat("no checkpoint in ", options_.checkpoint.folder, ": starting anew"));
      return StartAnew(settings);
    }
    ABSL_RETURN_IF_ERROR(CheckUsable(*checkpoint, settings));
    state_ = *std::move(checkpoint);
    return RestoreModel(state_, trained_->parameters(), trained_->adam());
  }

  absl::Status StartAnew(const Settings& settings) {
    state_.settings = settings;
    const absl::StatusOr<bool> set_aside = folder_ ? folder_->SetAside() : false;
    ABSL_RETURN_IF_ERROR(sync_->AllSucceed(set_aside.status()));
    if (*set_aside) {
      Progress(absl::StrCat("starting anew without --resume: the former checkpoint is now ", folder_->file(),
                            ".before"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckUsable(const Checkpoint& checkpoint, const Settings& settings) const {
    const absl::Status same = CheckSameSettings(checkpoint.settings, settings);
    if (!same.ok()) {
      return absl::FailedPreconditionError(absl::StrCat("the checkpoint in ", options_.checkpoint.folder,
                                                        " is of another training: ", same.message()));
    }
    if (checkpoint.position.steps <= options_.steps) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("--steps ", options_.steps, ": the checkpoint in ",
                                                   options_.checkpoint.folder, " has made ",
                                                   checkpoint.position.steps));
  }

  absl::Status OpenStepFiles() {
    if (options_.step_files.empty()) return absl::OkStatus();
    ABSL_ASSIGN_OR_RETURN(step_files_,
                          StepFiles::Create(options_.step_files, options_.world, trained_->model()));
    return absl::OkStatus();
  }

  absl::Status ReachRunServer() {
    ABSL_ASSIGN_OR_RETURN(run_connection_,
                          options_.run_server.empty() ? data_.connection : Connect(options_.run_server));
    if (!IsFirstRank()) return absl::OkStatus();
    ABSL_ASSIGN_OR_RETURN(environment_, DescribeEnvironment());
    return absl::OkStatus();
  }

  // The checkpoint's totals are of all ranks, so rank 0 goes on with them for all.
  absl::Status StartReporter() {
    ABSL_ASSIGN_OR_RETURN(JoinedRun joined,
                          JoinRun(std::move(run_connection_), RunToBegin(), HowToReport(), state_, *sync_,
                                  [this](const std::string& line) { Progress(line); }));
    if (state_.position.steps > 0)
      Progress(absl::StrCat("resumed: ", state_.position.steps, " steps are made"));
    if (!IsFirstRank()) state_.totals = {};
    if (joined.follows) ForgetTimes(state_.totals);
    reporter_ = std::move(joined.reporter);
    hurry_.emplace(stop_, [reporter = reporter_.get()] { reporter->Hurry(); });
    result_.run = reporter_->run();
    state_ = {.settings = std::move(state_.settings),
              .run = reporter_->run(),
              .key = std::move(joined.key),
              .position = std::move(state_.position),
              .totals = std::move(state_.totals)};
    return absl::OkStatus();
  }

  // Of rank 0, which begins the run.
  absl::StatusOr<client::RunEnvironment> DescribeEnvironment() const {
    ABSL_ASSIGN_OR_RETURN(const client::ServerInfo server, client::GetServerInfo(*data_.connection));
    return EnvironmentToReport(server, base::HostId(), device_->Read().power_limit_watts);
  }

  client::ReporterOptions HowToReport() const {
    client::ReporterOptions options;
    options.spool_bytes = options_.report_spool_bytes;
    options.spool_folder = options_.checkpoint.folder;
    options.max_unsent_records = MaxUnsentSteps(options.spool_bytes, options_.world.size);
    return options;
  }

  client::RunDescription RunToBegin() const {
    client::RunDescription run = DescribeRun(Prepared());
    run.environment = environment_;
    return run;
  }

  // Splits that the data set was made with, and that no evaluation has anything of.
  void SayWhatIsNotEvaluated() const {
    for (const char* split : {"val", "test"}) {
      const client::SplitInfo* info = data_.dataset.FindSplit(split);
      if (info == nullptr || HasLabels(data_, *info)) continue;
      Progress(absl::StrCat("split ", split, " of ", data_.dataset.reference,
                            info->graphs == 0 ? " is empty" : " has no graph with the target",
                            ": nothing is evaluated on it"));
    }
  }

  // Such as "energy of qm9@0123456789abcdef". Says that nobody has named the target, where there are others.
  std::string DescribeTarget() const {
    const std::vector<Target>& targets = data_.feed.targets;
    if (targets.empty()) return data_.dataset.reference;
    const std::size_t columns = targets.front().columns;
    const bool chosen = !options_.target.empty() || columns == 1;
    const std::string first =
        chosen ? "" : absl::StrCat(" (the first of ", columns, " targets; --target names another)");
    return absl::StrCat(NamesOf(targets), first, " of ", data_.dataset.reference);
  }

  absl::Status TrainAndEvaluate() {
    Progress(absl::StrCat("run ", result_.run, ": ", options_.model, " on ", DescribeTarget(), ", ",
                          data_.plan.steps, " steps an epoch"));
    SayWhatIsNotEvaluated();
    const ProcessSampler sampler([device = device_.get()] { return device->Read(); },
                                 [this](const client::Sample& sample) { reporter_->AddSample(sample); });
    TrainingLoop loop({.data = data_,
                       .feed = *feed_,
                       .trained = *trained_,
                       .evaluator = *evaluator_,
                       .sync = *sync_,
                       .reporter = *reporter_,
                       .folder = folder_,
                       .step_files = step_files_},
                      options_, std::move(state_), stop_);
    const absl::Status trained = loop.Run();
    steps_made_ = loop.steps();
    ABSL_RETURN_IF_ERROR(trained);
    result_.splits = loop.splits();
    result_.captures = trained_->engine().captures();
    result_.evaluation_captures = evaluator_->captures();
    return CountGraphs(loop.statistics());
  }

  absl::Status CountGraphs(const StepStatistics& statistics) {
    StepTotals totals = statistics.totals();
    ABSL_RETURN_IF_ERROR(SumGraphs(totals, *sync_));
    result_.steps = totals.steps;
    result_.graphs = totals.graphs;
    result_.steady = statistics.Steady();
    result_.graphs_per_second = static_cast<double>(totals.steady_graphs) / result_.steady.seconds;
    result_.loss = totals.last_loss;
    return absl::OkStatus();
  }

  absl::Status EndAsDone() {
    // May take long, where the server takes much and slowly.
    const absl::Status delivered = WorkTogether(*sync_, [this] { return reporter_->Flush(); });
    waited_in_vain_ = !delivered.ok() && reporter_->outstanding() > 0;
    ABSL_RETURN_IF_ERROR(sync_->AllSucceed(delivered));
    // No rank leaves this before all have flushed.
    const at::Tensor lost = at::tensor({static_cast<std::int64_t>(reporter_->lost())}, at::kLong);
    ABSL_RETURN_IF_ERROR(sync_->Sum(lost));
    if (!IsFirstRank()) return absl::OkStatus();
    const std::string note = NoteLost(static_cast<std::uint64_t>(lost[0].item<std::int64_t>()));
    if (!note.empty()) Progress(note);
    return reporter_->Finish(/*failed=*/false, note, steps_made_);
  }

  // The run is closed when the others have flushed. A server that was waited for in vain is not waited for
  // again.
  void EndAsFailed(const absl::Status& reason) {
    const bool reports = reporter_ != nullptr && !waited_in_vain_ && !absl::IsUnavailable(reason);
    if (reports && !IsFirstRank()) reporter_->Flush().IgnoreError();
    if (sync_ != nullptr) sync_->Leave(reason);
    if (!reports || !IsFirstRank()) return;
    const absl::Status told = reporter_->Finish(/*failed=*/true, std::string(reason.message()), steps_made_);
    if (!told.ok()) Progress(absl::StrCat("the server was not told of the end: ", told.message()));
  }

  bool IsFirstRank() const { return options_.world.rank == 0; }
  void Progress(const std::string& line) const {
    if (IsFirstRank() && options_.progress) options_.progress(line);
  }

  // Of every rank: each has a connection of its own. Called on its threads.
  void Notice(const std::string& line) const {
    if (!options_.progress) return;
    options_.progress(options_.world.size > 1 ? absl::StrCat("rank ", options_.world.rank, ": ", line) : line);
  }

  const TrainingOptions& options_;
  const std::stop_token stop_;
  std::unique_ptr<Device> device_;
  at::ScalarType edge_type_ = at::kFloat;
  std::unique_ptr<GradientSync> sync_;
  std::optional<ModelEntry> entry_;  // of the model, once the data is loaded
  TrainingData data_;
  std::unique_ptr<DeviceFeed> feed_;
  ModelOptions model_options_;  // complete, but for its kernels
  AdamOptions adam_options_;
  EngineOptions engine_options_;
  std::unique_ptr<TrainedModel> trained_;
  std::unique_ptr<Evaluator> evaluator_;
  std::shared_ptr<client::Connection> run_connection_;  // until the run is joined
  client::RunEnvironment environment_;                  // of rank 0, which begins the run
  std::unique_ptr<client::RunReporter> reporter_;
  std::optional<std::stop_callback<std::function<void()>>> hurry_;  // of the reporter, once asked to stop
  bool waited_in_vain_ = false;                                     // for the server, by the reporter
  std::optional<CheckpointFolder> folder_;
  std::optional<StepFiles> step_files_;
  Checkpoint state_;                         // what the training goes on from
  std::optional<std::uint64_t> steps_made_;  // in all; absent until the loop has ended
  TrainingResult result_;
};

}  // namespace

absl::StatusOr<TrainingResult> Train(const TrainingOptions& options, const std::stop_token& stop) {
  return Session(options, stop).Run();
}

}  // namespace packtrain::trainer
