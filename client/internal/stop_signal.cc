#include "client/internal/stop_signal.h"

#include <grpcpp/client_context.h>

namespace packtrain::client {

void StopSignal::Stop() {
  base::MutexLock lock(mutex_);
  stopped_ = true;
  if (call_ != nullptr) call_->TryCancel();
  changed_.NotifyAll();
}

bool StopSignal::stopped() const {
  base::MutexLock lock(mutex_);
  return stopped_;
}

bool StopSignal::WaitFor(std::chrono::milliseconds delay) {
  const auto deadline = std::chrono::steady_clock::now() + delay;
  base::MutexLock lock(mutex_);
  while (!stopped_) {
    if (!changed_.WaitUntil(mutex_, deadline)) break;
  }
  return stopped_;
}

StopSignal::Attachment::Attachment(StopSignal& signal, grpc::ClientContext& context) : signal_(signal) {
  base::MutexLock lock(signal_.mutex_);
  signal_.call_ = &context;
  if (signal_.stopped_) context.TryCancel();
}

StopSignal::Attachment::~Attachment() {
  base::MutexLock lock(signal_.mutex_);
  signal_.call_ = nullptr;
}

}  // namespace packtrain::client
