#include <grpcpp/client_context.h>

#include <optional>
#include <utility>

#include "client/internal/grpc_run_reporter.h"
#include "client/internal/retry.h"
#include "client/internal/unary_call.h"

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

}  // namespace

bool IsAbsence(const absl::Status& status) { return IsTransient(status) || absl::IsDeadlineExceeded(status); }

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

// There are records in the spool, or a block of steps is full, or AddSteps or Flush waits for something.
bool GrpcRunReporter::IsDue() const {
  if (spooled_blocks_ > 0) return true;
  const Outbox<AddressedStep>& steps = outboxes_.Of<AddressedStep>();
  if (steps.has_next() && steps.waiting() >= options_.block_steps) return true;
  if (awaiting_room_ + flushing_ > 0 && outboxes_.has_next()) return true;
  return flushing_ > 0 && losses_.Untold().has_value();
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
  NoteSettled();
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
    NoteSettled();
  }
}

template <typename Kind>
std::vector<typename Kind::Record> GrpcRunReporter::Take() {
  base::MutexLock lock(mutex_);
  return outboxes_.Of<typename Kind::Record>().Take(Kind::MaxRecords(options_), Kind::Alike);
}

// A server that does not know of lost records refuses to hear of them.
void GrpcRunReporter::SendLost() {
  while (const std::optional<LostRecords> lost = UntoldLoss()) {
    v1::ReportLostRecordsRequest request;
    request.set_run(self_.run);
    request.set_rank(lost->rank);
    request.set_attempt(lost->attempt);
    request.set_records(lost->records);
    if (absl::IsCancelled(Deliver(&v1::RunService::Stub::ReportLostRecords, request))) return;
    base::MutexLock lock(mutex_);
    losses_.Told(*lost);
    NoteSettled();
  }
}

std::optional<LostRecords> GrpcRunReporter::UntoldLoss() const {
  base::MutexLock lock(mutex_);
  return losses_.Untold();
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
      base::MutexLock lock(mutex_);
      failure_ = absl::OkStatus();
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
  failure_ = failure;
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

void GrpcRunReporter::NoteSettled() {
  ++settlements_;
  settled_.NotifyAll();
}

// The file does not give back what was written to it.
void GrpcRunReporter::LoseSpool(const absl::Status& reason) {
  base::MutexLock lock(mutex_);
  spool_.Clear();  // with the count of its blocks
  failure_ = reason;
  outboxes_.LoseSpilled();
  losses_.Raise({self_.rank, self_.attempt, outboxes_.lost()});
  spooled_blocks_ = 0;
  NoteSettled();
}

// The spilling thread.
void GrpcRunReporter::Spill() {
  while (AwaitSpill()) SpillAll(ReportKinds());
}

// False when the reporter is being destroyed.
bool GrpcRunReporter::AwaitSpill() {
  base::MutexLock lock(mutex_);
  while (!stopping_) {
    const bool many =
        outboxes_.HasWaiting(options_.spool_after_records) || PilesUp(outboxes_.Of<AddressedStep>());
    if (!many) {
      spill_.Wait(mutex_);
    } else if (spill_after_.has_value() && Clock::now() < *spill_after_) {
      spill_.WaitUntil(mutex_, *spill_after_);
    } else {
      return true;
    }
  }
  return false;
}

// Many records wait, or there is no room for those that AddSteps adds.
template <typename Record>
bool GrpcRunReporter::PilesUp(const Outbox<Record>& outbox) const {
  if (outbox.waiting() >= options_.spool_after_records) return true;
  return awaiting_room_ > 0 && outbox.is_full() && outbox.waiting() > 0;
}

template <typename... Kinds>
void GrpcRunReporter::SpillAll(std::tuple<Kinds...>) {
  (SpillWaiting<Kinds>(), ...);
}

// Moves one block to the spool where records of the kind pile up.
template <typename Kind>
void GrpcRunReporter::SpillWaiting() {
  SpooledBlock block{.kind = IndexOf<Kind>()};
  std::vector<typename Kind::Record> records;
  {
    base::MutexLock lock(mutex_);
    Outbox<typename Kind::Record>& outbox = outboxes_.Of<typename Kind::Record>();
    if (!PilesUp(outbox)) return;
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
    spill_after_.reset();
  } else {
    spill_after_ = Clock::now() + kSpillPause;
  }
  wake_.NotifyOne();
  settled_.NotifyAll();
}

}  // namespace packtrain::client
