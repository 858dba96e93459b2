// A connection to packtraind, shared by everything that talks to one server.
//
// A program opens one for each server, first of all, and hands it to readers of batches, reporters and
// look-ups.
//
//   ABSL_ASSIGN_OR_RETURN(const auto connection, Connection::Open({.server = "data-node:7077"}));
//   ABSL_ASSIGN_OR_RETURN(const auto reader, BatchReader::Open(connection, request));
#ifndef PACKTRAIN_CLIENT_CONNECTION_H_
#define PACKTRAIN_CLIENT_CONNECTION_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace packtrain::client {

struct ConnectionOptions {
  // HOST:PORT, unix:PATH, dns:///NAME:PORT or ipv4:A:P,B:P.
  std::string server = "127.0.0.1:7077";
  // How long a call waits for a server that cannot be reached before it fails, and how long a stream
  // keeps reconnecting after it broke.
  std::chrono::milliseconds give_up{60'000};
  // Largest message received.
  int max_message_bytes = 4 << 20;
  // Largest body of one batch received; memory is taken for none above it.
  std::uint64_t max_batch_bytes = 1ULL << 30;
  // Gets a line for people once when the server is lost and once when it is back, whoever notices first: Open,
  // a BatchReader or a RunReporter. Called on that one's thread, never on two at once; must not wait for them.
  std::function<void(const std::string& line)> on_notice = nullptr;
};

// INVALID_ARGUMENT unless `server` is HOST:PORT, unix:PATH, dns:///NAME:PORT or ipv4:A:P,B:P.
absl::Status CheckServerAddress(const std::string& server);

// Thread-safe. Holds the gRPC channel, which stays out of this header.
class Connection {
 public:
  // Checks that the server answers within `give_up` and speaks this API. INVALID_ARGUMENT: no address.
  // UNAVAILABLE: no answer. FAILED_PRECONDITION: another API.
  static absl::StatusOr<std::shared_ptr<Connection>> Open(ConnectionOptions options);
  virtual ~Connection() = default;

  virtual const ConnectionOptions& options() const = 0;
};

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_CONNECTION_H_
