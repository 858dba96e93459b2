// Answers BenchService.
#ifndef PACKTRAIN_SERVER_SERVING_BENCH_SERVICE_H_
#define PACKTRAIN_SERVER_SERVING_BENCH_SERVICE_H_

#include <grpcpp/support/slice.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "packtrain/v1/bench.grpc.pb.h"
#include "proto/base/mutex.h"
#include "server/limits/memory_budget.h"

namespace packtrain::serving {

// Raw, so that the bytes reach gRPC without a copy. Any number of threads may use it.
class BenchService final
    : public v1::BenchService::WithRawCallbackMethod_StreamBytes<v1::BenchService::Service> {
 public:
  // Sends messages of at most `max_message_bytes`. All of them are cut from one buffer of that size, which
  // `memory` counts.
  BenchService(std::uint32_t max_message_bytes, const std::shared_ptr<limits::MemoryBudget>& memory);

  grpc::ServerWriteReactor<grpc::ByteBuffer>* StreamBytes(grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer* request) override;

  // Streams that were refused so far, by the name of the status code.
  std::map<std::string, std::uint64_t> refused() const;

 private:
  grpc::ServerWriteReactor<grpc::ByteBuffer>* Refuse(const absl::Status& status, const std::string& peer);

  const std::uint32_t max_message_bytes_;
  const std::optional<limits::MemoryBudget::Reservation> memory_;
  const grpc::Slice bytes_;

  mutable base::Mutex mutex_;
  std::map<std::string, std::uint64_t> refused_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_BENCH_SERVICE_H_
