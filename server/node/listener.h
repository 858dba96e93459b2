// A defect of gRPC 1.51: its own listener takes no connection any more once it has met the limit of open files
// (fixed in 1.53.2, 1.54.3, 1.55.3, 1.56.2 and later, as CVE-2023-4785). This one takes connections for it.
#ifndef PACKTRAIN_SERVER_NODE_LISTENER_H_
#define PACKTRAIN_SERVER_NODE_LISTENER_H_

#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/node/file_descriptor.h"
#include "server/node/listen_address.h"

namespace packtrain::node {

// Bind, Start and destruction by one thread; connections are taken on a thread of its own.
class Listener {
 public:
  // Owns `connection` from then on.
  using Take = std::function<void(int listener, FileDescriptor connection)>;

  // Holds the address, so that no other process gets it. Until Start, connections to a port are refused; those
  // to a Unix socket wait, since only a socket that listens shows that its path is in use. A TCP connection
  // whose peer has taken nothing for `send_timeout` while there was something to send is closed: gRPC sets this
  // for its own sockets only, and closes no connection in the middle of a write. FAILED_PRECONDITION: the
  // address cannot be had; the message has the system's reason.
  static absl::StatusOr<std::unique_ptr<Listener>> Bind(ListenAddress address,
                                                        std::chrono::milliseconds send_timeout);
  // Accepts no connection from then on.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // As bound: with the port that was taken.
  const ListenAddress& address() const { return address_; }

  // Listens, and gives each connection to `take`. A connection whose descriptor is `descriptors` or above is
  // closed at once: then that many files are open, and the descriptors left are for other uses. Called once.
  // FAILED_PRECONDITION: as Bind.
  absl::Status Start(int descriptors, Take take);

 private:
  Listener(ListenAddress address, std::vector<FileDescriptor> sockets, FileDescriptor stop);

  void AcceptUntilStopped();
  // Accepts all connections that wait at a socket. False if the system refuses to hand one over.
  bool AcceptAll(const FileDescriptor& socket);
  void Warn(const char* why);

  const ListenAddress address_;
  const std::vector<FileDescriptor> sockets_;
  const FileDescriptor stop_;  // an eventfd

  // The accepting thread's.
  int descriptors_ = 0;
  Take take_;
  std::chrono::steady_clock::time_point next_warning_;

  std::thread acceptor_;
};

// Shuts down every connection to `address`, with its port, that this process has taken, whoever owns it now.
void CutOffConnections(const ListenAddress& address);

}  // namespace packtrain::node

#endif  // PACKTRAIN_SERVER_NODE_LISTENER_H_
