#include "server/log/ping_complaint.h"

namespace packtrain::log {

std::optional<std::string_view> PeerThatPingsTooOften(std::string_view message) {
  constexpr std::string_view kGoaway = ": Sending goaway ";
  const std::size_t end = message.find(kGoaway);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view reason = message.substr(end);
  const bool pings = reason.find("too_many_pings") != std::string_view::npos ||
                     reason.find("Too many pings") != std::string_view::npos;
  return pings ? std::optional(message.substr(0, end)) : std::nullopt;
}

}  // namespace packtrain::log
