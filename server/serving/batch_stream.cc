#include "server/serving/batch_stream.h"

#include <grpcpp/support/slice.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/error_details.h"
#include "proto/base/status_convert.h"
#include "proto/base/status_macros.h"
#include "proto/wire/batch_spec_convert.h"

namespace packtrain::serving {
namespace {

// However large they are: the batch being written and the one behind it.
constexpr int kLeastBodies = 2;
// Of a batch beside its body, in the window.
constexpr std::uint64_t kBatchBytes = 4 << 10;
// Below gRPC's default receive limit of 4 MiB, with room for what a client may add.
constexpr std::uint32_t kDefaultMessageBytes = (4 << 20) - (64 << 10);
constexpr std::uint32_t kLeastRequestedBytes = 4 << 10;

using Clock = std::chrono::steady_clock;

// Of a batch with such a body, in the window.
std::uint64_t HeldBytes(std::uint64_t body_bytes) {
  return wire::BodyPool::CapacityOf(body_bytes) + kBatchBytes;
}

std::uint64_t ReservedBytes(const batches::BatchSequence& sequence,
                            const batches::BatchSequence::Planned& planned) {
  return HeldBytes(sequence.BodyBytes(planned));
}

// A slice of `body` that keeps it alive.
grpc::Slice BodySlice(const wire::EncodedPart& part, const std::shared_ptr<const std::byte>& body) {
  const auto release = [](void* owner) { delete static_cast<std::shared_ptr<const std::byte>*>(owner); };
  // gRPC takes a mutable pointer and does not write through it.
  return grpc::Slice(const_cast<std::byte*>(part.body.data()), part.body.size(), release,
                     new std::shared_ptr<const std::byte>(body));
}

grpc::ByteBuffer ToByteBuffer(const wire::EncodedPart& part, const std::shared_ptr<const std::byte>& body) {
  const grpc::Slice prefix(part.prefix);
  if (part.body.empty()) return grpc::ByteBuffer(&prefix, 1);
  const grpc::Slice slices[] = {prefix, BodySlice(part, body)};
  return grpc::ByteBuffer(slices, 2);
}

std::uint64_t Nanoseconds(std::chrono::nanoseconds time) { return static_cast<std::uint64_t>(time.count()); }

batches::SequenceRange RangeOf(const v1::StreamBatchesRequest& request, bool skip_corrupt) {
  return {.rank = request.rank(),
          .world = wire::WorldOf(request),
          .start_epoch = request.start_epoch(),
          .start_step = request.start_step(),
          .epochs = request.epochs(),
          .skip_corrupt = skip_corrupt};
}

absl::Status CheckMessageBytes(std::uint32_t requested) {
  if (requested == 0 || requested >= kLeastRequestedBytes) return absl::OkStatus();
  return base::WithField(absl::InvalidArgumentError(absl::StrCat(
                             "max_message_bytes ", requested, " is below the least, ", kLeastRequestedBytes)),
                         "max_message_bytes");
}

std::uint32_t PartBytes(std::uint32_t requested, std::uint32_t limit) {
  return std::min(requested == 0 ? kDefaultMessageBytes : requested, limit);
}

absl::Status CheckFingerprint(const std::string& expected, const batches::BatchSource& source) {
  if (expected.empty() || expected == source.fingerprint) return absl::OkStatus();
  return base::WithReason(absl::FailedPreconditionError(absl::StrCat(
                              "the plan of ", source.reference(), " split ", source.split, " has fingerprint ",
                              source.fingerprint, ", expected was ", expected,
                              ": data set, split, spec or plan version differ from the earlier run's")),
                          "FINGERPRINT_MISMATCH",
                          {{"fingerprint", source.fingerprint}, {"expected", expected}});
}

}  // namespace

std::shared_ptr<BatchStream> BatchStream::Create(const StreamEnvironment& environment,
                                                 v1::StreamBatchesRequest request, OnDoneCallback on_done) {
  return std::shared_ptr<BatchStream>(new BatchStream(environment, std::move(request), std::move(on_done)));
}

BatchStream::BatchStream(const StreamEnvironment& environment, v1::StreamBatchesRequest request,
                         OnDoneCallback on_done)
    : environment_(environment), request_(std::move(request)), on_done_(std::move(on_done)) {}

void BatchStream::Start(IdleWatch& idle, std::function<void()> cut_off) {
  self_ = shared_from_this();
  unread_.emplace(idle, std::move(cut_off));
  Advance();
}

void BatchStream::Drain() {
  {
    base::MutexLock lock(mutex_);
    draining_ = true;
  }
  Advance();
}

BatchStream::Progress BatchStream::progress() const {
  base::MutexLock lock(mutex_);
  return {series_, sent_, held_bytes_, told_};
}

void BatchStream::OnWriteDone(bool ok) {
  unread_->EndWait();
  {
    base::MutexLock lock(mutex_);
    writing_ = false;
    if (!ok) cancelled_ = true;
  }
  Advance();
}

void BatchStream::OnCancel() {
  {
    base::MutexLock lock(mutex_);
    cancelled_ = true;
  }
  Advance();
}

void BatchStream::OnDone() {
  Leftovers leftovers;
  const std::shared_ptr<BatchStream> self = std::move(self_);
  unread_.reset();
  leftovers.message.Swap(&message_);
  on_done_(self);
}

void BatchStream::BodyFreed(std::uint64_t bytes) {
  base::MutexLock lock(mutex_);
  --bodies_;
  held_bytes_ -= bytes;
  PostBuild();
}

void BatchStream::Build() {
  for (int built = 1; BuildOne(); ++built) {
    if (environment_.builders.HasWaiting() && GivesWay(built)) return;
  }
}

void BatchStream::GoOnBuilding() {
  environment_.builders.Post([self = shared_from_this()] { self->Build(); });
}

bool BatchStream::GivesWay(int built) {
  {
    base::MutexLock lock(mutex_);
    if (builders_ > 1) {
      --builders_;
      turn_ = false;
      return true;
    }
  }
  if (built < kBatchesInTurn) return false;
  GoOnBuilding();
  return true;
}

bool BatchStream::BuildOne() {
  const absl::StatusOr<std::optional<batches::BatchSequence::Planned>> next = TakeNext();
  const std::shared_ptr<Place> place = TakePlace(next);
  bool more = false;
  if (place != nullptr) more = FillPlace(*place, BuildPlanned(**next), ReservedBytes(*sequence_, **next));
  Advance();
  return more;
}

absl::StatusOr<std::optional<batches::BatchSequence::Planned>> BatchStream::TakeNext() {
  if (sequence_ == nullptr) {
    ABSL_RETURN_IF_ERROR(OpenSequence());
  }
  return sequence_->Next();
}

std::shared_ptr<BatchStream::Place> BatchStream::TakePlace(
    const absl::StatusOr<std::optional<batches::BatchSequence::Planned>>& next) {
  const bool quick = sequence_ != nullptr && sequence_->NextIsQuick();
  base::MutexLock lock(mutex_);
  quick_ = quick;
  turn_ = false;
  const bool taken = next.ok() && next->has_value();
  if (!taken && !end_.has_value()) end_ = next.status();
  if (!taken || finished_) {
    --builders_;
    return nullptr;
  }
  ++bodies_;
  held_bytes_ += ReservedBytes(*sequence_, **next);
  PostBuild();
  return places_.emplace_back(std::make_shared<Place>());
}

absl::StatusOr<BatchStream::ReadyBatch> BatchStream::BuildPlanned(
    const batches::BatchSequence::Planned& planned) const {
  const Clock::time_point start = Clock::now();
  ABSL_ASSIGN_OR_RETURN(batches::BuiltBatch built, sequence_->Build(planned));
  if (!built.header.corrupt_graphs.empty()) environment_.damage.Add(sequence_->dataset(), built.header);
  ReadyBatch ready{.batch = std::move(built), .header = {}, .build_time = {}, .complete = {}};
  ready.header = wire::EncodeHeader(ready.batch.header);
  ready.complete = Clock::now();
  ready.build_time = ready.complete - start;
  return ready;
}

bool BatchStream::FillPlace(Place& place, absl::StatusOr<ReadyBatch> built, std::uint64_t reserved_bytes) {
  base::MutexLock lock(mutex_);
  --bodies_;
  held_bytes_ -= reserved_bytes;
  if (built.ok()) {
    Track(built->batch);
  } else if (!end_.has_value()) {
    end_ = built.status();
  }
  place.built = std::move(built);
  const bool more = !quick_ && !turn_ && MayBuild(kStreamWindowBytes);
  if (more) {
    turn_ = true;
  } else {
    --builders_;
  }
  return more;
}

absl::Status BatchStream::OpenSequence() {
  ABSL_RETURN_IF_ERROR(CheckMessageBytes(request_.max_message_bytes()));
  ABSL_ASSIGN_OR_RETURN(const bool skip_corrupt, wire::SkipsCorrupt(request_));
  ABSL_ASSIGN_OR_RETURN(batches::BatchSource source,
                        batches::ResolveBatchSource(environment_.store, request_.dataset(), request_.spec()));
  ABSL_RETURN_IF_ERROR(CheckFingerprint(request_.expected_fingerprint(), source));
  {
    base::MutexLock lock(mutex_);
    series_ = {wire::WordOf(static_cast<wire::Policy>(request_.spec().policy()), wire::kPolicyWords),
               source.dataset->description().name()};
  }
  // Plans go on holding the stored data set: kept ones must not keep records in memory.
  ABSL_ASSIGN_OR_RETURN(batches::BatchBuilder builder,
                        batches::BatchBuilder::Create(environment_.residents.Use(source.dataset),
                                                      environment_.max_batch_bytes, environment_.memory));
  ABSL_ASSIGN_OR_RETURN(
      std::unique_ptr<batches::BatchSequence> sequence,
      batches::BatchSequence::Open(std::move(source), RangeOf(request_, skip_corrupt), std::move(builder),
                                   environment_.plans, environment_.shared, environment_.planners));
  sequence_ = std::move(sequence);
  return absl::OkStatus();
}

void BatchStream::Track(batches::BuiltBatch& batch) {
  const std::uint64_t bytes = HeldBytes(batch.header.body_bytes);
  ++bodies_;
  held_bytes_ += bytes;
  const auto tell = [stream = weak_from_this(), body = batch.body, bytes](const std::byte*) mutable {
    body.reset();
    if (const std::shared_ptr<BatchStream> alive = stream.lock()) alive->BodyFreed(bytes);
  };
  batch.body = std::shared_ptr<const std::byte>(batch.body.get(), tell);
}

void BatchStream::Advance() {
  Leftovers leftovers;
  bool write = false;
  std::optional<absl::Status> end;
  // Itself, where it builds: another thread may finish the call meanwhile.
  std::shared_ptr<BatchStream> builder;
  {
    base::MutexLock lock(mutex_);
    if (finished_) {
      leftovers.places.swap(places_);
      return;
    }
    if (!writing_) {
      write = writing_ = PrepareWrite(leftovers);
      if (!write) end = EndReached();
      finished_ = end.has_value();
      if (finished_) told_ = *end;
      if (!write && TakesBuild()) builder = shared_from_this();
    }
    PostBuild();
  }
  if (write) {
    unread_->BeginWait();
    StartWrite(&message_);
  }
  if (end.has_value()) Finish(base::ToGrpcStatus(*end));
  if (builder != nullptr && builder->BuildOne()) builder->GoOnBuilding();
}

bool BatchStream::TakesBuild() {
  if (!quick_ || builders_ > 0 || !MayBuild(kStreamWindowBytes)) return false;
  ++builders_;
  turn_ = true;
  return true;
}

void BatchStream::PostBuild() {
  // What follows a write that is under way is built behind it, where that is quick.
  if (quick_ && (writing_ || builders_ > 0)) return;
  // Half a window at a time, so that not every body that is freed wakes a builder.
  if (turn_ || !MayBuild(kStreamWindowBytes / 2)) return;
  if (builders_ > 0 && !environment_.builders.HasIdle()) return;
  ++builders_;
  turn_ = true;
  GoOnBuilding();
}

bool BatchStream::MayBuild(std::uint64_t window_bytes) const {
  if (finished_ || cancelled_ || draining_ || end_.has_value()) return false;
  return bodies_ < kLeastBodies || held_bytes_ < window_bytes;
}

bool BatchStream::PrepareWrite(Leftovers& leftovers) {
  leftovers.message.Swap(&message_);
  if (cancelled_) return false;
  if (!sending_.has_value() && !draining_) TakeReady(leftovers);
  if (!sending_.has_value()) return false;
  const wire::EncodedPart& part = sending_->parts[sending_->next];
  message_ = ToByteBuffer(part, sending_->body);
  if (++sending_->next == sending_->parts.size()) leftovers.sending.swap(sending_);
  return true;
}

void BatchStream::TakeReady(Leftovers& leftovers) {
  if (places_.empty() || !places_.front()->built.has_value()) return;
  if (const absl::Status& status = places_.front()->built->status(); !status.ok()) {
    end_ = status;
    leftovers.places.swap(places_);
    return;
  }
  ReadyBatch& ready = **places_.front()->built;
  const wire::BatchTiming timing{.build_ns = Nanoseconds(ready.build_time),
                                 .queue_ns = Nanoseconds(Clock::now() - ready.complete)};
  absl::StatusOr<std::vector<wire::EncodedPart>> parts =
      wire::EncodeBatch(ready.header, timing, {ready.batch.body.get(), ready.batch.header.body_bytes},
                        PartBytes(request_.max_message_bytes(), environment_.max_part_bytes));
  if (!parts.ok()) {
    end_ = parts.status();
    leftovers.places.swap(places_);
    return;
  }
  sent_.Count(ready.batch.header, ready.build_time);
  sending_ = Sending{std::move(ready.batch.body), *std::move(parts)};
  places_.pop_front();
}

std::optional<absl::Status> BatchStream::EndReached() const {
  if (cancelled_) return absl::CancelledError("the client ended the stream");
  if (draining_) {
    return base::WithReason(
        absl::UnavailableError("the server is shutting down; reconnect and ask for the next step"),
        "SHUTTING_DOWN");
  }
  if (end_.has_value() && places_.empty()) return end_;
  return std::nullopt;
}

}  // namespace packtrain::serving
