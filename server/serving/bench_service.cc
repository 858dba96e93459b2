#include "server/serving/bench_service.h"

#include <grpcpp/impl/codegen/proto_utils.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "packtrain/v1/batch.pb.h"
#include "proto/base/status_convert.h"
#include "proto/wire/batch_encoder.h"
#include "server/serving/refused_stream.h"

namespace packtrain::serving {
namespace {

constexpr int kMaxSizes = 4096;
constexpr std::size_t kMaxRequestBytes = 64 << 10;

static_assert(int{v1::StreamBytesResponse::kBodyFieldNumber} ==
                  int{v1::StreamBatchesResponse::kBodyFieldNumber},
              "wire::BodyTag is that of both");

// Memory whose pages are resident, which those of a buffer of zeros might not be.
grpc::Slice FilledSlice(std::uint32_t size) {
  grpc::Slice slice(size);
  auto* bytes = const_cast<std::uint8_t*>(slice.begin());  // not shared yet
  for (std::uint32_t k = 0; k < size; ++k) bytes[k] = static_cast<std::uint8_t>(k * 2654435761u >> 24);
  return slice;
}

absl::StatusOr<v1::StreamBytesRequest> Parse(const grpc::ByteBuffer& bytes) {
  if (bytes.Length() > kMaxRequestBytes) return absl::InvalidArgumentError("the request is too large");
  v1::StreamBytesRequest request;
  grpc::ByteBuffer copy = bytes;  // of references
  if (!grpc::SerializationTraits<v1::StreamBytesRequest>::Deserialize(&copy, &request).ok()) {
    return absl::InvalidArgumentError("the request is not a packtrain.v1.StreamBytesRequest");
  }
  return request;
}

absl::Status CheckSizes(const v1::StreamBytesRequest& request, std::uint32_t max_message_bytes) {
  if (request.sizes().empty()) return absl::InvalidArgumentError("sizes is empty: at least one is needed");
  if (request.sizes_size() > kMaxSizes) {
    return absl::InvalidArgumentError(
        absl::StrCat(request.sizes_size(), " sizes, above the limit of ", kMaxSizes));
  }
  for (const std::uint32_t size : request.sizes()) {
    if (size > 0 && wire::BodyTag(size).size() + size <= max_message_bytes) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("a size of ", size, " bytes: 1 or more, and at most ", max_message_bytes,
                     " with tag and length; packtraind --max-message-bytes is the limit"));
  }
  return absl::OkStatus();
}

// One open StreamBytes call. A write is under way from Start to Finish, so gRPC calls one reaction at a time.
// Owns itself until OnDone.
class ByteStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  ByteStream(const v1::StreamBytesRequest& request, const grpc::Slice& bytes) : left_(request.messages()) {
    for (const std::uint32_t size : request.sizes()) {
      const grpc::Slice slices[] = {grpc::Slice(wire::BodyTag(size)), bytes.sub(0, size)};
      messages_.emplace_back(slices, 2);
    }
    endless_ = left_ == 0;
    WriteNext();
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status(grpc::StatusCode::CANCELLED, "the client ended the stream"));
    WriteNext();
  }

  void OnDone() override { delete this; }

 private:
  void WriteNext() {
    if (!endless_ && left_-- == 0) return Finish(grpc::Status::OK);
    const grpc::ByteBuffer& message = messages_[next_];
    next_ = (next_ + 1) % messages_.size();
    StartWrite(&message);  // last: OnWriteDone may run at once on another thread
  }

  std::vector<grpc::ByteBuffer> messages_;
  std::size_t next_ = 0;
  std::uint64_t left_;
  bool endless_ = false;
};

}  // namespace

BenchService::BenchService(std::uint32_t max_message_bytes, const std::shared_ptr<limits::MemoryBudget>& memory)
    : max_message_bytes_(max_message_bytes),
      memory_(memory->TryReserve(limits::MemoryPart::kStreams, max_message_bytes)),
      bytes_(FilledSlice(max_message_bytes)) {}

grpc::ServerWriteReactor<grpc::ByteBuffer>* BenchService::StreamBytes(grpc::CallbackServerContext* context,
                                                                      const grpc::ByteBuffer* bytes) {
  const absl::StatusOr<v1::StreamBytesRequest> request = Parse(*bytes);
  if (!request.ok()) return Refuse(request.status(), context->peer());
  if (absl::Status status = CheckSizes(*request, max_message_bytes_); !status.ok()) {
    return Refuse(status, context->peer());
  }
  return new ByteStream(*request, bytes_);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* BenchService::Refuse(const absl::Status& status,
                                                                 const std::string& peer) {
  {
    base::MutexLock lock(mutex_);
    ++refused_[absl::StatusCodeToString(status.code())];
  }
  return RefuseStream(status, peer);
}

std::map<std::string, std::uint64_t> BenchService::refused() const {
  base::MutexLock lock(mutex_);
  return refused_;
}

}  // namespace packtrain::serving
