#include "server/serving/call_counter.h"

#include <string_view>

namespace packtrain::serving {
namespace {

constexpr std::string_view kOurServices = "/packtrain.v1.";
constexpr std::string_view kStreamBatches = "/packtrain.v1.BatchService/StreamBatches";
constexpr std::string_view kStreamBytes = "/packtrain.v1.BenchService/StreamBytes";

// gRPC makes one for each call and destroys it with the call.
class CountedCall final : public grpc::experimental::Interceptor {
 public:
  explicit CountedCall(CallCounter& counter) : token_(counter) {}
  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override { methods->Proceed(); }

 private:
  const CallCounter::Token token_;
};

class CountedCalls final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit CountedCalls(CallCounter& counter) : counter_(counter) {}

  // Where there is none the call goes its way uncounted.
  grpc::experimental::Interceptor* CreateServerInterceptor(grpc::experimental::ServerRpcInfo* info) override {
    const std::string_view method = info->method();
    const bool counted = method.starts_with(kOurServices) && method != kStreamBatches && method != kStreamBytes;
    return counted ? new CountedCall(counter_) : nullptr;
  }

 private:
  CallCounter& counter_;
};

}  // namespace

void CallCounter::Enter() {
  wire::MutexLock lock(mutex_);
  ++calls_;
}

void CallCounter::Leave() {
  wire::MutexLock lock(mutex_);
  if (--calls_ == 0) none_left_.NotifyAll();
}

bool CallCounter::AwaitNone(std::chrono::steady_clock::time_point deadline) {
  wire::MutexLock lock(mutex_);
  while (calls_ > 0) {
    if (!none_left_.WaitUntil(mutex_, deadline)) return calls_ == 0;
  }
  return true;
}

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> CallCounter::NewInterceptors() {
  return std::make_unique<CountedCalls>(*this);
}

}  // namespace packtrain::serving
