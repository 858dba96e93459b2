// A defect of gRPC 1.51: a broken channel dials only while a thread waits for it, and else every five seconds
// (reported upstream, and open). A thread of ours waits.
#ifndef PACKTRAIN_CLIENT_INTERNAL_DIALER_H_
#define PACKTRAIN_CLIENT_INTERNAL_DIALER_H_

#include <memory>
#include <thread>

#include "client/internal/stop_signal.h"

namespace grpc {
class Channel;
}

namespace packtrain::client {

// Keeps a channel dialling. gRPC gets on with a connection while a thread waits for something on its channel,
// and else looks at it every five seconds. On a broken channel nobody waits, as calls fail there at once: a
// server that is back is found after seconds, and not at all where connections break more often than that. So a
// thread waits for the channel whenever it is not connected. Any number of threads may use the channel
// meanwhile.
class Dialer {
 public:
  explicit Dialer(std::shared_ptr<grpc::Channel> channel);
  ~Dialer();
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;

 private:
  void Dial();

  const std::shared_ptr<grpc::Channel> channel_;
  StopSignal stop_;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_INTERNAL_DIALER_H_
