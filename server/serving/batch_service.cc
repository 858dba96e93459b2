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

constexpr std::size_t kMaxRequestBytes = 256 << 10;

absl::StatusOr<v1::StreamBatchesRequest> Parse(const grpc::ByteBuffer& bytes) {
  if (bytes.Length() > kMaxRequestBytes) {
    return absl::InvalidArgumentError(absl::StrCat("a StreamBatchesRequest of ", bytes.Length(),
                                                   " bytes: at most ", kMaxRequestBytes, " are taken"));
  }
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

// A training's, and that of an evaluation for which it pauses.
constexpr int kStreamsOfAPlace = 2;

constexpr std::chrono::seconds kRetryDelay{5};

absl::Status PlaceTaken() {
  return base::WithRetryDelay(
      base::WithReason(absl::ResourceExhaustedError(absl::StrCat(
                           "the stream's place has ", kStreamsOfAPlace,
                           " streams open, the limit of a place; end one, or leave `place` empty")),
                       base::kPlaceLimit, {{"limit", absl::StrCat(kStreamsOfAPlace)}}),
      kRetryDelay);
}

absl::Status StreamLimit(std::uint32_t max_streams) {
  return base::WithRetryDelay(
      base::WithReason(absl::ResourceExhaustedError(absl::StrCat(
                           "the server has ", max_streams,
                           " streams open, its limit; start packtraind with a greater --max-streams")),
                       base::kStreamLimit, {{"limit", absl::StrCat(max_streams)}, {"flag", "--max-streams"}}),
      kRetryDelay);
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
  const std::string place = checked.place;
  std::shared_ptr<BatchStream> stream =
      BatchStream::Create(environment_, std::move(checked),
                          [this, opened](const std::shared_ptr<BatchStream>& done) { Remove(done, opened); });
  ABSL_RETURN_IF_ERROR(Admit(stream, place));
  return stream;
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* BatchService::Refuse(const absl::Status& status,
                                                                 const std::string& peer) {
  {
    base::MutexLock lock(mutex_);
    ++ended_[absl::StatusCodeToString(status.code())];
  }
  return RefuseStream(status, peer);
}

void BatchService::Drain() {
  std::vector<std::shared_ptr<BatchStream>> streams;
  {
    base::MutexLock lock(mutex_);
    draining_ = true;
    streams = OpenStreams();
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
    streams = OpenStreams();
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

std::vector<std::shared_ptr<BatchStream>> BatchService::OpenStreams() const {
  std::vector<std::shared_ptr<BatchStream>> open;
  for (const auto& [stream, place] : streams_) open.push_back(stream);
  return open;
}

absl::Status BatchService::Admit(const std::shared_ptr<BatchStream>& stream, const std::string& place) {
  base::MutexLock lock(mutex_);
  if (draining_) {
    return base::WithReason(absl::UnavailableError("the server is shutting down; reconnect"), "SHUTTING_DOWN");
  }
  const int sharing = place.empty() || !sharing_.contains(place) ? 0 : sharing_[place];
  if (sharing == kStreamsOfAPlace) return PlaceTaken();
  if (sharing == 0 && places_ == max_streams_) return StreamLimit(max_streams_);
  if (sharing == 0) ++places_;
  if (!place.empty()) ++sharing_[place];
  streams_.emplace(stream, place);
  return absl::OkStatus();
}

void BatchService::Remove(const std::shared_ptr<BatchStream>& stream, const Opened& opened) {
  const BatchStream::Progress progress = stream->progress();
  LogEnded(opened, progress);
  base::MutexLock lock(mutex_);
  const std::string place = std::move(streams_.extract(stream).mapped());
  const bool last = place.empty() || --sharing_[place] == 0;
  if (last) {
    sharing_.erase(place);
    --places_;
  }
  sent_.Add(progress.series, progress.sent);
  ++ended_[absl::StatusCodeToString(progress.end.code())];
  removed_.NotifyAll();
}

}  // namespace packtrain::serving
