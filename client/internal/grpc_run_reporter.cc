#include "client/internal/grpc_run_reporter.h"

#include <grpcpp/client_context.h>

#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/internal/channel.h"
#include "client/internal/retry.h"
#include "client/internal/unary_call.h"
#include "client/internal/unsent_records.h"

namespace packtrain::client {

GrpcRunReporter::GrpcRunReporter(std::shared_ptr<Connection> connection,
                                 std::unique_ptr<v1::RunService::Stub> stub, ReporterOptions options,
                                 Sender self)
    : connection_(std::move(connection)),
      stub_(std::move(stub)),
      options_(std::move(options)),
      self_(std::move(self)),
      view_(ReachabilityOf(*connection_)),
      spool_({.folder = options_.spool_folder, .max_bytes = options_.spool_bytes}),
      outboxes_(options_.max_queued_records),
      sender_([this] { Send(); }),
      spiller_([this] { Spill(); }) {}

GrpcRunReporter::~GrpcRunReporter() {
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
    wake_.NotifyAll();
    spill_.NotifyAll();
  }
  stop_.Stop();
  sender_.join();
  spiller_.join();
}

absl::Status GrpcRunReporter::Flush() {
  const absl::Status delivered = AwaitDelivery();
  return delivered.ok() ? Refusal() : delivered;
}

absl::Status GrpcRunReporter::AwaitDelivery() {
  base::MutexLock lock(mutex_);
  ++flushing_;
  ++flushes_;
  wake_.NotifyOne();
  const bool settled = AwaitSettled(outboxes_.added());
  --flushing_;
  return settled ? absl::OkStatus() : NotDelivered();
}

// False: something up to `position` is not settled, and is not waited for any longer.
bool GrpcRunReporter::AwaitSettled(const Outboxes::Position& position) {
  const std::uint64_t failures = failures_;
  std::uint64_t settlements = settlements_;
  auto deadline = Clock::now() + connection_->options().give_up;
  while (!IsSettled(position)) {
    if (hurried_ && failures_ > failures) return false;
    const bool in_time = settled_.WaitUntil(mutex_, deadline);
    if (settlements_ != settlements) {
      settlements = settlements_;
      deadline = Clock::now() + connection_->options().give_up;
    } else if (!in_time) {
      return false;
    }
  }
  return true;
}

// All that was there at `position`, and the server knows what is lost.
bool GrpcRunReporter::IsSettled(const Outboxes::Position& position) const {
  return outboxes_.IsSettled(position) && !losses_.Untold().has_value();
}

absl::Status GrpcRunReporter::End(bool failed, const std::string& message,
                                  std::optional<std::uint64_t> end_step) {
  if (absl::Status delivered = AwaitDelivery(); !delivered.ok()) return delivered;
  const absl::Status closed = CloseRun(failed, message, end_step);
  const absl::Status refusal = Refusal();
  return refusal.ok() ? closed : refusal;
}

absl::Status GrpcRunReporter::CloseRun(bool failed, const std::string& message,
                                       std::optional<std::uint64_t> end_step) {
  v1::FinishRunRequest request;
  request.set_run(run());
  request.set_state(failed ? v1::RUN_STATE_FAILED : v1::RUN_STATE_DONE);
  request.set_message(message);
  if (end_step.has_value()) request.set_end_step(*end_step);
  StopSignal never_stopped;  // a call that is under way ends by itself
  Retry retry(connection_->options(), hurry_);
  while (true) {
    v1::FinishRunResponse response;
    absl::Status status = CallOnce(kLookUp, never_stopped, [&](grpc::ClientContext& context) {
      return stub_->FinishRun(&context, request, &response);
    });
    if (status.ok() || hurry_.stopped()) return status;
    if (absl::Status failure = retry.WaitAfter(status); !failure.ok()) {
      return hurry_.stopped() ? status : failure;
    }
  }
}

void GrpcRunReporter::Hurry() {
  {
    base::MutexLock lock(mutex_);
    hurried_ = true;
    ++flushes_;
    wake_.NotifyOne();
    settled_.NotifyAll();
  }
  hurry_.Stop();
}

UnsentRecords GrpcRunReporter::unsent() const {
  std::optional<UnsentCollector> collector;
  LossCounts losses;
  std::uint64_t lost = 0;
  {
    base::MutexLock lock(mutex_);
    collector.emplace(outboxes_, options_.max_unsent_records);
    losses = losses_;
    lost = outboxes_.lost();
  }
  UnsentRecords unsent = collector->Finish(spool_);
  losses.Raise({self_.rank, self_.attempt, lost + collector->left_out()});
  unsent.lost = losses.all();
  return unsent;
}

std::size_t GrpcRunReporter::outstanding() const {
  base::MutexLock lock(mutex_);
  return outboxes_.outstanding();
}

std::uint64_t GrpcRunReporter::lost() const {
  base::MutexLock lock(mutex_);
  return losses_.total();
}

void GrpcRunReporter::Add(ReportedRecord record) {
  std::visit([this](auto& added) { AddOne(std::move(added)); }, record);
}

template <typename Record>
void GrpcRunReporter::AddOne(Record record) {
  base::MutexLock lock(mutex_);
  Put(std::move(record));
  NoteAdded();
}

// Other threads may add between two of them.
void GrpcRunReporter::AddOne(const AttemptSteps& steps) {
  for (const wire::StepRecord& step : steps.steps) {
    base::MutexLock lock(mutex_);
    AwaitRoom();
    Put(AddressedStep{steps.rank, steps.attempt, step});
    NoteAdded();
  }
}

// Waits until there is room for a step, or neither the spool nor the server takes any.
void GrpcRunReporter::AwaitRoom() {
  const Outbox<AddressedStep>& steps = outboxes_.Of<AddressedStep>();
  ++awaiting_room_;
  while (steps.is_full() && (!spill_after_.has_value() || failure_.ok())) {
    spill_.NotifyOne();
    wake_.NotifyOne();
    settled_.Wait(mutex_);
  }
  --awaiting_room_;
}

void GrpcRunReporter::NoteAdded() {
  losses_.Raise({self_.rank, self_.attempt, outboxes_.lost()});
  if (outboxes_.HasWaiting(options_.spool_after_records)) spill_.NotifyOne();
}

void GrpcRunReporter::Put(const wire::StepRecord& step) {
  Put(AddressedStep{self_.rank, self_.attempt, step});
  last_step_ = static_cast<std::int64_t>(step.step);
}

void GrpcRunReporter::Put(const AddressedStep& step) {
  Outbox<AddressedStep>& steps = outboxes_.Of<AddressedStep>();
  steps.Add(step);
  if (steps.waiting() == options_.block_steps) wake_.NotifyOne();
}

void GrpcRunReporter::Put(LostRecords lost) { losses_.Raise(lost); }

void GrpcRunReporter::Put(Evaluation evaluation) {
  if (!evaluation.attempt.has_value()) evaluation.attempt = self_.attempt;
  outboxes_.Of<Evaluation>().Add(std::move(evaluation));
}

void GrpcRunReporter::Put(Sample sample) {
  sample.step = last_step_;
  outboxes_.Of<Sample>().Add(std::move(sample));
}

template <typename Record>
void GrpcRunReporter::Put(Record record) {
  outboxes_.Of<Record>().Add(std::move(record));
}

absl::Status GrpcRunReporter::Refusal() const {
  base::MutexLock lock(mutex_);
  if (refused_ == 0) return absl::OkStatus();
  return absl::Status(refusal_.code(),
                      absl::StrCat("server ", connection_->options().server, " refused ", refused_,
                                   " records of run ", run(), ": ", refusal_.message()));
}

absl::Status GrpcRunReporter::NotDelivered() const {
  const bool answers = !failure_.ok() && !IsAbsence(failure_);
  const std::string time =
      hurried_
          ? ", which is not waited for"
          : absl::StrCat(", which took none for ",
                         static_cast<double>(connection_->options().give_up.count()) / 1000, " s (--give-up)");
  return absl::Status(answers ? failure_.code() : absl::StatusCode::kUnavailable,
                      absl::StrCat(outboxes_.outstanding(), " records of run ", run(),
                                   " were not delivered to server ", connection_->options().server, time, ": ",
                                   failure_.ok() ? absl::string_view("no answer yet") : failure_.message()));
}

}  // namespace packtrain::client
