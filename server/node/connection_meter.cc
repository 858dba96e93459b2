#include "server/node/connection_meter.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"

namespace packtrain::node {
namespace {

std::string PeerOf(const sockaddr_in& name) {
  char text[INET_ADDRSTRLEN] = {};
  inet_ntop(AF_INET, &name.sin_addr, text, sizeof(text));
  return absl::StrCat("ipv4:", text, ":", ntohs(name.sin_port));
}

std::string PeerOf(const sockaddr_in6& name) {
  if (IN6_IS_ADDR_V4MAPPED(&name.sin6_addr)) {
    sockaddr_in v4{};
    v4.sin_port = name.sin6_port;
    std::copy_n(name.sin6_addr.s6_addr + 12, 4, reinterpret_cast<std::uint8_t*>(&v4.sin_addr));
    return PeerOf(v4);
  }
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(AF_INET6, &name.sin6_addr, text, sizeof(text));
  const std::string scope = name.sin6_scope_id == 0 ? "" : absl::StrCat("%25", name.sin6_scope_id);
  return absl::StrCat("ipv6:%5B", text, scope, "%5D:", ntohs(name.sin6_port));
}

// As gRPC writes it; nullopt: not over TCP, or no connection.
std::optional<std::string> PeerOf(int connection) {
  union {
    sockaddr_storage any;
    sockaddr_in v4;
    sockaddr_in6 v6;
  } name{};
  socklen_t size = sizeof(name);
  if (getpeername(connection, reinterpret_cast<sockaddr*>(&name), &size) != 0) return std::nullopt;
  if (name.any.ss_family == AF_INET) return PeerOf(name.v4);
  if (name.any.ss_family == AF_INET6) return PeerOf(name.v6);
  return std::nullopt;
}

}  // namespace

void ConnectionMeter::Add(int connection) {
  std::optional<std::string> peer = PeerOf(connection);
  base::MutexLock lock(mutex_);
  if (const auto found = peers_.find(connection); found != peers_.end()) {
    const auto known = connections_.find(found->second);
    if (known != connections_.end() && known->second == connection) connections_.erase(known);
    peers_.erase(found);
  }
  if (!peer.has_value()) return;
  connections_[*peer] = connection;
  peers_[connection] = *std::move(peer);
}

std::optional<std::uint64_t> ConnectionMeter::BytesFrom(const std::string& peer) const {
  base::MutexLock lock(mutex_);
  const auto found = connections_.find(peer);
  if (found == connections_.end() || PeerOf(found->second) != peer) return std::nullopt;
  tcp_info info{};
  socklen_t size = sizeof(info);
  int unread = 0;  // bytes
  const bool measured = getsockopt(found->second, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
                        size >= offsetof(tcp_info, tcpi_segs_out) &&
                        ioctl(found->second, FIONREAD, &unread) == 0;
  if (!measured) return std::nullopt;
  return info.tcpi_bytes_received - std::min<std::uint64_t>(unread, info.tcpi_bytes_received);
}

}  // namespace packtrain::node
