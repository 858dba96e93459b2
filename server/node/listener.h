// Takes connections for gRPC, whose own listener is deaf for ever once it has met the limit of open files.
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

  // Holds the address, so that nobody else gets it. Until Start, connections to a port are refused; those to a
  // Unix socket wait, since only a socket that listens shows that its path is in use. A connection by TCP that
  // has had something to send for `send_timeout` without its peer taking it is closed: gRPC sets that for
  // sockets of its own only, and closes none in the middle of a write. FAILED_PRECONDITION: the address cannot
  // be had; the message has the system's reason.
  static absl::StatusOr<std::unique_ptr<Listener>> Bind(ListenAddress address,
                                                        std::chrono::milliseconds send_timeout);
  // Takes no connection any more.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // As bound: with the port that was taken.
  const ListenAddress& address() const { return address_; }

  // Listens, and gives each connection to `take`. One whose descriptor has the number `descriptors` or more is
  // closed at once: then that many files are open, and what is left is for other uses. Called once.
  // FAILED_PRECONDITION: as Bind.
  absl::Status Start(int descriptors, Take take);

 private:
  Listener(ListenAddress address, std::vector<FileDescriptor> sockets, FileDescriptor stop);

  void AcceptUntilStopped();
  // Takes all connections that wait at a socket. False where the system refuses to hand one over.
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
