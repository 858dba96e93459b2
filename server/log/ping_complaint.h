// What gRPC says of a client that it cuts off because it pings too often.
#ifndef PACKTRAIN_SERVER_LOG_PING_COMPLAINT_H_
#define PACKTRAIN_SERVER_LOG_PING_COMPLAINT_H_

#include <optional>
#include <string_view>

namespace packtrain::log {

// The peer of such a client, where `message` is the line with which gRPC ends its connection, which it writes
// at the level of debugging; nullopt: it is about something else.
std::optional<std::string_view> PeerThatPingsTooOften(std::string_view message);

}  // namespace packtrain::log

#endif  // PACKTRAIN_SERVER_LOG_PING_COMPLAINT_H_
