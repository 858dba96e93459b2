// Where a server listens.
#ifndef PACKTRAIN_SERVER_NODE_LISTEN_ADDRESS_H_
#define PACKTRAIN_SERVER_NODE_LISTEN_ADDRESS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace packtrain::node {

// HOST:PORT, [IPV6]:PORT or unix:PATH.
struct ListenAddress {
  std::string host;  // without brackets; the path of a Unix socket
  std::uint16_t port = 0;
  bool unix_socket = false;

  // INVALID_ARGUMENT: none of the three forms; the message names --listen.
  static absl::StatusOr<ListenAddress> Parse(std::string_view text);
  // The same for --metrics-port, which takes PORT, on loopback, or HOST:PORT, both of IPv4.
  static absl::StatusOr<ListenAddress> ParseMetricsPort(std::string_view text);

  // The host is an address of IPv6.
  bool IsIpv6() const;
  // Only programs on this machine can reach it.
  bool IsLocal() const;
  // As gRPC and clients write it.
  std::string ToString() const;
};

}  // namespace packtrain::node

#endif  // PACKTRAIN_SERVER_NODE_LISTEN_ADDRESS_H_
