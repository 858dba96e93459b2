// How much the server's connections have brought.
#ifndef PACKTRAIN_SERVER_NODE_CONNECTION_METER_H_
#define PACKTRAIN_SERVER_NODE_CONNECTION_METER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "proto/base/mutex.h"
#include "server/serving/inbound_limit.h"

namespace packtrain::node {

// Measures connections over TCP. It knows their descriptors, which gRPC owns and closes when it likes, and so
// compares the peer before and after each use. Any number of threads may use it.
class ConnectionMeter final : public serving::InboundMeter {
 public:
  // A connection that is open and has not been handed to gRPC yet.
  void Add(int connection);
  // What gRPC has read, frames and headers included. While more arrives without a pause it may be less, by what
  // arrives during a measurement.
  std::optional<std::uint64_t> BytesFrom(const std::string& peer) const override;

 private:
  mutable base::Mutex mutex_;
  // One entry each for a descriptor: those of connections that have gone are replaced with their descriptor.
  std::map<int, std::string> peers_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int> connections_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packtrain::node

#endif  // PACKTRAIN_SERVER_NODE_CONNECTION_METER_H_
