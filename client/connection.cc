#include "client/connection.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/internal/channel.h"
#include "client/internal/dialer.h"
#include "client/internal/reachability.h"
#include "client/internal/retry.h"
#include "client/internal/unary_call.h"
#include "packtrain/v1/server_info.grpc.pb.h"
#include "proto/base/status_convert.h"
#include "proto/base/status_macros.h"

namespace packtrain::client {
namespace {

using std::chrono::milliseconds;

// Even at the end of `give_up` an attempt has this long to be answered.
constexpr milliseconds kMinAttempt{1'000};

class ChannelConnection final : public Connection {
 public:
  ChannelConnection(ConnectionOptions options, std::shared_ptr<grpc::Channel> channel)
      : options_(std::move(options)),
        channel_(std::move(channel)),
        reachability_(options_),
        dialer_(channel_) {}

  const ConnectionOptions& options() const override { return options_; }
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  Reachability& reachability() { return reachability_; }

 private:
  const ConnectionOptions options_;
  const std::shared_ptr<grpc::Channel> channel_;
  Reachability reachability_;
  const Dialer dialer_;
};

// Takes `prefix` off the front of `text`; false where it does not begin so.
bool ConsumePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool IsPort(std::string_view text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port >= 1 && port <= 65'535;
}

bool IsHostAndPort(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || !IsPort(text.substr(colon + 1))) return false;
  const std::string_view host = text.substr(0, colon);
  const bool bracketed = host.front() == '[' && host.back() == ']';
  return host.find_first_of("/, ") == std::string_view::npos &&
         (bracketed || host.find(':') == std::string_view::npos);
}

bool IsAddressList(std::string_view text) {
  for (absl::string_view part : absl::StrSplit(absl::string_view(text.data(), text.size()), ',')) {
    if (!IsHostAndPort(std::string_view(part.data(), part.size()))) return false;
  }
  return true;
}

bool IsServerAddress(std::string_view address) {
  if (ConsumePrefix(address, "unix:")) return !address.empty();
  if (ConsumePrefix(address, "dns:///")) return IsHostAndPort(address);
  if (ConsumePrefix(address, "ipv4:")) return IsAddressList(address);
  return IsHostAndPort(address);
}

// Keepalive is a pair with the server's: a ping every 30 s, given up after 10 s without an answer, also
// while no call is open; the server permits one every 10 s (GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL...).
void SetKeepalive(grpc::ChannelArguments& arguments) {
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
}

// gRPC redials more often than Retry asks, so that its own back-off never prolongs ours.
void SetRedialling(grpc::ChannelArguments& arguments) {
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5'000);  // how long one connect may take
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1'000);
  // Names are resolved again as often. With gRPC's minimum of 30 s, a server that has moved to another address
  // under its name would be found too late.
  arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, 1'000);
}

absl::Status CheckApi(const ConnectionOptions& options, const v1::GetServerInfoResponse& info) {
  if (info.api() == kApi) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("server ", options.server, " (packtraind ", info.version(),
                                                    ") speaks API \"", info.api(), "\", this program \"v1\""));
}

absl::StatusOr<v1::GetServerInfoResponse> Greet(ChannelConnection& connection) {
  const ConnectionOptions& options = connection.options();
  const auto stub = v1::ServerInfoService::NewStub(connection.channel());
  const auto deadline = std::chrono::steady_clock::now() + options.give_up;
  StopSignal never_stopped;
  Reachability::View view(connection.reachability());
  Retry retry(options, never_stopped, &view);
  v1::GetServerInfoResponse info;
  while (true) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - std::chrono::steady_clock::now());
    const absl::Status status =
        CallOnce(std::max(left, kMinAttempt), never_stopped, [&](grpc::ClientContext& context) {
          return stub->GetServerInfo(&context, v1::GetServerInfoRequest(), &info);
        });
    if (status.ok()) {
      retry.Succeeded();
      return info;
    }
    if (absl::IsDeadlineExceeded(status)) return GaveUp(options, status);
    ABSL_RETURN_IF_ERROR(retry.WaitAfter(status));
  }
}

}  // namespace

absl::Status CheckServerAddress(const std::string& server) {
  if (IsServerAddress(server)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--server \"", server, "\" is no address; known are HOST:PORT, unix:PATH, dns:///NAME:PORT ",
                   "and ipv4:A:P,B:P"));
}

std::shared_ptr<grpc::Channel> NewChannel(const ConnectionOptions& options, grpc::ChannelArguments arguments) {
  SetKeepalive(arguments);
  SetRedialling(arguments);
  // Calls and streams are dealt out in turn to the servers that answer, where the address names several.
  arguments.SetServiceConfigJSON(R"({"loadBalancingConfig":[{"round_robin":{}}]})");
  arguments.SetMaxReceiveMessageSize(options.max_message_bytes);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // no sockets shared between connections
  return grpc::CreateCustomChannel(options.server, grpc::InsecureChannelCredentials(), arguments);
}

const std::shared_ptr<grpc::Channel>& ChannelOf(const Connection& connection) {
  return static_cast<const ChannelConnection&>(connection).channel();
}

Reachability& ReachabilityOf(Connection& connection) {
  return static_cast<ChannelConnection&>(connection).reachability();
}

absl::StatusOr<std::shared_ptr<Connection>> Connection::Open(ConnectionOptions options) {
  ABSL_RETURN_IF_ERROR(CheckServerAddress(options.server));
  std::shared_ptr<grpc::Channel> channel = NewChannel(options, grpc::ChannelArguments());
  auto connection = std::make_shared<ChannelConnection>(std::move(options), std::move(channel));
  const absl::StatusOr<v1::GetServerInfoResponse> info = Greet(*connection);
  if (absl::IsUnimplemented(info.status())) {
    return absl::FailedPreconditionError(
        absl::StrCat("server ", connection->options().server, " does not speak packtrain's API \"v1\""));
  }
  ABSL_RETURN_IF_ERROR(info.status());
  ABSL_RETURN_IF_ERROR(CheckApi(connection->options(), *info));
  return connection;
}

}  // namespace packtrain::client
