#include "server/serving/batch_service.h"

#include <grpcpp/impl/codegen/proto_utils.h>

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/base/error_details.h"
#include "proto/base/status_macros.h"
#include "proto/wire/batch_spec.h"
#include "server/log/event_log.h"
#include "server/serving/refused_stream.h"

namespace packtrain::serving {
namespace {

absl::StatusOr<v1::StreamBatchesRequest> Parse(const grpc::ByteBuffer& bytes) {
  v1::StreamBatchesRequest request;
  grpc::ByteBuffer copy = bytes;  // of references
  if (!grpc::SerializationTraits<v1::StreamBatchesRequest>::Deserialize(&copy, &request).ok()) {
    return absl::InvalidArgumentError("the request is not a packtrain.v1.StreamBatchesRequest");
  }
  return request;
}

std::string_view MessageOf(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

}  // namespace

void BatchService::LogOpened(const Opened& opened, const v1::StreamBatchesRequest& request) {
  log::Log(log::Level::kInfo, "stream_opened",
           {{"stream", opened.stream},
            {"peer", opened.peer},
            {"dataset", request.dataset()},
            {"policy", wire::WordOf(static_cast<wire::Policy>(request.spec().policy()), wire::kPolicyWords)},
            {"rank", std::uint64_t{request.rank()}},
            {"world_size", std::uint64_t{request.world_size()}},
            {"epoch", std::uint64_t{request.start_epoch()}},
            {"step", std::uint64_t{request.start_step()}}});
}

void BatchService::LogEnded(const Opened& opened, const BatchStream::Progress& progress) {
  const auto lasted = std::chrono::steady_clock::now() - opened.time;
  log::Log(log::Level::kInfo, "stream_ended",
           {{"stream", opened.stream},
            {"peer", opened.peer},
            {"code", absl::StatusCodeToString(progress.end.code())},
            {"message", MessageOf(progress.end)},
            {"batches", progress.sent.batches},
            {"graphs", progress.sent.graphs},
            {"body_bytes", progress.sent.body_bytes},
            {"seconds", std::chrono::duration<double>(lasted).count()}});
}

BatchService::BatchService(batches::StreamEnvironment environment, std::uint32_t max_streams, IdleWatch& idle)
    : environment_(std::move(environment)), max_streams_(max_streams), idle_(idle) {}

grpc::ServerWriteReactor<grpc::ByteBuffer>* BatchService::StreamBatches(grpc::CallbackServerContext* context,
                                                                        const grpc::ByteBuffer* bytes) {
  const absl::StatusOr<v1::StreamBatchesRequest> request = Parse(*bytes);
  if (!request.ok()) return Refuse(request.status(), context->peer());
  const Opened opened{next_stream_.fetch_add(1), context->peer(), std::chrono::steady_clock::now()};
  const absl::StatusOr<std::shared_ptr<BatchStream>> stream = Open(*request, opened);
  if (!stream.ok()) return Refuse(stream.status(), opened.peer);
  LogOpened(opened, *request);
  (*stream)->Start(idle_, [context] { context->TryCancel(); });
  return stream->get();
}

absl::StatusOr<std::shared_ptr<BatchStream>> BatchService::Open(const v1::StreamBatchesRequest& request,
                                                                const Opened& opened) {
  ABSL_ASSIGN_OR_RETURN(batches::StreamRequest checked, batches::StreamRequest::Create(request));
  std::shared_ptr<BatchStream> stream =
      BatchStream::Create(environment_, std::move(checked),
                          [this, opened](const std::shared_ptr<BatchStream>& done) { Remove(done, opened); });
  ABSL_RETURN_IF_ERROR(Admit(stream));
  return stream;
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* BatchService::Refuse(const absl::Status& status,
                                                                 const std::string& peer) {
  {
    base::MutexLock lock(mutex_);
    ++ended_[absl::StatusCodeToString(status.code())];
  }
  log::Log(log::Level::kInfo, "stream_refused",
           {{"peer", peer}, {"code", absl::StatusCodeToString(status.code())}, {"message", MessageOf(status)}});
  return new RefusedStream(status);
}

void BatchService::Drain() {
  std::vector<std::shared_ptr<BatchStream>> streams;
  {
    base::MutexLock lock(mutex_);
    draining_ = true;
    streams.assign(streams_.begin(), streams_.end());
  }
  for (const std::shared_ptr<BatchStream>& stream : streams) stream->Drain();
}

metrics::StreamsReading BatchService::Read(const std::optional<std::set<std::string>>& datasets) {
  metrics::StreamsReading reading;
  reading.most = max_streams_;
  std::vector<std::shared_ptr<BatchStream>> streams;
  {
    base::MutexLock lock(mutex_);
    if (datasets.has_value()) sent_.Keep(*datasets);
    reading.sent = sent_;
    reading.ended = ended_;
    streams.assign(streams_.begin(), streams_.end());
  }
  reading.open = streams.size();
  for (const std::shared_ptr<BatchStream>& stream : streams) {
    const BatchStream::Progress progress = stream->progress();
    reading.sent.Add(progress.series, progress.sent);
    reading.queue_bytes += progress.queue_bytes;
  }
  if (datasets.has_value()) reading.sent.Keep(*datasets);
  return reading;
}

bool BatchService::AwaitNoStreams(std::chrono::steady_clock::time_point deadline) {
  base::MutexLock lock(mutex_);
  while (!streams_.empty()) {
    if (!removed_.WaitUntil(mutex_, deadline)) return streams_.empty();
  }
  return true;
}

absl::Status BatchService::Admit(const std::shared_ptr<BatchStream>& stream) {
  base::MutexLock lock(mutex_);
  if (draining_) {
    return base::WithReason(absl::UnavailableError("the server is shutting down; reconnect"), "SHUTTING_DOWN");
  }
  if (streams_.size() >= max_streams_) {
    return base::WithReason(absl::ResourceExhaustedError(absl::StrCat(
                                "the server has ", streams_.size(),
                                " streams open, its limit; start packtraind with a greater --max-streams")),
                            base::kStreamLimit,
                            {{"limit", absl::StrCat(max_streams_)}, {"flag", "--max-streams"}});
  }
  streams_.insert(stream);
  return absl::OkStatus();
}

void BatchService::Remove(const std::shared_ptr<BatchStream>& stream, const Opened& opened) {
  const BatchStream::Progress progress = stream->progress();
  LogEnded(opened, progress);
  base::MutexLock lock(mutex_);
  streams_.erase(stream);
  sent_.Add(progress.series, progress.sent);
  ++ended_[absl::StatusCodeToString(progress.end.code())];
  removed_.NotifyAll();
}

}  // namespace packtrain::serving
