#include "client/run_reporter.h"

#include <grpcpp/client_context.h>

#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/internal/channel.h"
#include "client/internal/outbox.h"
#include "client/internal/retry.h"
#include "client/internal/spec_convert.h"
#include "client/internal/unary_call.h"
#include "packtrain/v1/run.grpc.pb.h"
#include "proto/base/random_hex.h"
#include "proto/base/status_macros.h"
#include "proto/wire/step_convert.h"

namespace packtrain::client {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kReportDeadline{10'000};
// Most rows of one ReportSteps.
constexpr std::size_t kMostBlockSteps = 65'536;
constexpr std::size_t kBlockRecords = 1'024;
// Each of them may list many graphs.
constexpr std::size_t kBlockCorruptBatches = 64;

v1::Hardware ToHardware(const RunDescription& description) {
  v1::Hardware hardware;
  hardware.set_device(description.device);
  hardware.set_name(description.hardware_name);
  hardware.set_count(description.device_count);
  hardware.set_cpu(description.cpu);
  hardware.set_host(description.host);
  hardware.set_driver(description.driver);
  return hardware;
}

absl::StatusOr<v1::RunDescription> ToMessage(const RunDescription& description) {
  ABSL_ASSIGN_OR_RETURN(const v1::BatchSpec spec, ToMessage(description.spec));
  v1::RunDescription message;
  message.set_model(description.model);
  message.set_parameters(description.parameters);
  message.set_target(description.target);
  message.set_dataset(description.dataset);
  *message.mutable_spec() = spec;
  message.set_plan_fingerprint(description.plan_fingerprint);
  message.set_precision(description.precision);
  message.set_engine(description.engine);
  message.set_optimizer(description.optimizer);
  message.set_learning_rate(description.learning_rate);
  message.set_world_size(description.world_size);
  message.set_model_seed(description.model_seed);
  *message.mutable_hardware() = ToHardware(description);
  message.mutable_libraries()->insert(description.libraries.begin(), description.libraries.end());
  message.set_git_revision(description.git_revision);
  message.mutable_labels()->insert(description.labels.begin(), description.labels.end());
  message.set_timing_method(description.timing_method);
  message.set_planned_steps(description.planned_steps);
  message.set_on_corrupt(description.on_corrupt == OnCorrupt::kSkip ? v1::ON_CORRUPT_SKIP
                                                                    : v1::ON_CORRUPT_STOP);
  return message;
}

v1::Evaluation ToMessage(const Evaluation& evaluation) {
  v1::Evaluation message;
  message.set_step(evaluation.step);
  message.set_split(evaluation.split);
  message.set_graphs(evaluation.graphs);
  message.set_mae(evaluation.mae);
  message.set_rmse(evaluation.rmse);
  message.set_constant_mae(evaluation.constant_mae);
  message.set_constant_rmse(evaluation.constant_rmse);
  message.set_duration_ns(evaluation.duration_ns);
  return message;
}

v1::Sample ToMessage(const Sample& sample) {
  v1::Sample message;
  message.set_time_ns(sample.time_ns);
  if (sample.process_cpu_ns >= 0) message.set_process_cpu_ns(static_cast<std::uint64_t>(sample.process_cpu_ns));
  if (sample.rss_bytes >= 0) message.set_rss_bytes(static_cast<std::uint64_t>(sample.rss_bytes));
  if (sample.device_memory_bytes >= 0) {
    message.set_device_memory_bytes(static_cast<std::uint64_t>(sample.device_memory_bytes));
  }
  if (sample.device_use >= 0) message.set_device_use(sample.device_use);
  if (sample.device_energy_uj >= 0) {
    message.set_device_energy_uj(static_cast<std::uint64_t>(sample.device_energy_uj));
  }
  message.set_device_id(sample.device_id);
  if (sample.step >= 0) message.set_step(static_cast<std::uint64_t>(sample.step));
  return message;
}

v1::Event ToMessage(const Event& event) {
  v1::Event message;
  message.set_name(event.name);
  message.set_start_ns(event.start_ns);
  message.set_duration_ns(event.duration_ns);
  return message;
}

v1::CorruptGraphs ToMessage(const CorruptGraphs& batch) {
  v1::CorruptGraphs message;
  message.set_step(batch.step);
  message.set_epoch(batch.epoch);
  message.set_batch_index(batch.batch_index);
  message.set_split(batch.split);
  message.mutable_graphs()->Add(batch.graphs.begin(), batch.graphs.end());
  return message;
}

// A step and under whom it is reported.
struct AddressedStep {
  std::uint32_t rank = 0;
  std::uint32_t attempt = 0;
  wire::StepRecord record;
};

bool SameAddress(const AddressedStep& a, const AddressedStep& b) {
  return a.rank == b.rank && a.attempt == b.attempt;
}

template <typename T>
bool AnyTwo(const T&, const T&) {
  return true;
}

// The record itself is at fault, or the run: sending it again changes nothing. Everything else, a full disk
// included, may pass.
bool IsRefusal(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
      return true;
    default:
      return false;
  }
}

// The server is not there, or does not answer.
bool IsAbsence(const absl::Status& status) { return IsTransient(status) || absl::IsDeadlineExceeded(status); }

absl::Status CheckOptions(const ReporterOptions& options) {
  if (options.block_steps < 1 || options.block_steps > kMostBlockSteps) {
    return absl::InvalidArgumentError(
        absl::StrCat("block_steps is ", options.block_steps, "; it must be 1 to ", kMostBlockSteps));
  }
  if (options.max_queued_steps < 1) return absl::InvalidArgumentError("max_queued_steps must be at least 1");
  return absl::OkStatus();
}

class GrpcRunReporter final : public RunReporter {
 public:
  GrpcRunReporter(std::shared_ptr<Connection> connection, std::unique_ptr<v1::RunService::Stub> stub,
                  ReporterOptions options, v1::StartRunResponse started)
      : connection_(std::move(connection)),
        stub_(std::move(stub)),
        options_(std::move(options)),
        started_(std::move(started)),
        view_(ReachabilityOf(*connection_)),
        steps_(options_.max_queued_steps),
        evaluations_(options_.max_queued_steps),
        samples_(options_.max_queued_steps),
        events_(options_.max_queued_steps),
        corrupt_graphs_(options_.max_queued_steps),
        sender_([this] { Send(); }) {}

  ~GrpcRunReporter() override {
    {
      base::MutexLock lock(mutex_);
      stopping_ = true;
      wake_.NotifyAll();
    }
    stop_.Stop();
    sender_.join();
  }

  const std::string& run() const override { return started_.run(); }
  std::uint32_t attempt() const override { return started_.attempt(); }

  void AddStep(const wire::StepRecord& step) override {
    base::MutexLock lock(mutex_);
    steps_.Add({options_.rank, attempt(), step});
    last_step_ = static_cast<std::int64_t>(step.step);
    if (steps_.waiting() == options_.block_steps) wake_.NotifyOne();
  }

  void AddSteps(const AttemptSteps& steps) override {
    base::MutexLock lock(mutex_);
    for (const wire::StepRecord& step : steps.steps) steps_.Add({steps.rank, steps.attempt, step});
    wake_.NotifyOne();
  }

  void AddEvaluation(const Evaluation& evaluation) override {
    base::MutexLock lock(mutex_);
    evaluations_.Add(evaluation);
  }

  void AddSample(const Sample& sample) override {
    base::MutexLock lock(mutex_);
    Sample stamped = sample;
    stamped.step = last_step_;
    samples_.Add(std::move(stamped));
  }

  void AddEvent(const Event& event) override {
    base::MutexLock lock(mutex_);
    events_.Add(event);
  }

  void AddCorruptGraphs(const CorruptGraphs& batch) override {
    base::MutexLock lock(mutex_);
    corrupt_graphs_.Add(batch);
  }

  absl::Status Flush() override {
    const auto deadline = std::chrono::steady_clock::now() + connection_->options().give_up;
    base::MutexLock lock(mutex_);
    const Position target{steps_.added(), evaluations_.added(), samples_.added(), events_.added(),
                          corrupt_graphs_.added()};
    ++flushing_;
    ++flushes_;
    wake_.NotifyOne();
    while (!IsSettled(target)) {
      if (!settled_.WaitUntil(mutex_, deadline)) break;
    }
    --flushing_;
    return IsSettled(target) ? Refusal() : NotDelivered();
  }

  absl::Status Finish(bool failed, const std::string& message) override {
    absl::Status flushed = Flush();
    if (absl::IsUnavailable(flushed)) return flushed;
    v1::FinishRunRequest request;
    request.set_run(run());
    request.set_state(failed ? v1::RUN_STATE_FAILED : v1::RUN_STATE_DONE);
    request.set_message(message);
    const auto finished =
        CallMethod(connection_->options(), kLookUp, *stub_, &v1::RunService::Stub::FinishRun, request);
    return flushed.ok() ? finished.status() : flushed;
  }

  UnsentRecords unsent() const override {
    base::MutexLock lock(mutex_);
    UnsentRecords unsent;
    const AddressedStep* last = nullptr;
    for (const AddressedStep& step : steps_.outstanding()) {
      if (last == nullptr || !SameAddress(*last, step)) unsent.steps.push_back({step.rank, step.attempt, {}});
      unsent.steps.back().steps.push_back(step.record);
      last = &step;
    }
    unsent.evaluations.assign(evaluations_.outstanding().begin(), evaluations_.outstanding().end());
    return unsent;
  }

  std::uint64_t dropped() const override {
    base::MutexLock lock(mutex_);
    return steps_.dropped() + evaluations_.dropped() + samples_.dropped() + events_.dropped() +
           corrupt_graphs_.dropped();
  }

 private:
  // Numbers of the next records of each kind.
  struct Position {
    std::uint64_t steps;
    std::uint64_t evaluations;
    std::uint64_t samples;
    std::uint64_t events;
    std::uint64_t corrupt_graphs;
  };

  bool IsSettled(const Position& target) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return steps_.settled_up_to() >= target.steps && evaluations_.settled_up_to() >= target.evaluations &&
           samples_.settled_up_to() >= target.samples && events_.settled_up_to() >= target.events &&
           corrupt_graphs_.settled_up_to() >= target.corrupt_graphs;
  }

  std::size_t Outstanding() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return steps_.outstanding().size() + evaluations_.outstanding().size() + samples_.outstanding().size() +
           events_.outstanding().size() + corrupt_graphs_.outstanding().size();
  }

  absl::Status Refusal() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (refused_ == 0) return absl::OkStatus();
    return absl::Status(refusal_.code(),
                        absl::StrCat("server ", connection_->options().server, " refused ", refused_,
                                     " records of run ", run(), ": ", refusal_.message()));
  }

  absl::Status NotDelivered() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return absl::UnavailableError(absl::StrCat(
        Outstanding(), " records of run ", run(), " were not delivered to server ",
        connection_->options().server, " within ",
        static_cast<double>(connection_->options().give_up.count()) / 1000,
        " s (--give-up): ", last_failure_.ok() ? absl::string_view("no answer yet") : last_failure_.message()));
  }

  // The sender's thread.
  void Send() {
    while (WaitUntilDue()) {
      while (SendSteps()) {
      }
      while (SendEvaluation()) {
      }
      while (SendSamples()) {
      }
      while (SendEvents()) {
      }
      while (SendCorruptGraphs()) {
      }
    }
  }

  // False when the reporter is being destroyed.
  bool WaitUntilDue() {
    const auto deadline = std::chrono::steady_clock::now() + options_.flush_every;
    base::MutexLock lock(mutex_);
    while (!stopping_ && steps_.waiting() < options_.block_steps && (flushing_ == 0 || Outstanding() == 0)) {
      if (!wake_.WaitUntil(mutex_, deadline)) break;
    }
    return !stopping_;
  }

  // Each Send* delivers one block; false when none is waiting, or the reporter is being destroyed.
  bool SendSteps() {
    const std::vector<AddressedStep> block = Take(&GrpcRunReporter::steps_, options_.block_steps, SameAddress);
    if (block.empty()) return false;
    std::vector<wire::StepRecord> records;
    records.reserve(block.size());
    for (const AddressedStep& step : block) records.push_back(step.record);
    v1::ReportStepsRequest request;
    request.set_run(run());
    request.set_rank(block.front().rank);
    request.set_attempt(block.front().attempt);
    *request.mutable_steps() = wire::ToStepBlock(records);
    return Settle(&GrpcRunReporter::steps_, Deliver(&v1::RunService::Stub::ReportSteps, request));
  }

  bool SendEvaluation() {
    const std::vector<Evaluation> block = Take(&GrpcRunReporter::evaluations_, 1, AnyTwo<Evaluation>);
    if (block.empty()) return false;
    v1::ReportEvaluationRequest request;
    request.set_run(run());
    *request.mutable_evaluation() = ToMessage(block.front());
    return Settle(&GrpcRunReporter::evaluations_, Deliver(&v1::RunService::Stub::ReportEvaluation, request));
  }

  bool SendSamples() {
    return SendOwn<v1::ReportSamplesRequest>(
        &GrpcRunReporter::samples_, kBlockRecords, &v1::RunService::Stub::ReportSamples,
        [](const Sample& sample, auto& request) { *request.add_samples() = ToMessage(sample); });
  }

  bool SendEvents() {
    return SendOwn<v1::ReportEventsRequest>(
        &GrpcRunReporter::events_, kBlockRecords, &v1::RunService::Stub::ReportEvents,
        [](const Event& event, auto& request) { *request.add_events() = ToMessage(event); });
  }

  bool SendCorruptGraphs() {
    return SendOwn<v1::ReportCorruptGraphsRequest>(
        &GrpcRunReporter::corrupt_graphs_, kBlockCorruptBatches, &v1::RunService::Stub::ReportCorruptGraphs,
        [](const CorruptGraphs& batch, auto& request) { *request.add_batches() = ToMessage(batch); });
  }

  // Records of this process.
  template <typename Request, typename T, typename Method, typename Add>
  bool SendOwn(Outbox<T> GrpcRunReporter::*outbox, std::size_t most, Method method, Add add) {
    const std::vector<T> block = Take(outbox, most, AnyTwo<T>);
    if (block.empty()) return false;
    Request request;
    request.set_run(run());
    request.set_rank(options_.rank);
    request.set_attempt(attempt());
    for (const T& record : block) add(record, request);
    return Settle(outbox, Deliver(method, request));
  }

  template <typename T>
  std::vector<T> Take(Outbox<T> GrpcRunReporter::*outbox, std::size_t most, bool (*alike)(const T&, const T&)) {
    base::MutexLock lock(mutex_);
    return (this->*outbox).Take(most, alike);
  }

  // Sends until the server takes or refuses it; CANCELLED when the reporter is being destroyed.
  template <typename Request, typename Response>
  absl::Status Deliver(grpc::Status (v1::RunService::Stub::*method)(grpc::ClientContext*, const Request&,
                                                                    Response*),
                       const Request& request) {
    Backoff backoff;
    while (true) {
      Response response;
      absl::Status status = CallOnce(kReportDeadline, stop_, [&](grpc::ClientContext& context) {
        return (stub_.get()->*method)(&context, request, &response);
      });
      if (status.ok() || IsRefusal(status)) {
        view_.Answered();
        return status;
      }
      if (!stop_.stopped() && IsAbsence(status)) view_.Failed(status);
      if (!WaitToRetry(status, backoff.Next())) return absl::CancelledError("the reporter is being destroyed");
    }
  }

  // Waits for `delay`, or less when a Flush begins; false when the reporter is being destroyed.
  bool WaitToRetry(const absl::Status& failure, milliseconds delay) {
    const auto deadline = std::chrono::steady_clock::now() + delay;
    base::MutexLock lock(mutex_);
    last_failure_ = failure;
    const std::uint64_t flushes = flushes_;
    while (!stopping_ && flushes_ == flushes) {
      if (!wake_.WaitUntil(mutex_, deadline)) break;
    }
    return !stopping_;
  }

  template <typename T>
  bool Settle(Outbox<T> GrpcRunReporter::*kind, const absl::Status& status) {
    if (absl::IsCancelled(status)) return false;
    base::MutexLock lock(mutex_);
    Outbox<T>& outbox = this->*kind;
    if (!status.ok()) {
      if (refused_ == 0) refusal_ = status;
      refused_ += outbox.in_flight();
    }
    outbox.Settle();
    settled_.NotifyAll();
    return true;
  }

  const std::shared_ptr<Connection> connection_;
  const std::unique_ptr<v1::RunService::Stub> stub_;
  const ReporterOptions options_;
  const v1::StartRunResponse started_;

  StopSignal stop_;          // cancels the call in progress
  Reachability::View view_;  // the sender's

  mutable base::Mutex mutex_;
  base::CondVar wake_;     // the sender waits: a block is full, a Flush began, the end
  base::CondVar settled_;  // Flush waits: a block was settled
  Outbox<AddressedStep> steps_ ABSL_GUARDED_BY(mutex_);
  std::int64_t last_step_ ABSL_GUARDED_BY(mutex_) = -1;  // that was added of this process's own
  Outbox<Evaluation> evaluations_ ABSL_GUARDED_BY(mutex_);
  Outbox<Sample> samples_ ABSL_GUARDED_BY(mutex_);
  Outbox<Event> events_ ABSL_GUARDED_BY(mutex_);
  Outbox<CorruptGraphs> corrupt_graphs_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::size_t flushing_ ABSL_GUARDED_BY(mutex_) = 0;   // calls of Flush that wait
  std::uint64_t flushes_ ABSL_GUARDED_BY(mutex_) = 0;  // calls of Flush so far
  absl::Status last_failure_ ABSL_GUARDED_BY(mutex_);
  absl::Status refusal_ ABSL_GUARDED_BY(mutex_);       // the first
  std::uint64_t refused_ ABSL_GUARDED_BY(mutex_) = 0;  // records

  std::thread sender_;  // last: it uses all of the above
};

}  // namespace

absl::StatusOr<std::unique_ptr<RunReporter>> RunReporter::Start(std::shared_ptr<Connection> connection,
                                                                const RunDescription& description,
                                                                ReporterOptions options) {
  ABSL_RETURN_IF_ERROR(CheckOptions(options));
  ABSL_ASSIGN_OR_RETURN(v1::RunDescription message, ToMessage(description));
  v1::StartRunRequest request;
  *request.mutable_description() = std::move(message);
  request.set_idempotency_key(options.idempotency_key);
  request.set_rank(options.rank);
  request.set_first_step(options.first_step);
  request.set_process_key(base::RandomHex());
  auto stub = v1::RunService::NewStub(ChannelOf(*connection));
  ABSL_ASSIGN_OR_RETURN(v1::StartRunResponse started, CallMethod(connection->options(), kLookUp, *stub,
                                                                 &v1::RunService::Stub::StartRun, request));
  return std::make_unique<GrpcRunReporter>(std::move(connection), std::move(stub), std::move(options),
                                           std::move(started));
}

}  // namespace packtrain::client
