#include "server/serving/batch_stream.h"

#include <grpcpp/support/slice.h>

#include <utility>

#include "proto/base/error_details.h"
#include "proto/base/status_convert.h"

namespace packtrain::serving {
namespace {

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

}  // namespace

std::shared_ptr<BatchStream> BatchStream::Create(const batches::StreamEnvironment& environment,
                                                 batches::StreamRequest request, OnDoneCallback on_done) {
  std::shared_ptr<BatchStream> stream(new BatchStream(std::move(on_done)));
  const auto advance = [weak = std::weak_ptr(stream)] {
    if (const std::shared_ptr<BatchStream> alive = weak.lock()) alive->Advance();
  };
  stream->ahead_ = batches::BuildAhead::Create(environment, std::move(request), advance);
  return stream;
}

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
  ahead_->Stop();
  Advance();
}

BatchStream::Progress BatchStream::progress() const {
  const batches::BuildAhead::Progress built = ahead_->progress();
  base::MutexLock lock(mutex_);
  return {built.series, built.taken, built.held_bytes, end_.value_or(absl::OkStatus())};
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
  ahead_->Stop();
  Advance();
}

void BatchStream::OnDone() {
  const std::shared_ptr<BatchStream> self = std::move(self_);
  unread_.reset();
  message_.Clear();
  on_done_(self);
}

void BatchStream::Advance() {
  // Another thread may finish the call while this one builds.
  const std::shared_ptr<batches::BuildAhead> ahead = ahead_;
  bool write = false;
  std::optional<absl::Status> end;
  {
    base::MutexLock lock(mutex_);
    if (writing_ || end_.has_value()) return;
    write = writing_ = PrepareWrite();
    end = end_;
  }
  if (write) {
    unread_->BeginWait();
    StartWrite(&message_);
  } else if (end.has_value()) {
    ahead->Stop();
    Finish(base::ToGrpcStatus(*end));
  } else {
    ahead->BuildMore();
  }
}

bool BatchStream::PrepareWrite() {
  message_.Clear();
  if (!sending_.has_value() || cancelled_) {
    end_ = Interrupted();
    if (end_.has_value()) return false;
    batches::BuildAhead::Next next = ahead_->Take();
    end_ = std::move(next.end);
    sending_ = std::move(next.batch);
    next_part_ = 0;
  }
  if (!sending_.has_value()) return false;
  message_ = ToByteBuffer(sending_->parts[next_part_], sending_->body);
  if (++next_part_ == sending_->parts.size()) sending_.reset();
  return true;
}

std::optional<absl::Status> BatchStream::Interrupted() const {
  if (cancelled_) return absl::CancelledError("the client ended the stream");
  if (!draining_) return std::nullopt;
  return base::WithReason(
      absl::UnavailableError("the server is shutting down; reconnect and ask for the next step"),
      "SHUTTING_DOWN");
}

}  // namespace packtrain::serving
