#include "server/node/listener.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/log/event_log.h"

namespace packtrain::node {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::minutes kBetweenWarnings{1};
// After the system could not hand a connection over.
constexpr int kRetryMs = 100;

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

absl::Status CannotListen(const ListenAddress& address, std::string_view reason) {
  return absl::FailedPreconditionError(absl::StrCat("cannot listen on ", address.ToString(), ": ",
                                                    std::string(reason),
                                                    "; choose another address with --listen"));
}

absl::Status CannotListen(const ListenAddress& address, int error) {
  return CannotListen(address, std::strerror(error));
}

FileDescriptor NewSocket(int family) {
  return FileDescriptor(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

void SetOption(const FileDescriptor& socket, int level, int name, int value) {
  setsockopt(socket.get(), level, name, &value, sizeof(value));
}

absl::StatusOr<sockaddr_un> UnixName(const ListenAddress& address) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (address.host.size() >= sizeof(name.sun_path)) {
    return CannotListen(address, absl::StrCat("the path is longer than ", sizeof(name.sun_path) - 1, " bytes"));
  }
  address.host.copy(name.sun_path, address.host.size());
  return name;
}

bool IsSocketFile(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode);
}

absl::StatusOr<FileDescriptor> BindUnixSocket(const ListenAddress& address) {
  ABSL_ASSIGN_OR_RETURN(const sockaddr_un name, UnixName(address));
  const auto* const generic = reinterpret_cast<const sockaddr*>(&name);
  if (IsSocketFile(address.host)) {
    // Left by a server that was killed, where nobody listens.
    const FileDescriptor probe = NewSocket(AF_UNIX);
    if (!probe.valid()) return CannotListen(address, errno);
    const bool refused = connect(probe.get(), generic, sizeof(name)) != 0 && errno == ECONNREFUSED;
    if (!refused) return CannotListen(address, EADDRINUSE);
    unlink(address.host.c_str());
  }
  FileDescriptor socket = NewSocket(AF_UNIX);
  if (!socket.valid() || bind(socket.get(), generic, sizeof(name)) != 0 ||
      listen(socket.get(), SOMAXCONN) != 0) {
    return CannotListen(address, errno);
  }
  return socket;
}

// Of IPv4 or IPv6: their ports lie at one place.
union Name {
  sockaddr_in v4;
  sockaddr_in6 v6;
};

Name WithPort(const addrinfo& address, std::uint16_t port) {
  Name name{};
  std::memcpy(&name, address.ai_addr, std::min<std::size_t>(address.ai_addrlen, sizeof(name)));
  name.v4.sin_port = htons(port);
  return name;
}

// The socket, or one that is not valid, with the reason in errno.
FileDescriptor BindInternetSocket(const addrinfo& name, std::uint16_t port, milliseconds send_timeout) {
  FileDescriptor socket = NewSocket(name.ai_family);
  if (!socket.valid()) return socket;
  // Connections of an earlier server that are still closing do not count.
  SetOption(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  // These are for its connections.
  SetOption(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  SetOption(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(send_timeout.count()));
  if (name.ai_family == AF_INET6) SetOption(socket, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  const Name bound = WithPort(name, port);
  const int error = bind(socket.get(), reinterpret_cast<const sockaddr*>(&bound), name.ai_addrlen);
  return error == 0 ? std::move(socket) : FileDescriptor();
}

std::uint16_t PortOf(const FileDescriptor& socket) {
  Name name{};
  socklen_t size = sizeof(name);
  getsockname(socket.get(), reinterpret_cast<sockaddr*>(&name), &size);
  return ntohs(name.v4.sin_port);
}

// Whether this is the server's side of a connection to `address`.
bool IsConnectionTo(const ListenAddress& address, int descriptor) {
  sockaddr_storage own{};
  socklen_t size = sizeof(own);
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &size) != 0) return false;
  if (address.unix_socket) {
    return own.ss_family == AF_UNIX && address.host == reinterpret_cast<const sockaddr_un*>(&own)->sun_path;
  }
  const bool internet = own.ss_family == AF_INET || own.ss_family == AF_INET6;
  return internet && ntohs(reinterpret_cast<const sockaddr_in*>(&own)->sin_port) == address.port;
}

// The other side has reset the connection already.
bool HasGone(const FileDescriptor& connection) {
  sockaddr_storage peer{};
  socklen_t size = sizeof(peer);
  return getpeername(connection.get(), reinterpret_cast<sockaddr*>(&peer), &size) != 0;
}

absl::StatusOr<AddressList> Resolve(const ListenAddress& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(address.host.c_str(), nullptr, &hints, &found);
  if (error != 0) return CannotListen(address, gai_strerror(error));
  return AddressList(found, &freeaddrinfo);
}

// All addresses that the name stands for, on one port; "localhost" may stand for one that is not set up.
absl::StatusOr<std::vector<FileDescriptor>> BindInternetSockets(ListenAddress& address,
                                                                milliseconds send_timeout) {
  std::vector<FileDescriptor> sockets;
  ABSL_ASSIGN_OR_RETURN(const AddressList names, Resolve(address));
  int error = 0;
  for (const addrinfo* name = names.get(); name != nullptr; name = name->ai_next) {
    FileDescriptor socket = BindInternetSocket(*name, address.port, send_timeout);
    if (socket.valid()) {
      address.port = PortOf(socket);
      sockets.push_back(std::move(socket));
      continue;
    }
    error = errno;
    if (error != EADDRNOTAVAIL && error != EAFNOSUPPORT) return CannotListen(address, error);
  }
  if (sockets.empty()) return CannotListen(address, error);
  return sockets;
}

absl::StatusOr<std::vector<FileDescriptor>> BindSockets(ListenAddress& address, milliseconds send_timeout) {
  if (!address.unix_socket) return BindInternetSockets(address, send_timeout);
  ABSL_ASSIGN_OR_RETURN(FileDescriptor socket, BindUnixSocket(address));
  std::vector<FileDescriptor> sockets;
  sockets.push_back(std::move(socket));
  return sockets;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Listener>> Listener::Bind(ListenAddress address, milliseconds send_timeout) {
  ABSL_ASSIGN_OR_RETURN(std::vector<FileDescriptor> sockets, BindSockets(address, send_timeout));
  FileDescriptor stop(eventfd(0, EFD_CLOEXEC));
  if (!stop.valid()) return CannotListen(address, errno);
  return std::unique_ptr<Listener>(new Listener(std::move(address), std::move(sockets), std::move(stop)));
}

Listener::Listener(ListenAddress address, std::vector<FileDescriptor> sockets, FileDescriptor stop)
    : address_(std::move(address)), sockets_(std::move(sockets)), stop_(std::move(stop)) {}

Listener::~Listener() {
  if (acceptor_.joinable()) {
    eventfd_write(stop_.get(), 1);
    acceptor_.join();
  }
  if (address_.unix_socket) unlink(address_.host.c_str());
}

absl::Status Listener::Start(int descriptors, Take take) {
  for (const FileDescriptor& socket : sockets_) {
    if (listen(socket.get(), SOMAXCONN) != 0) return CannotListen(address_, errno);
  }
  descriptors_ = descriptors;
  take_ = std::move(take);
  acceptor_ = std::thread([this] { AcceptUntilStopped(); });
  return absl::OkStatus();
}

void Listener::AcceptUntilStopped() {
  std::vector<pollfd> waits = {{.fd = stop_.get(), .events = POLLIN, .revents = 0}};
  for (const FileDescriptor& socket : sockets_) waits.push_back({socket.get(), POLLIN, 0});
  std::size_t awaited = waits.size();
  while (true) {
    const int ready = poll(waits.data(), awaited, awaited == 1 ? kRetryMs : -1);
    if (ready > 0 && waits.front().revents != 0) return;
    bool refused = false;
    for (const FileDescriptor& socket : sockets_) refused |= !AcceptAll(socket);
    // What the system does not hand over still waits: only the end can wake this thread before the next try.
    awaited = refused ? 1 : waits.size();
  }
}

bool Listener::AcceptAll(const FileDescriptor& socket) {
  while (true) {
    FileDescriptor connection(accept4(socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!connection.valid() && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (!connection.valid() && errno == EAGAIN) return true;
    if (!connection.valid()) {
      Warn(std::strerror(errno));
      return false;
    }
    if (HasGone(connection)) continue;
    if (connection.get() < descriptors_) {
      take_(socket.get(), std::move(connection));
    } else {
      Warn("too many open files");
    }
  }
}

void CutOffConnections(const ListenAddress& address) {
  std::error_code error;
  std::uint64_t cut = 0;
  std::filesystem::directory_iterator entry("/proc/self/fd", error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const int descriptor = std::stoi(entry->path().filename().string());
    if (IsConnectionTo(address, descriptor) && shutdown(descriptor, SHUT_RDWR) == 0) ++cut;
  }
  log::Log(log::Level::kWarn, "connections_cut_off",
           {{"connections", cut}, {"message", error ? error.message() : "their peers did not read"}});
}

void Listener::Warn(const char* why) {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_warning_) return;
  next_warning_ = now + kBetweenWarnings;
  log::Log(log::Level::kWarn, "connections_refused",
           {{"reason", why}, {"ulimit_n_leaves", static_cast<std::uint64_t>(descriptors_)}});
}

}  // namespace packtrain::node
