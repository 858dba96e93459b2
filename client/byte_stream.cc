#include "client/byte_stream.h"

#include <grpcpp/completion_queue.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/channel_arguments.h>

#include <utility>

#include "absl/status/status.h"
#include "client/internal/channel.h"
#include "client/internal/unary_call.h"
#include "packtrain/v1/bench.pb.h"
#include "proto/base/status_macros.h"

namespace packtrain::client {
namespace {

constexpr char kStreamBytes[] = "/packtrain.v1.BenchService/StreamBytes";

constexpr int kWideFrameBytes = 1 << 20;
constexpr int kWideWindowBytes = 8 << 20;

absl::Status Ended(const grpc::Status& status) {
  if (status.ok()) return absl::InternalError("the server ended a stream that has no end");
  return OutcomeOf(status);
}

class BlockingByteStream final : public ByteStream {
 public:
  BlockingByteStream(std::shared_ptr<grpc::Channel> channel, const v1::StreamBytesRequest& request)
      : channel_(std::move(channel)), reader_(OpenRawReader(*channel_, context_, kStreamBytes, request)) {}

  ~BlockingByteStream() override {
    context_.TryCancel();
    if (!finished_) reader_->Finish();
  }

  absl::StatusOr<std::uint64_t> Next() override {
    if (!finished_ && reader_->Read(&message_)) return message_.Length();
    if (!finished_) status_ = Ended(reader_->Finish());
    finished_ = true;
    return status_;
  }

 private:
  const std::shared_ptr<grpc::Channel> channel_;
  grpc::ClientContext context_;
  const std::unique_ptr<RawReader> reader_;
  grpc::ByteBuffer message_;
  bool finished_ = false;
  absl::Status status_;
};

// Always one operation under way, until the stream has failed.
class QueuedByteStream final : public ByteStream {
 public:
  QueuedByteStream(std::shared_ptr<grpc::Channel> channel, const v1::StreamBytesRequest& request)
      : channel_(std::move(channel)),
        reader_(grpc::internal::ClientAsyncReaderFactory<grpc::ByteBuffer>::Create(
            channel_.get(), &queue_,
            grpc::internal::RpcMethod(kStreamBytes, grpc::internal::RpcMethod::SERVER_STREAMING), &context_,
            request, /*start=*/true, this)) {
    if (Succeeded()) {
      reader_->Read(&message_, this);
    } else {
      Finish();
    }
  }

  ~QueuedByteStream() override {
    context_.TryCancel();
    if (!finished_) Fail();
    queue_.Shutdown();
    Succeeded();  // the queue's end
  }

  absl::StatusOr<std::uint64_t> Next() override {
    if (finished_) return status_;
    if (!Succeeded()) {
      Finish();
      return status_;
    }
    const std::uint64_t bytes = message_.Length();
    reader_->Read(&message_, this);
    return bytes;
  }

 private:
  // Waits for the operation under way.
  bool Succeeded() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }

  // Waits for the read under way, which fails, and for the call's end.
  void Fail() {
    while (Succeeded()) reader_->Read(&message_, this);
    Finish();
  }

  void Finish() {
    grpc::Status status;
    reader_->Finish(&status, this);
    Succeeded();
    status_ = Ended(status);
    finished_ = true;
  }

  const std::shared_ptr<grpc::Channel> channel_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  const std::unique_ptr<grpc::ClientAsyncReader<grpc::ByteBuffer>> reader_;
  grpc::ByteBuffer message_;
  bool finished_ = false;
  absl::Status status_;
};

grpc::ChannelArguments ArgumentsOf(ByteStreamSetting setting) {
  grpc::ChannelArguments arguments;
  if (setting == ByteStreamSetting::kWindow) {
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kWideFrameBytes);
    arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kWideWindowBytes);
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  }
  return arguments;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ByteStream>> ByteStream::Open(const ConnectionOptions& options,
                                                             std::span<const std::uint32_t> sizes,
                                                             ByteStreamSetting setting) {
  ABSL_RETURN_IF_ERROR(CheckServerAddress(options.server));
  v1::StreamBytesRequest request;
  request.mutable_sizes()->Add(sizes.begin(), sizes.end());
  std::shared_ptr<grpc::Channel> channel = NewChannel(options, ArgumentsOf(setting));
  if (setting == ByteStreamSetting::kQueue)
    return std::make_unique<QueuedByteStream>(std::move(channel), request);
  return std::make_unique<BlockingByteStream>(std::move(channel), request);
}

}  // namespace packtrain::client
