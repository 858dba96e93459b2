#include "client/batch_reader.h"

#include <grpcpp/client_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>
#include <grpcpp/support/sync_stream.h>

#include <atomic>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/internal/batch_queue.h"
#include "client/internal/channel.h"
#include "client/internal/retry.h"
#include "client/internal/stream_position.h"
#include "client/internal/unary_call.h"
#include "packtrain/v1/batch.grpc.pb.h"
#include "proto/base/error_details.h"
#include "proto/base/status_macros.h"
#include "proto/wire/batch_assembler.h"
#include "proto/wire/batch_spec_convert.h"

namespace packtrain::client {
namespace {

constexpr char kStreamBatches[] = "/packtrain.v1.BatchService/StreamBatches";

std::vector<grpc::Slice> SlicesOf(const grpc::ByteBuffer& message) {
  std::vector<grpc::Slice> slices;
  (void)message.Dump(&slices);
  return slices;
}

std::vector<wire::Fragment> FragmentsOf(const std::vector<grpc::Slice>& slices) {
  std::vector<wire::Fragment> fragments;
  fragments.reserve(slices.size());
  for (const grpc::Slice& slice : slices) {
    fragments.emplace_back(reinterpret_cast<const std::byte*>(slice.begin()), slice.size());
  }
  return fragments;
}

v1::StreamBatchesRequest FirstRequest(const StreamRequest& request, v1::BatchSpec spec, int max_message_bytes) {
  v1::StreamBatchesRequest message;
  message.set_dataset(request.dataset);
  *message.mutable_spec() = std::move(spec);
  message.set_rank(request.rank);
  message.set_world_size(request.world_size);
  message.set_max_message_bytes(static_cast<std::uint32_t>(max_message_bytes));
  message.set_place(request.place);
  if (request.on_corrupt == OnCorrupt::kSkip) message.set_on_corrupt(v1::ON_CORRUPT_SKIP);
  return message;
}

void SetSegments(const std::vector<wire::Segment>& segments, v1::StreamBatchesRequest& message) {
  message.clear_segments();
  for (const wire::Segment& segment : segments) *message.add_segments() = wire::ToMessage(segment);
}

// Receives on the thread that asks for a batch.
class GrpcBatchReader final : public BatchReader {
 public:
  GrpcBatchReader(std::shared_ptr<Connection> connection, const StreamRequest& request, v1::BatchSpec spec)
      : connection_(std::move(connection)),
        size_flags_(wire::SizeFlagsOf(request.spec)),
        request_(FirstRequest(request, std::move(spec), connection_->options().max_message_bytes)),
        position_(request),
        assembler_(connection_->options().max_batch_bytes),
        view_(std::in_place, ReachabilityOf(*connection_)),
        retry_(connection_->options(), stop_, &*view_) {}

  ~GrpcBatchReader() override {
    Cancel();
    if (call_ != nullptr) (void)EndCall();
  }

  absl::StatusOr<std::optional<wire::Batch>> Next() override {
    if (!outcome_.has_value() && stop_.stopped()) outcome_ = Stopped();
    if (outcome_.has_value()) return Outcome();
    absl::StatusOr<std::optional<wire::Batch>> next = Receive();
    if (next.ok() && next->has_value()) return next;
    outcome_ = stop_.stopped() ? Stopped() : next.status();
    view_.reset();
    return Outcome();
  }

  std::uint64_t body_checks() const override { return body_checks_; }

  void Cancel() override { stop_.Stop(); }

 private:
  // One call, and what can stop it.
  struct Call {
    Call(StopSignal& stop, grpc::Channel& channel, const v1::StreamBatchesRequest& request)
        : attachment(stop, context), stream(OpenRawReader(channel, context, kStreamBatches, request)) {}

    grpc::ClientContext context;
    StopSignal::Attachment attachment;
    const std::unique_ptr<RawReader> stream;
  };

  static absl::Status Stopped() { return absl::CancelledError("the stream was cancelled by its reader"); }

  absl::StatusOr<std::optional<wire::Batch>> Outcome() const {
    if (!outcome_->ok()) return *outcome_;
    return std::nullopt;
  }

  // The next batch, over as many calls as it takes; nullopt at the end of the last epoch.
  absl::StatusOr<std::optional<wire::Batch>> Receive() {
    while (call_ != nullptr || !position_.AtEnd()) {
      if (call_ == nullptr) OpenCall();
      absl::StatusOr<std::optional<wire::Batch>> batch = ReceiveOfCall();
      if (batch.ok() && batch->has_value()) return batch;
      if (!batch.ok()) call_->context.TryCancel();
      const absl::Status ended = EndCall();
      const absl::Status status = batch.ok() ? OfFullServer(ended) : batch.status();
      if (status.ok()) return End();
      if (absl::Status failed = retry_.WaitAfter(status); !failed.ok()) {
        // The server was there all the time, and full.
        return absl::IsUnavailable(failed) && IsFull(ended) ? ended : failed;
      }
    }
    return std::nullopt;
  }

  // Whether the server refused the call because others have its places, and this reader may come again: one
  // that comes back, or that resumes, or that shares a place with one that has ended, may still be counted with
  // the former stream. Until the server has seen that one end, its limit is no reason to end.
  bool IsFull(const absl::Status& ended) const {
    const bool returns = !position_.fingerprint().empty() || !request_.place().empty();
    return returns && base::ReasonOf(ended) == base::kStreamLimit;
  }

  // UNAVAILABLE where the server is full, without the delay that it asks for: a former stream of this reader
  // leaves its place within moments.
  absl::Status OfFullServer(const absl::Status& ended) const {
    return IsFull(ended) ? absl::UnavailableError(ended.message()) : ended;
  }

  // What it means that the server has nothing more to send.
  absl::StatusOr<std::optional<wire::Batch>> End() const {
    ABSL_RETURN_IF_ERROR(position_.CheckEnd());
    return std::nullopt;
  }

  void OpenCall() {
    request_.set_start_epoch(position_.epoch());
    request_.set_start_step(position_.step());
    request_.set_epochs(position_.epochs_left());
    SetSegments(position_.segments(), request_);
    request_.set_expected_fingerprint(position_.fingerprint());
    assembler_.Reset();
    call_ = std::make_unique<Call>(stop_, *ChannelOf(*connection_), request_);
  }

  absl::Status EndCall() {
    absl::Status ended = OutcomeOf(call_->stream->Finish());
    call_.reset();
    return ended;
  }

  // The next batch of the call; nullopt where it has ended.
  absl::StatusOr<std::optional<wire::Batch>> ReceiveOfCall() {
    grpc::ByteBuffer message;
    while (call_->stream->Read(&message)) {
      const std::vector<grpc::Slice> slices = SlicesOf(message);
      absl::StatusOr<std::optional<wire::Batch>> batch = assembler_.Add(FragmentsOf(slices));
      body_checks_ = assembler_.body_checks();
      if (!batch.ok()) return AtPosition(batch.status());
      if (!batch->has_value()) continue;
      retry_.Succeeded();
      ABSL_RETURN_IF_ERROR(position_.Advance((*batch)->header()));
      return batch;
    }
    return std::nullopt;
  }

  absl::Status AtPosition(const absl::Status& status) const {
    const std::string advice =
        absl::IsResourceExhausted(status) ? absl::StrCat("; ", size_flags_, " decide") : "";
    return absl::Status(status.code(),
                        absl::StrCat("epoch ", position_.epoch(), ", step ", position_.step(), " from server ",
                                     connection_->options().server, ": ", status.message(), advice));
  }

  const std::shared_ptr<Connection> connection_;
  const char* const size_flags_;  // for messages
  StopSignal stop_;
  std::atomic<std::uint64_t> body_checks_ = 0;  // the assembler's

  // The reading thread's.
  v1::StreamBatchesRequest request_;
  StreamPosition position_;
  wire::BatchAssembler assembler_;
  std::optional<Reachability::View> view_;  // until the outcome
  Retry retry_;
  std::unique_ptr<Call> call_;
  std::optional<absl::Status> outcome_;  // once there is no other batch
};

// Reads ahead on a thread of its own. Beside what lies ready it holds the batch that does not fit, finished.
class QueuedBatchReader final : public BatchReader {
 public:
  QueuedBatchReader(std::unique_ptr<BatchReader> reader, const ReadAhead& read_ahead)
      : reader_(std::move(reader)), ready_(read_ahead), thread_([this] { ready_.End(ReadAll()); }) {}

  ~QueuedBatchReader() override {
    Cancel();
    thread_.join();
  }

  absl::StatusOr<std::optional<wire::Batch>> Next() override { return ready_.Take(); }
  std::uint64_t body_checks() const override { return reader_->body_checks(); }

  void Cancel() override {
    ready_.Cancel();
    reader_->Cancel();
  }

 private:
  absl::Status ReadAll() {
    for (;;) {
      absl::StatusOr<std::optional<wire::Batch>> batch = reader_->Next();
      if (!batch.ok() || !batch->has_value()) return batch.status();
      if (!ready_.Put(**std::move(batch)))
        return absl::CancelledError("the stream was cancelled by its reader");
    }
  }

  const std::unique_ptr<BatchReader> reader_;
  BatchQueue ready_;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace

absl::StatusOr<std::unique_ptr<BatchReader>> BatchReader::Open(std::shared_ptr<Connection> connection,
                                                               const StreamRequest& request) {
  if (request.rank >= request.world_size) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", request.rank, " is outside a world of ", request.world_size));
  }
  ABSL_ASSIGN_OR_RETURN(v1::BatchSpec spec, wire::ToMessage(request.spec));
  auto reader = std::make_unique<GrpcBatchReader>(std::move(connection), request, std::move(spec));
  if (request.read_ahead.batches == 0) return reader;
  return std::make_unique<QueuedBatchReader>(std::move(reader), request.read_ahead);
}

}  // namespace packtrain::client
