#include "client/batch_reader.h"

#include <grpcpp/client_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>
#include <grpcpp/support/sync_stream.h>

#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/batch_queue.h"
#include "client/channel.h"
#include "client/retry.h"
#include "client/spec_convert.h"
#include "client/stream_position.h"
#include "packtrain/v1/batch.grpc.pb.h"
#include "proto/wire/batch_assembler.h"
#include "proto/wire/status_convert.h"

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
  return message;
}

void SetSegments(const std::vector<Segment>& segments, v1::StreamBatchesRequest& message) {
  message.clear_segments();
  for (const Segment& segment : segments) {
    v1::Segment& added = *message.add_segments();
    added.set_world_size(segment.world_size);
    added.set_steps(segment.steps);
  }
}

// One thread of its own reads. Beside what lies ready it holds the batch that does not fit, finished.
class GrpcBatchReader final : public BatchReader {
 public:
  GrpcBatchReader(std::shared_ptr<Connection> connection, const StreamRequest& request, v1::BatchSpec spec)
      : connection_(std::move(connection)),
        request_(FirstRequest(request, std::move(spec), connection_->options().max_message_bytes)),
        position_(request),
        assembler_(connection_->options().max_batch_bytes),
        ready_(request.read_ahead),
        reader_([this] { Read(); }) {}

  ~GrpcBatchReader() override {
    Cancel();
    reader_.join();
  }

  absl::StatusOr<std::optional<wire::Batch>> Next() override { return ready_.Take(); }

  void Cancel() override {
    ready_.Cancel();
    stop_.Stop();
  }

 private:
  // The reading thread.
  void Read() { ready_.End(ReadEpochs()); }

  absl::Status ReadEpochs() {
    Reachability::View view(ReachabilityOf(*connection_));
    Retry retry(connection_->options(), stop_, &view);
    while (!position_.AtEnd()) {
      const absl::Status ended = ReadStream(retry);
      if (ended.ok()) return position_.CheckEnd();
      if (absl::Status failed = retry.WaitAfter(ended); !failed.ok()) return failed;
    }
    return absl::OkStatus();
  }

  // One call, from where we stand, until it ends.
  absl::Status ReadStream(Retry& retry) {
    request_.set_start_epoch(position_.epoch());
    request_.set_start_step(position_.step());
    request_.set_epochs(position_.epochs_left());
    SetSegments(position_.segments(), request_);
    request_.set_expected_fingerprint(position_.fingerprint());
    assembler_.Reset();
    grpc::ClientContext context;
    StopSignal::Attachment attachment(stop_, context);
    const std::unique_ptr<RawReader> stream =
        OpenRawReader(*ChannelOf(*connection_), context, kStreamBatches, request_);
    const absl::Status read = ReadMessages(*stream, retry);
    if (!read.ok()) context.TryCancel();
    const absl::Status ended = wire::FromGrpcStatus(stream->Finish());
    return read.ok() ? ended : read;
  }

  absl::Status ReadMessages(RawReader& stream, Retry& retry) {
    grpc::ByteBuffer message;
    while (stream.Read(&message)) {
      const std::vector<grpc::Slice> slices = SlicesOf(message);
      absl::StatusOr<std::optional<wire::Batch>> batch = assembler_.Add(FragmentsOf(slices));
      if (!batch.ok()) return AtPosition(batch.status());
      if (!batch->has_value()) continue;
      retry.Succeeded();
      if (absl::Status status = position_.Advance((*batch)->header()); !status.ok()) return status;
      if (!ready_.Put(**std::move(batch)))
        return absl::CancelledError("the stream was cancelled by its reader");
    }
    return absl::OkStatus();
  }

  absl::Status AtPosition(const absl::Status& status) const {
    const std::string advice =
        absl::IsResourceExhausted(status) ? absl::StrCat("; ", SizeFlagsOf(request_.spec()), " decide") : "";
    return absl::Status(status.code(),
                        absl::StrCat("epoch ", position_.epoch(), ", step ", position_.step(), " from server ",
                                     connection_->options().server, ": ", status.message(), advice));
  }

  const std::shared_ptr<Connection> connection_;

  // The reading thread's.
  v1::StreamBatchesRequest request_;
  StreamPosition position_;
  wire::BatchAssembler assembler_;

  StopSignal stop_;
  BatchQueue ready_;

  std::thread reader_;  // last: it uses all of the above
};

}  // namespace

absl::StatusOr<std::unique_ptr<BatchReader>> BatchReader::Open(std::shared_ptr<Connection> connection,
                                                               const StreamRequest& request) {
  if (request.rank >= request.world_size) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", request.rank, " is outside a world of ", request.world_size));
  }
  if (request.read_ahead.batches == 0) {
    return absl::InvalidArgumentError("nothing is to be read ahead; a batch needs a place to lie ready");
  }
  absl::StatusOr<v1::BatchSpec> spec = ToMessage(request.spec);
  if (!spec.ok()) return spec.status();
  return std::make_unique<GrpcBatchReader>(std::move(connection), request, *std::move(spec));
}

}  // namespace packtrain::client
