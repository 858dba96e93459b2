#include "server/node/call_counter.h"

#include <grpcpp/server_context.h>

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/log/event_log.h"
#include "server/log/line_limit.h"

namespace packtrain::node {
namespace {

constexpr std::string_view kOurServices = "/packtrain.v1.";
constexpr std::string_view kStreamBatches = "/packtrain.v1.BatchService/StreamBatches";
constexpr std::string_view kStreamBytes = "/packtrain.v1.BenchService/StreamBytes";

// Codes that speak of the server and not of the call.
bool IsFault(grpc::StatusCode code) {
  return code == grpc::INTERNAL || code == grpc::DATA_LOSS || code == grpc::UNKNOWN;
}

void LogFailure(log::LineLimit& limit, grpc::experimental::ServerRpcInfo& call, const grpc::Status& status) {
  const std::string code = absl::StatusCodeToString(static_cast<absl::StatusCode>(status.error_code()));
  const std::optional<std::uint64_t> left_out = limit.Admit(code);
  if (!left_out) return;
  log::Log(IsFault(status.error_code()) ? log::Level::kError : log::Level::kInfo, "call_failed",
           {{"method", call.method()},
            {"peer", call.server_context()->peer()},
            {"code", code},
            {"message", status.error_message()},
            {"left_out", *left_out}});
}

// gRPC makes one for each call and destroys it with the call.
class CountedCall final : public grpc::experimental::Interceptor {
 public:
  CountedCall(CallCounter& counter, log::LineLimit& limit, grpc::experimental::ServerRpcInfo* info)
      : token_(counter), limit_(limit), info_(info) {}
  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(grpc::experimental::InterceptionHookPoints::PRE_SEND_STATUS)) {
      const grpc::Status status = methods->GetSendStatus();
      if (!status.ok()) LogFailure(limit_, *info_, status);
    }
    methods->Proceed();
  }

 private:
  const CallCounter::Token token_;
  log::LineLimit& limit_;
  grpc::experimental::ServerRpcInfo* const info_;  // outlives the interceptor
};

class CountedCalls final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit CountedCalls(CallCounter& counter) : counter_(counter) {}

  // Where there is none the call goes its way uncounted.
  grpc::experimental::Interceptor* CreateServerInterceptor(grpc::experimental::ServerRpcInfo* info) override {
    const std::string_view method = info->method();
    const bool counted = method.starts_with(kOurServices) && method != kStreamBatches && method != kStreamBytes;
    return counted ? new CountedCall(counter_, limit_, info) : nullptr;
  }

 private:
  CallCounter& counter_;
  log::LineLimit limit_;
};

}  // namespace

void CallCounter::Enter() {
  base::MutexLock lock(mutex_);
  ++calls_;
}

void CallCounter::Leave() {
  base::MutexLock lock(mutex_);
  if (--calls_ == 0) none_left_.NotifyAll();
}

bool CallCounter::AwaitNone(std::chrono::steady_clock::time_point deadline) {
  base::MutexLock lock(mutex_);
  while (calls_ > 0) {
    if (!none_left_.WaitUntil(mutex_, deadline)) return calls_ == 0;
  }
  return true;
}

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> CallCounter::NewInterceptors() {
  return std::make_unique<CountedCalls>(*this);
}

}  // namespace packtrain::node
