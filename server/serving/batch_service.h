// Answers BatchService.
#ifndef PACKTRAIN_SERVER_SERVING_BATCH_SERVICE_H_
#define PACKTRAIN_SERVER_SERVING_BATCH_SERVICE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packtrain/v1/batch.grpc.pb.h"
#include "proto/base/mutex.h"
#include "server/metrics/server_reading.h"
#include "server/serving/batch_stream.h"

namespace packtrain::serving {

// Raw, so that bodies reach gRPC without a copy. Thread-safe. gRPC must have shut down before it is destroyed.
class BatchService final
    : public v1::BatchService::WithRawCallbackMethod_StreamBatches<v1::BatchService::Service> {
 public:
  // `idle`, which outlives the service, cuts off streams whose client does not read.
  BatchService(batches::StreamEnvironment environment, std::uint32_t max_streams, IdleWatch& idle);

  grpc::ServerWriteReactor<grpc::ByteBuffer>* StreamBatches(grpc::CallbackServerContext* context,
                                                            const grpc::ByteBuffer* request) override;

  // Takes no more streams and ends those there are, each after the batch it is sending.
  void Drain();
  // All streams so far. Of `datasets`, where given, alone: the series of others are forgotten.
  metrics::StreamsReading Read(const std::optional<std::set<std::string>>& datasets);

  // Whether all streams have ended; waits for that until `deadline`.
  bool AwaitNoStreams(std::chrono::steady_clock::time_point deadline);

 private:
  // What the log calls a stream.
  struct Opened {
    std::uint64_t stream;
    std::string peer;
    std::chrono::steady_clock::time_point time;
  };
  static void LogOpened(const Opened& opened, const v1::StreamBatchesRequest& request);
  static void LogEnded(const Opened& opened, const BatchStream::Progress& progress);

  // Checks the request, and only then takes a place for its stream.
  absl::StatusOr<std::shared_ptr<BatchStream>> Open(const v1::StreamBatchesRequest& request,
                                                    const Opened& opened);
  grpc::ServerWriteReactor<grpc::ByteBuffer>* Refuse(const absl::Status& status, const std::string& peer);
  // `place` as in the request. RESOURCE_EXHAUSTED: two streams have it, or all places are taken.
  std::vector<std::shared_ptr<BatchStream>> OpenStreams() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Admit(const std::shared_ptr<BatchStream>& stream, const std::string& place);
  void Remove(const std::shared_ptr<BatchStream>& stream, const Opened& opened);

  const batches::StreamEnvironment environment_;
  const std::uint32_t max_streams_;
  IdleWatch& idle_;
  std::atomic<std::uint64_t> next_stream_{1};

  base::CondVar removed_;
  base::Mutex mutex_;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  // With the place of each, and the streams of each place that is not empty.
  std::map<std::shared_ptr<BatchStream>, std::string> streams_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int> sharing_ ABSL_GUARDED_BY(mutex_);
  std::uint32_t places_ ABSL_GUARDED_BY(mutex_) = 0;  // that are taken
  // Of streams that have ended; `ended_` counts those that were refused, too.
  metrics::BatchTotals sent_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::uint64_t> ended_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_BATCH_SERVICE_H_
