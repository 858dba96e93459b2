// The calls in flight, which a drain waits for.
#ifndef PACKTRAIN_SERVER_NODE_CALL_COUNTER_H_
#define PACKTRAIN_SERVER_NODE_CALL_COUNTER_H_

#include <grpcpp/support/server_interceptor.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "proto/base/mutex.h"

namespace packtrain::node {

// Any number of threads may use it.
class CallCounter {
 public:
  // Counts one call for as long as the token lives, which must not outlive the counter.
  class Token {
   public:
    explicit Token(CallCounter& counter) : counter_(counter) { counter_.Enter(); }
    ~Token() { counter_.Leave(); }
    Token(const Token&) = delete;
    Token& operator=(const Token&) = delete;

   private:
    CallCounter& counter_;
  };

  // Whether no call is in flight; waits for that until `deadline`.
  bool AwaitNone(std::chrono::steady_clock::time_point deadline);

  // Makes a gRPC server count its calls of packtrain's services, each until its answer has been sent, and log
  // those that fail, as long as few fail with one code (log::LineLimit). StreamBatches is not counted, since
  // BatchService knows its streams; neither is StreamBytes, for which a drain need not wait, nor are gRPC's own
  // services, because a watch of the health service has no end.
  std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> NewInterceptors();

 private:
  void Enter();
  void Leave();

  base::CondVar none_left_;
  base::Mutex mutex_;
  std::uint64_t calls_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace packtrain::node

#endif  // PACKTRAIN_SERVER_NODE_CALL_COUNTER_H_
