// Ends the waiting and the call of another thread.
#ifndef PACKTRAIN_CLIENT_INTERNAL_STOP_SIGNAL_H_
#define PACKTRAIN_CLIENT_INTERNAL_STOP_SIGNAL_H_

#include <chrono>

#include "proto/base/mutex.h"

namespace grpc {
class ClientContext;
}

namespace packtrain::client {

// Thread-safe. Once stopped it stays so.
class StopSignal {
 public:
  void Stop();
  bool stopped() const;

  // Returns at once when stopped, else after `delay`; true when stopped.
  bool WaitFor(std::chrono::milliseconds delay);

  // While attached, Stop also cancels this call. A call attached after Stop is cancelled at once.
  class Attachment {
   public:
    Attachment(StopSignal& signal, grpc::ClientContext& context);
    ~Attachment();
    Attachment(const Attachment&) = delete;
    Attachment& operator=(const Attachment&) = delete;

   private:
    StopSignal& signal_;
  };

 private:
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::ClientContext* call_ ABSL_GUARDED_BY(mutex_) = nullptr;  // at most one at a time
};

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_INTERNAL_STOP_SIGNAL_H_
