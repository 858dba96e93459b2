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

// Bytes that have arrived; nullopt: no connection over TCP.
std::optional<std::uint64_t> BytesReceived(int connection) {
  tcp_info info{};
  socklen_t size = sizeof(info);
  const bool measured = getsockopt(connection, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
                        size >= offsetof(tcp_info, tcpi_segs_out);
  return measured ? std::optional<std::uint64_t>(info.tcpi_bytes_received) : std::nullopt;
}

// Bytes that its owner has read. What arrives between the two system calls counts as unread, so they are
// repeated until nothing did, a few times at most.
std::optional<std::uint64_t> BytesRead(int connection) {
  constexpr int kTries = 4;
  std::optional<std::uint64_t> received = BytesReceived(connection);
  std::uint64_t read = 0;
  for (int k = 0; k < kTries && received; ++k) {
    int unread = 0;  // bytes
    if (ioctl(connection, FIONREAD, &unread) != 0) return std::nullopt;
    read = std::max(read, *received - std::min<std::uint64_t>(unread, *received));
    const auto before = std::exchange(received, BytesReceived(connection));
    if (received == before) return read;
  }
  return received ? std::optional(read) : std::nullopt;
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
  if (found == connections_.end()) return std::nullopt;
  const auto [known, connection] = *found;
  if (PeerOf(connection) != known) return std::nullopt;
  const std::optional<std::uint64_t> bytes = BytesRead(connection);
  return PeerOf(connection) == known ? bytes : std::nullopt;
}

}  // namespace packtrain::node
