#include "client/run_reporter.h"

#include <grpcpp/client_context.h>

#include <deque>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/internal/channel.h"
#include "client/internal/report_kinds.h"
#include "client/internal/retry.h"
#include "client/internal/unary_call.h"
#include "packtrain/v1/run.grpc.pb.h"
#include "proto/base/random_hex.h"
#include "proto/base/status_macros.h"
#include "proto/wire/batch_spec_convert.h"

namespace packtrain::client {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kReportDeadline{10'000};
// Most rows of one ReportSteps.
constexpr std::size_t kMaxBlockSteps = 65'536;

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

v1::TrainerSettings ToMessage(const TrainerSettings& settings) {
  v1::TrainerSettings message;
  if (settings.threads) message.set_threads(*settings.threads);
  if (settings.read_ahead_bytes) message.set_read_ahead_bytes(*settings.read_ahead_bytes);
  if (settings.learning_rate_schedule) {
    message.set_learning_rate_schedule(*settings.learning_rate_schedule);
  }
  if (settings.max_captures) message.set_max_captures(*settings.max_captures);
  if (settings.evaluate_every) message.set_evaluate_every(*settings.evaluate_every);
  if (settings.checkpoint_every) message.set_checkpoint_every(*settings.checkpoint_every);
  message.mutable_other()->insert(settings.other.begin(), settings.other.end());
  return message;
}

v1::RunEnvironment ToMessage(const RunEnvironment& environment) {
  v1::RunEnvironment message;
  if (environment.server_builders) message.set_server_builders(*environment.server_builders);
  if (environment.shares_host_with_server) {
    message.set_shares_host_with_server(*environment.shares_host_with_server);
  }
  if (environment.power_limit_watts) message.set_power_limit_watts(*environment.power_limit_watts);
  return message;
}

absl::StatusOr<v1::RunDescription> ToMessage(const RunDescription& description) {
  v1::RunDescription message;
  ABSL_ASSIGN_OR_RETURN(*message.mutable_spec(), wire::ToMessage(description.spec));
  message.set_model(description.model);
  message.set_parameters(description.parameters);
  message.set_target(description.target);
  message.set_dataset(description.dataset);
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
  message.set_input(description.input);
  if (description.settings) *message.mutable_settings() = ToMessage(*description.settings);
  *message.mutable_environment() = ToMessage(description.environment);
  return message;
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
  if (options.block_steps < 1 || options.block_steps > kMaxBlockSteps) {
    return absl::InvalidArgumentError(
        absl::StrCat("block_steps is ", options.block_steps, "; it must be 1 to ", kMaxBlockSteps));
  }
  if (options.max_queued_steps < 1) return absl::InvalidArgumentError("max_queued_steps must be at least 1");
  return absl::OkStatus();
}

class GrpcRunReporter final : public RunReporter {
 public:
  GrpcRunReporter(std::shared_ptr<Connection> connection, std::unique_ptr<v1::RunService::Stub> stub,
                  ReporterOptions options, Sender self)
      : connection_(std::move(connection)),
        stub_(std::move(stub)),
        options_(std::move(options)),
        self_(std::move(self)),
        view_(ReachabilityOf(*connection_)),
        outboxes_(options_.max_queued_steps),
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

  const std::string& run() const override { return self_.run; }
  std::uint32_t attempt() const override { return self_.attempt; }

  absl::Status Flush() override {
    const auto deadline = std::chrono::steady_clock::now() + connection_->options().give_up;
    base::MutexLock lock(mutex_);
    const Outboxes::Position target = outboxes_.added();
    ++flushing_;
    ++flushes_;
    wake_.NotifyOne();
    while (!outboxes_.IsSettled(target)) {
      if (!settled_.WaitUntil(mutex_, deadline)) break;
    }
    --flushing_;
    return outboxes_.IsSettled(target) ? Refusal() : NotDelivered();
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
    for (const AddressedStep& step : outboxes_.Of<AddressedStep>().outstanding()) {
      if (last == nullptr || !StepKind::Alike(*last, step))
        unsent.steps.push_back({step.rank, step.attempt, {}});
      unsent.steps.back().steps.push_back(step.record);
      last = &step;
    }
    const std::deque<Evaluation>& evaluations = outboxes_.Of<Evaluation>().outstanding();
    unsent.evaluations.assign(evaluations.begin(), evaluations.end());
    return unsent;
  }

  std::uint64_t dropped() const override {
    base::MutexLock lock(mutex_);
    return outboxes_.dropped();
  }

 private:
  void Add(ReportedRecord record) override {
    std::visit(
        [this](auto& added) {
          base::MutexLock lock(mutex_);
          Put(std::move(added));
        },
        record);
  }

  void Put(wire::StepRecord step) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Outbox<AddressedStep>& steps = outboxes_.Of<AddressedStep>();
    steps.Add({self_.rank, self_.attempt, step});
    last_step_ = static_cast<std::int64_t>(step.step);
    if (steps.waiting() == options_.block_steps) wake_.NotifyOne();
  }

  void Put(AttemptSteps steps) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (const wire::StepRecord& step : steps.steps) {
      outboxes_.Of<AddressedStep>().Add({steps.rank, steps.attempt, step});
    }
    wake_.NotifyOne();
  }

  void Put(Sample sample) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    sample.step = last_step_;
    outboxes_.Of<Sample>().Add(std::move(sample));
  }

  template <typename Record>
  void Put(Record record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    outboxes_.Of<Record>().Add(std::move(record));
  }

  absl::Status Refusal() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (refused_ == 0) return absl::OkStatus();
    return absl::Status(refusal_.code(),
                        absl::StrCat("server ", connection_->options().server, " refused ", refused_,
                                     " records of run ", run(), ": ", refusal_.message()));
  }

  absl::Status NotDelivered() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return absl::UnavailableError(absl::StrCat(
        outboxes_.outstanding(), " records of run ", run(), " were not delivered to server ",
        connection_->options().server, " within ",
        static_cast<double>(connection_->options().give_up.count()) / 1000,
        " s (--give-up): ", last_failure_.ok() ? absl::string_view("no answer yet") : last_failure_.message()));
  }

  // The sender's thread.
  void Send() {
    while (WaitUntilDue()) SendAll(ReportKinds());
  }

  // False when the reporter is being destroyed.
  bool WaitUntilDue() {
    const auto deadline = std::chrono::steady_clock::now() + options_.flush_every;
    base::MutexLock lock(mutex_);
    while (!stopping_ && !IsDue()) {
      if (!wake_.WaitUntil(mutex_, deadline)) break;
    }
    return !stopping_;
  }

  // A block of steps is full, or a Flush waits for something.
  bool IsDue() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return outboxes_.Of<AddressedStep>().waiting() >= options_.block_steps ||
           (flushing_ > 0 && outboxes_.outstanding() > 0);
  }

  template <typename... Kinds>
  void SendAll(std::tuple<Kinds...>) {
    (SendWaiting<Kinds>(), ...);
  }

  // Delivers the records of a kind, block by block, until none waits or the reporter is being destroyed.
  template <typename Kind>
  void SendWaiting() {
    while (true) {
      const std::vector<typename Kind::Record> block = Take<Kind>();
      if (block.empty()) return;
      const absl::Status delivered = Deliver(Kind::kMethod, Kind::ToRequest(self_, block));
      if (absl::IsCancelled(delivered)) return;
      Settle<Kind>(delivered);
    }
  }

  template <typename Kind>
  std::vector<typename Kind::Record> Take() {
    base::MutexLock lock(mutex_);
    return outboxes_.Of<typename Kind::Record>().Take(Kind::MaxRecords(options_), Kind::Alike);
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

  // The block in flight was taken, or refused.
  template <typename Kind>
  void Settle(const absl::Status& status) {
    base::MutexLock lock(mutex_);
    Outbox<typename Kind::Record>& outbox = outboxes_.Of<typename Kind::Record>();
    if (!status.ok()) {
      if (refused_ == 0) refusal_ = status;
      refused_ += outbox.in_flight();
    }
    outbox.Settle();
    settled_.NotifyAll();
  }

  const std::shared_ptr<Connection> connection_;
  const std::unique_ptr<v1::RunService::Stub> stub_;
  const ReporterOptions options_;
  const Sender self_;

  StopSignal stop_;          // cancels the call in progress
  Reachability::View view_;  // the sender's

  mutable base::Mutex mutex_;
  base::CondVar wake_;     // the sender waits: a block is full, a Flush began, the end
  base::CondVar settled_;  // Flush waits: a block was settled
  Outboxes outboxes_ ABSL_GUARDED_BY(mutex_);
  std::int64_t last_step_ ABSL_GUARDED_BY(mutex_) = -1;  // that was added of this process's own
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
  ABSL_ASSIGN_OR_RETURN(
      const v1::StartRunResponse started,
      CallMethod(connection->options(), kLookUp, *stub, &v1::RunService::Stub::StartRun, request));
  Sender self{started.run(), options.rank, started.attempt()};
  return std::make_unique<GrpcRunReporter>(std::move(connection), std::move(stub), std::move(options),
                                           std::move(self));
}

}  // namespace packtrain::client
