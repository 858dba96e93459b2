#include "server/serving/listen_address.h"

#include <arpa/inet.h>

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

}  // namespace packtrain::serving
