#include "server/serving/listen_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace packtrain::serving {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";

absl::Status BadAddress(std::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat("cannot listen on '", std::string(text),
                                                 "': --listen takes HOST:PORT, [IPV6]:PORT or unix:PATH"));
}

bool IsLoopback(const std::string& host) {
  if (host == "localhost") return true;
  in_addr v4;
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  in6_addr v6;
  return inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// A file descriptor that is closed when it goes; negative where there is none.
class Socket {
 public:
  explicit Socket(int family) : fd_(socket(family, SOCK_STREAM, 0)) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int fd() const { return fd_; }

 private:
  const int fd_;
};

std::string WhyNotBind(const addrinfo& address) {
  const Socket probe(address.ai_family);
  // As gRPC does, so that connections of an earlier server that are still closing do not count.
  const int on = 1;
  setsockopt(probe.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (probe.fd() < 0 || bind(probe.fd(), address.ai_addr, address.ai_addrlen) != 0) return std::strerror(errno);
  return "";
}

// gRPC takes over the file of a socket, also from a server that lives.
std::string WhyNotOpenUnixSocket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return absl::StrCat("the path is longer than ", sizeof(address.sun_path) - 1, " bytes");
  }
  path.copy(address.sun_path, path.size());
  const Socket probe(AF_UNIX);
  const bool answered = connect(probe.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  return answered ? std::strerror(EADDRINUSE) : "";
}

}  // namespace

absl::StatusOr<ListenAddress> ListenAddress::Parse(std::string_view text) {
  if (text.substr(0, kUnixPrefix.size()) == kUnixPrefix) {
    if (text.size() == kUnixPrefix.size()) return BadAddress(text);
    return ListenAddress{.host = std::string(text.substr(kUnixPrefix.size())), .unix_socket = true};
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return BadAddress(text);
  std::string_view host = text.substr(0, colon);
  const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (brackets) host = host.substr(1, host.size() - 2);
  std::uint32_t port = 0;
  if (host.empty() || (!brackets && host.find(':') != std::string_view::npos) ||
      !absl::SimpleAtoi(std::string(text.substr(colon + 1)), &port) || port > 65535) {
    return BadAddress(text);
  }
  return ListenAddress{.host = std::string(host), .port = static_cast<std::uint16_t>(port)};
}

bool ListenAddress::IsLocal() const { return unix_socket || IsLoopback(host); }

std::string ListenAddress::ToString() const {
  if (unix_socket) return absl::StrCat("unix:", host);
  if (host.find(':') != std::string::npos) return absl::StrCat("[", host, "]:", port);
  return absl::StrCat(host, ":", port);
}

std::string WhyNotListen(const ListenAddress& address) {
  if (address.unix_socket) return WhyNotOpenUnixSocket(address.host);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (error != 0) return gai_strerror(error);
  const AddressList list(found, &freeaddrinfo);
  return WhyNotBind(*list);
}

}  // namespace packtrain::serving
