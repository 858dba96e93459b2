#include "client/internal/grpc_run_reporter.h"

#include <grpcpp/client_context.h>

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/internal/channel.h"
#include "client/internal/retry.h"
#include "client/internal/unary_call.h"
#include "client/internal/unsent_records.h"

namespace packtrain::client {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kReportDeadline{10'000};
// After a failure of the spool.
constexpr milliseconds kSpillPause{1'000};

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

}  // namespace

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

absl::Status GrpcRunReporter::Flush() { return AwaitDelivery() ? Refusal() : NotDelivered(); }

// False: something is not delivered, and is not waited for any longer.
bool GrpcRunReporter::AwaitDelivery() {
  const auto deadline = Clock::now() + connection_->options().give_up;
  base::MutexLock lock(mutex_);
  const Outboxes::Position target = outboxes_.added();
  const std::uint64_t failures = failures_;
  ++flushing_;
  ++flushes_;
  wake_.NotifyOne();
  while (!IsSettled(target) && !(hurried_ && failures_ > failures)) {
    if (!settled_.WaitUntil(mutex_, deadline)) break;
  }
  --flushing_;
  return IsSettled(target);
}

// All that was there at `position`, and the server knows what is lost.
bool GrpcRunReporter::IsSettled(const Outboxes::Position& position) const {
  return outboxes_.IsSettled(position) && lost_reported_ == outboxes_.lost();
}

absl::Status GrpcRunReporter::End(bool failed, const std::string& message,
                                  std::optional<std::uint64_t> end_step) {
  if (!AwaitDelivery()) return NotDelivered();
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
    const absl::Status status = CallOnce(kLookUp, never_stopped, [&](grpc::ClientContext& context) {
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
  base::MutexLock lock(mutex_);
  return CollectUnsent(outboxes_, spool_);
}

std::size_t GrpcRunReporter::outstanding() const {
  base::MutexLock lock(mutex_);
  return outboxes_.outstanding();
}

std::uint64_t GrpcRunReporter::lost() const {
  base::MutexLock lock(mutex_);
  return outboxes_.lost();
}

void GrpcRunReporter::Add(ReportedRecord record) {
  std::visit(
      [this](auto& added) {
        base::MutexLock lock(mutex_);
        Put(std::move(added));
        if (outboxes_.HasWaiting(options_.spool_after_records)) spill_.NotifyOne();
      },
      record);
}

void GrpcRunReporter::Put(const wire::StepRecord& step) {
  Outbox<AddressedStep>& steps = outboxes_.Of<AddressedStep>();
  steps.Add({self_.rank, self_.attempt, step});
  last_step_ = static_cast<std::int64_t>(step.step);
  if (steps.waiting() == options_.block_steps) wake_.NotifyOne();
}

void GrpcRunReporter::Put(const AttemptSteps& steps) {
  for (const wire::StepRecord& step : steps.steps) {
    outboxes_.Of<AddressedStep>().Add({steps.rank, steps.attempt, step});
  }
  wake_.NotifyOne();
}

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
  base::MutexLock lock(mutex_);
  const bool answers = !last_failure_.ok() && !IsAbsence(last_failure_);
  const std::string time =
      hurried_ ? ", which is not waited for"
               : absl::StrCat(" within ", static_cast<double>(connection_->options().give_up.count()) / 1000,
                              " s (--give-up)");
  return absl::Status(
      answers ? last_failure_.code() : absl::StatusCode::kUnavailable,
      absl::StrCat(outboxes_.outstanding(), " records of run ", run(), " were not delivered to server ",
                   connection_->options().server, time, ": ",
                   last_failure_.ok() ? absl::string_view("no answer yet") : last_failure_.message()));
}

// The sender's thread.
void GrpcRunReporter::Send() {
  while (WaitUntilDue()) {
    SendSpooled();
    SendAll(ReportKinds());
    SendLost();
  }
}

// False when the reporter is being destroyed.
bool GrpcRunReporter::WaitUntilDue() {
  const auto deadline = Clock::now() + options_.flush_every;
  base::MutexLock lock(mutex_);
  while (!stopping_ && !IsDue()) {
    if (!wake_.WaitUntil(mutex_, deadline)) break;
  }
  return !stopping_;
}

// There are records in the spool, or a block of steps is full, or a Flush waits for something.
bool GrpcRunReporter::IsDue() const {
  if (spooled_blocks_ > 0) return true;
  const Outbox<AddressedStep>& steps = outboxes_.Of<AddressedStep>();
  if (steps.has_next() && steps.waiting() >= options_.block_steps) return true;
  return flushing_ > 0 && (outboxes_.has_next() || lost_reported_ != outboxes_.lost());
}

// Delivers what is in the spool, until nothing is or the reporter is being destroyed.
void GrpcRunReporter::SendSpooled() {
  while (HasSpooled()) {
    const absl::StatusOr<SpooledBlock> block = spool_.Front();
    if (!block.ok()) return LoseSpool(block.status());
    bool settled = false;
    VisitKind(block->kind, [&](auto kind) { settled = SendSpooled<decltype(kind)>(*block); });
    if (!settled) return;
  }
}

bool GrpcRunReporter::HasSpooled() const {
  base::MutexLock lock(mutex_);
  return spooled_blocks_ > 0;
}

// False when the reporter is being destroyed.
template <typename Kind>
bool GrpcRunReporter::SendSpooled(const SpooledBlock& block) {
  decltype(Kind::ToRequest(self_, {})) request;
  request.ParseFromString(block.request);
  const absl::Status delivered = Deliver(Kind::kMethod, request);
  if (absl::IsCancelled(delivered)) return false;
  spool_.Pop();
  base::MutexLock lock(mutex_);
  CountRefused(delivered, block.records);
  outboxes_.Of<typename Kind::Record>().SettleSpilled(block.records, block.end);
  --spooled_blocks_;
  settled_.NotifyAll();
  return true;
}

template <typename... Kinds>
void GrpcRunReporter::SendAll(std::tuple<Kinds...>) {
  (SendWaiting<Kinds>(), ...);
}

// Delivers the records of a kind that wait in memory, block by block, until none does, or older ones are in the
// spool, or the reporter is being destroyed.
template <typename Kind>
void GrpcRunReporter::SendWaiting() {
  while (true) {
    const std::vector<typename Kind::Record> block = Take<Kind>();
    if (block.empty()) return;
    const absl::Status delivered = Deliver(Kind::kMethod, Kind::ToRequest(self_, block));
    if (absl::IsCancelled(delivered)) return;
    base::MutexLock lock(mutex_);
    CountRefused(delivered, block.size());
    outboxes_.Of<typename Kind::Record>().Settle();
    settled_.NotifyAll();
  }
}

template <typename Kind>
std::vector<typename Kind::Record> GrpcRunReporter::Take() {
  base::MutexLock lock(mutex_);
  return outboxes_.Of<typename Kind::Record>().Take(Kind::MaxRecords(options_), Kind::Alike);
}

// A server that does not know of lost records refuses to hear of them.
void GrpcRunReporter::SendLost() {
  const std::uint64_t records = lost();
  {
    base::MutexLock lock(mutex_);
    if (records == lost_reported_) return;
  }
  v1::ReportLostRecordsRequest request;
  request.set_run(self_.run);
  request.set_rank(self_.rank);
  request.set_attempt(self_.attempt);
  request.set_records(records);
  if (absl::IsCancelled(Deliver(&v1::RunService::Stub::ReportLostRecords, request))) return;
  base::MutexLock lock(mutex_);
  lost_reported_ = records;
  settled_.NotifyAll();
}

// Sends until the server takes or refuses it; CANCELLED when the reporter is being destroyed.
template <typename Request, typename Response>
absl::Status GrpcRunReporter::Deliver(grpc::Status (v1::RunService::Stub::*method)(grpc::ClientContext*,
                                                                                   const Request&, Response*),
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
bool GrpcRunReporter::WaitToRetry(const absl::Status& failure, milliseconds delay) {
  const auto deadline = Clock::now() + delay;
  base::MutexLock lock(mutex_);
  last_failure_ = failure;
  ++failures_;
  settled_.NotifyAll();
  const std::uint64_t flushes = flushes_;
  while (!stopping_ && flushes_ == flushes) {
    if (!wake_.WaitUntil(mutex_, deadline)) break;
  }
  return !stopping_;
}

void GrpcRunReporter::CountRefused(const absl::Status& status, std::size_t records) {
  if (status.ok()) return;
  if (refused_ == 0) refusal_ = status;
  refused_ += records;
}

// The file does not give back what was written to it.
void GrpcRunReporter::LoseSpool(const absl::Status& reason) {
  base::MutexLock lock(mutex_);
  spool_.Clear();  // with the count of its blocks
  last_failure_ = reason;
  outboxes_.LoseSpilled();
  spooled_blocks_ = 0;
  settled_.NotifyAll();
}

// The spilling thread.
void GrpcRunReporter::Spill() {
  while (AwaitSpill()) SpillAll(ReportKinds());
}

// False when the reporter is being destroyed.
bool GrpcRunReporter::AwaitSpill() {
  base::MutexLock lock(mutex_);
  while (!stopping_) {
    const bool many = outboxes_.HasWaiting(options_.spool_after_records);
    if (many && Clock::now() >= spill_after_) return true;
    if (many) {
      spill_.WaitUntil(mutex_, spill_after_);
    } else {
      spill_.Wait(mutex_);
    }
  }
  return false;
}

template <typename... Kinds>
void GrpcRunReporter::SpillAll(std::tuple<Kinds...>) {
  (SpillWaiting<Kinds>(), ...);
}

// Moves one block to the spool where many records of the kind wait.
template <typename Kind>
void GrpcRunReporter::SpillWaiting() {
  SpooledBlock block{.kind = IndexOf<Kind>()};
  std::vector<typename Kind::Record> records;
  {
    base::MutexLock lock(mutex_);
    Outbox<typename Kind::Record>& outbox = outboxes_.Of<typename Kind::Record>();
    if (outbox.waiting() < options_.spool_after_records) return;
    records = outbox.BeginSpill(Kind::MaxRecords(options_), Kind::Alike);
    block.records = static_cast<std::uint32_t>(records.size());
    block.end = outbox.spilling_end();
  }
  block.request = Kind::ToRequest(self_, records).SerializeAsString();
  const bool moved = spool_.Append(block).ok();
  base::MutexLock lock(mutex_);
  outboxes_.Of<typename Kind::Record>().EndSpill(moved);
  if (moved) {
    ++spooled_blocks_;
  } else {
    spill_after_ = Clock::now() + kSpillPause;
  }
  wake_.NotifyOne();
}

}  // namespace packtrain::client
