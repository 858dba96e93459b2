#include "server/batches/build_ahead.h"

#include <algorithm>
#include <utility>

#include "proto/base/error_details.h"
#include "proto/base/status_macros.h"
#include "proto/wire/body_pool.h"

namespace packtrain::batches {
namespace {

// However large they are: the batch being sent and the one behind it.
constexpr int kMinBodies = 2;
// What a batch takes in the window beside its body.
constexpr std::uint64_t kBatchBytes = 4 << 10;

// What a batch with such a body takes in the window.
std::uint64_t HeldBytes(std::uint64_t body_bytes) {
  return wire::BodyPool::CapacityOf(body_bytes) + kBatchBytes;
}

std::uint64_t ReservedBytes(const BatchSequence& sequence, const BatchSequence::Planned& planned) {
  return HeldBytes(sequence.BodyBytes(planned));
}

std::uint64_t Nanoseconds(std::chrono::nanoseconds time) { return static_cast<std::uint64_t>(time.count()); }

}  // namespace

std::shared_ptr<BuildAhead> BuildAhead::Create(const StreamEnvironment& environment, StreamRequest request,
                                               std::function<void()> on_ready) {
  return std::shared_ptr<BuildAhead>(new BuildAhead(environment, std::move(request), std::move(on_ready)));
}

BuildAhead::BuildAhead(const StreamEnvironment& environment, StreamRequest request,
                       std::function<void()> on_ready)
    : environment_(environment), request_(std::move(request)), on_ready_(std::move(on_ready)) {}

BuildAhead::Next BuildAhead::Take() {
  Places dropped;
  Next next;
  {
    base::MutexLock lock(mutex_);
    next = TakeFront(dropped);
  }
  Forget(dropped);
  return next;
}

BuildAhead::Next BuildAhead::TakeFront(Places& dropped) {
  sending_ = false;
  if (!places_.empty() && places_.front()->built.has_value()) {
    absl::StatusOr<EncodedBatch> batch = TakeReady(*places_.front()->built);
    if (batch.ok()) {
      places_.pop_front();
      sending_ = true;
      PostBuild();
      return {.batch = *std::move(batch), .end = std::nullopt};
    }
    end_ = batch.status();
    DropPlaces(dropped);
  }
  return {.batch = std::nullopt, .end = places_.empty() ? end_ : std::nullopt};
}

void BuildAhead::DropPlaces(Places& dropped) {
  dropped.swap(places_);
  for (const std::shared_ptr<Place>& place : dropped) place->dropped = true;
}

void BuildAhead::Forget(const Places& dropped) {
  for (const std::shared_ptr<Place>& place : dropped) {
    std::optional<limits::MemoryBudget::RequestId> request;
    {
      base::MutexLock lock(mutex_);
      request = place->request;
    }
    if (request.has_value()) environment_.memory.budget->Cancel(*request);
  }
}

absl::StatusOr<EncodedBatch> BuildAhead::TakeReady(absl::StatusOr<ReadyBatch>& built) {
  ABSL_RETURN_IF_ERROR(built.status());
  const wire::BatchTiming timing{.build_ns = Nanoseconds(built->build_time),
                                 .queue_ns = Nanoseconds(Clock::now() - built->complete)};
  const wire::BatchHeader& header = built->batch.header;
  ABSL_ASSIGN_OR_RETURN(std::vector<wire::EncodedPart> parts,
                        wire::EncodeBatch(built->header, timing, {built->batch.body.get(), header.body_bytes},
                                          std::min(request_.max_part_bytes, environment_.max_part_bytes)));
  taken_.Count(header, built->build_time);
  return EncodedBatch{std::move(built->batch.body), std::move(parts)};
}

void BuildAhead::BuildMore() {
  {
    base::MutexLock lock(mutex_);
    if (!SenderTakesTurn()) return PostBuild();
  }
  if (BuildOne()) PostTurn();
}

void BuildAhead::Stop() {
  Places dropped;
  {
    base::MutexLock lock(mutex_);
    stopped_ = true;
    DropPlaces(dropped);
  }
  Forget(dropped);
}

BuildAhead::Progress BuildAhead::progress() const {
  base::MutexLock lock(mutex_);
  return {series_, taken_, held_bytes_};
}

void BuildAhead::BuildInTurn() {
  for (int built = 0; !NextMayBlock(); ++built) {
    if (built > 0 && environment_.builders.HasWaiting() && GivesWay(built)) return;
    if (!BuildOne()) return;
  }
  PostTurn();
}

void BuildAhead::PostTurn() {
  if (!NextMayBlock()) {
    return environment_.builders.Post([self = shared_from_this()] { self->BuildInTurn(); });
  }
  environment_.builders.PostBlocking([self = shared_from_this()] { self->PrepareTurn(); });
}

void BuildAhead::PrepareTurn() {
  const absl::Status prepared = IsStopped() ? absl::CancelledError("the stream was stopped") : Prepare();
  if (prepared.ok()) return PostTurn();
  TakePlace(prepared);
  on_ready_();
}

absl::Status BuildAhead::Prepare() {
  if (sequence_ != nullptr) return sequence_->EnterNextEpoch();
  ABSL_ASSIGN_OR_RETURN(sequence_, OpenSequence(environment_, request_));
  base::MutexLock lock(mutex_);
  series_ = sequence_->series();
  return absl::OkStatus();
}

bool BuildAhead::GivesWay(int built) {
  {
    base::MutexLock lock(mutex_);
    if (builders_ > 1) {
      --builders_;
      turn_ = false;
      return true;
    }
  }
  if (built < kBatchesInTurn) return false;
  PostTurn();
  return true;
}

bool BuildAhead::BuildOne() {
  const absl::StatusOr<std::optional<BatchSequence::Planned>> next = sequence_->Next();
  const std::shared_ptr<Place> place = TakePlace(next);
  bool more = false;
  if (place != nullptr) {
    absl::StatusOr<ReadyBatch> built = BuildPlanned(**next, {});
    if (base::ReasonOf(built.status()) == base::kMemoryLimit) {
      AwaitMemory(place, **next);
      return false;
    }
    more = FillPlace(*place, std::move(built), ReservedBytes(*sequence_, **next));
  }
  on_ready_();
  return more;
}

void BuildAhead::AwaitMemory(const std::shared_ptr<Place>& place, const BatchSequence::Planned& planned) {
  using Memory = absl::StatusOr<limits::MemoryBudget::Reservation>;
  const auto build = [self = shared_from_this(), place, planned](Memory memory) {
    self->environment_.builders.Post(
        [self, place, planned, taken = std::make_shared<Memory>(std::move(memory))] {
          self->BuildWith(std::move(*taken), *place, planned);
        });
  };
  limits::MemoryBudget& budget = *environment_.memory.budget;
  const auto request = budget.ReserveLater(limits::MemoryPart::kStreams, sequence_->ReservedBytes(planned),
                                           Clock::now() + environment_.memory_wait, build);
  bool dropped = false;
  {
    base::MutexLock lock(mutex_);
    place->request = request;
    dropped = place->dropped;
  }
  if (dropped) budget.Cancel(request);
}

void BuildAhead::BuildWith(absl::StatusOr<limits::MemoryBudget::Reservation> memory, Place& place,
                           const BatchSequence::Planned& planned) {
  absl::StatusOr<ReadyBatch> built =
      memory.ok() ? BuildPlanned(planned, *std::move(memory)) : absl::StatusOr<ReadyBatch>(memory.status());
  const bool more = FillPlace(place, std::move(built), ReservedBytes(*sequence_, planned));
  on_ready_();
  if (more) BuildInTurn();
}

bool BuildAhead::IsStopped() const {
  base::MutexLock lock(mutex_);
  return stopped_;
}

std::shared_ptr<BuildAhead::Place> BuildAhead::TakePlace(
    const absl::StatusOr<std::optional<BatchSequence::Planned>>& next) {
  const bool quick = sequence_ != nullptr && sequence_->NextIsQuick();
  base::MutexLock lock(mutex_);
  quick_ = quick;
  turn_ = false;
  const bool taken = next.ok() && next->has_value();
  if (!taken && !end_.has_value()) end_ = next.status();
  if (!taken || stopped_) {
    --builders_;
    return nullptr;
  }
  ++bodies_;
  held_bytes_ += ReservedBytes(*sequence_, **next);
  PostBuild();
  return places_.emplace_back(std::make_shared<Place>());
}

absl::StatusOr<BuildAhead::ReadyBatch> BuildAhead::BuildPlanned(
    const BatchSequence::Planned& planned, limits::MemoryBudget::Reservation memory) const {
  const Clock::time_point start = Clock::now();
  ABSL_ASSIGN_OR_RETURN(BuiltBatch built, sequence_->Build(planned, std::move(memory)));
  if (!built.header.corrupt_graphs.empty()) environment_.corrupt_log.Add(sequence_->dataset(), built.header);
  ReadyBatch ready{.batch = std::move(built), .header = {}, .build_time = {}, .complete = {}};
  ready.header = wire::EncodeHeader(ready.batch.header);
  ready.complete = Clock::now();
  ready.build_time = ready.complete - start;
  return ready;
}

bool BuildAhead::FillPlace(Place& place, absl::StatusOr<ReadyBatch> built, std::uint64_t reserved_bytes) {
  base::MutexLock lock(mutex_);
  --bodies_;
  held_bytes_ -= reserved_bytes;
  if (built.ok()) {
    Track(built->batch);
  } else if (!end_.has_value()) {
    end_ = built.status();
  }
  place.built = std::move(built);
  const bool more = !quick_ && !turn_ && MayBuild(environment_.window_bytes);
  if (more) {
    turn_ = true;
  } else {
    --builders_;
  }
  return more;
}

void BuildAhead::Track(BuiltBatch& batch) {
  const std::uint64_t bytes = HeldBytes(batch.header.body_bytes);
  ++bodies_;
  held_bytes_ += bytes;
  const auto tell = [ahead = weak_from_this(), body = batch.body, bytes](const std::byte*) mutable {
    body.reset();
    if (const std::shared_ptr<BuildAhead> alive = ahead.lock()) alive->BodyFreed(bytes);
  };
  batch.body = std::shared_ptr<const std::byte>(batch.body.get(), tell);
}

void BuildAhead::BodyFreed(std::uint64_t bytes) {
  base::MutexLock lock(mutex_);
  --bodies_;
  held_bytes_ -= bytes;
  PostBuild();
}

bool BuildAhead::SenderTakesTurn() {
  if (sending_ || !quick_ || builders_ > 0 || !MayBuild(environment_.window_bytes)) return false;
  ++builders_;
  turn_ = true;
  return true;
}

void BuildAhead::PostBuild() {
  // What is quick is built by the sender when it asks for it.
  if (quick_ && (sending_ || builders_ > 0)) return;
  // Half a window at a time, so that not every body that is freed wakes a builder.
  if (turn_ || !MayBuild(environment_.window_bytes / 2)) return;
  if (builders_ > 0 && !environment_.builders.HasIdle()) return;
  ++builders_;
  turn_ = true;
  PostTurn();
}

bool BuildAhead::MayBuild(std::uint64_t window_bytes) const {
  if (stopped_ || end_.has_value()) return false;
  return bodies_ < kMinBodies || held_bytes_ < window_bytes;
}

}  // namespace packtrain::batches
