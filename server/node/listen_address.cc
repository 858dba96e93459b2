#include "server/node/listen_address.h"

#include <arpa/inet.h>

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace packtrain::node {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";

bool IsLoopback(const std::string& host) {
  if (host == "localhost") return true;
  in_addr v4;
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  in6_addr v6;
  return inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

std::optional<std::uint16_t> ParsePort(std::string_view text) {
  std::uint32_t port = 0;
  if (!absl::SimpleAtoi(std::string(text), &port) || port > 65535) return std::nullopt;
  return static_cast<std::uint16_t>(port);
}

std::optional<ListenAddress> ParseHostPort(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (brackets) host = host.substr(1, host.size() - 2);
  const std::optional<std::uint16_t> port = ParsePort(text.substr(colon + 1));
  if (host.empty() || (!brackets && host.find(':') != std::string_view::npos) || !port) return std::nullopt;
  return ListenAddress{.host = std::string(host), .port = *port};
}

}  // namespace

absl::StatusOr<ListenAddress> ListenAddress::Parse(std::string_view text) {
  if (text.size() > kUnixPrefix.size() && text.starts_with(kUnixPrefix)) {
    return ListenAddress{.host = std::string(text.substr(kUnixPrefix.size())), .unix_socket = true};
  }
  if (std::optional<ListenAddress> address = ParseHostPort(text)) return *std::move(address);
  return absl::InvalidArgumentError(absl::StrCat("cannot listen on '", std::string(text),
                                                 "': --listen takes HOST:PORT, [IPV6]:PORT or unix:PATH"));
}

absl::StatusOr<ListenAddress> ListenAddress::ParseMetricsPort(std::string_view text) {
  if (const std::optional<std::uint16_t> port = ParsePort(text)) {
    return ListenAddress{.host = "127.0.0.1", .port = *port};
  }
  std::optional<ListenAddress> address = ParseHostPort(text);
  if (address && !address->IsIpv6()) return *std::move(address);
  return absl::InvalidArgumentError(absl::StrCat("--metrics-port '", std::string(text),
                                                 "': it takes PORT (0 to 65535) or HOST:PORT, by IPv4 alone"));
}

bool ListenAddress::IsIpv6() const { return !unix_socket && host.find(':') != std::string::npos; }

bool ListenAddress::IsLocal() const { return unix_socket || IsLoopback(host); }

std::string ListenAddress::ToString() const {
  if (unix_socket) return absl::StrCat("unix:", host);
  if (IsIpv6()) return absl::StrCat("[", host, "]:", port);
  return absl::StrCat(host, ":", port);
}

}  // namespace packtrain::node
