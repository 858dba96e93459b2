#include "server/node/option_checks.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/node/memory_shares.h"

namespace packtrain::node {
namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t kMinMessageBytes = 64 << 10;
constexpr std::uint32_t kMaxMessageBytes = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t kMinBatchBytes = 4 << 10;
constexpr int kMaxBuilders = 1024;

}  // namespace

absl::Status CheckOptions(const ServerOptions& options) {
  if (options.max_message_bytes < kMinMessageBytes || options.max_message_bytes > kMaxMessageBytes) {
    return absl::InvalidArgumentError(absl::StrCat("--max-message-bytes ", options.max_message_bytes,
                                                   " is outside ", kMinMessageBytes, " .. ", kMaxMessageBytes));
  }
  if (options.max_batch_bytes < kMinBatchBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("--max-batch-bytes ", options.max_batch_bytes, " is below ", kMinBatchBytes));
  }
  if (options.memory_bytes != 0 && options.memory_bytes < kMinMemoryBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("--memory ", options.memory_bytes, " is below ", kMinMemoryBytes));
  }
  if (options.max_streams == 0) return absl::InvalidArgumentError("--max-streams 0: at least one is needed");
  if (options.builders < 0 || options.builders > kMaxBuilders) {
    return absl::InvalidArgumentError(
        absl::StrCat("--builders ", options.builders, " is outside 0 .. ", kMaxBuilders));
  }
  if (options.idle_timeout <= milliseconds(0)) {
    return absl::InvalidArgumentError("--idle-timeout must be above 0");
  }
  if (options.keep_staged < milliseconds(0)) {
    return absl::InvalidArgumentError("--keep-staged must not be below 0");
  }
  if (std::min(options.ping_after, options.ping_timeout) <= milliseconds(0)) {
    return absl::InvalidArgumentError("--ping-after and --ping-timeout must be above 0");
  }
  return absl::OkStatus();
}

absl::StatusOr<ListenAddress> CheckAddress(const ServerOptions& options) {
  ABSL_ASSIGN_OR_RETURN(ListenAddress address, ListenAddress::Parse(options.listen));
  if (!address.IsLocal() && !options.insecure) {
    return absl::InvalidArgumentError(
        absl::StrCat("--listen ", options.listen,
                     " can be reached from other machines, and this server speaks plain text: listen on "
                     "127.0.0.1 or unix:PATH, or say --insecure"));
  }
  return address;
}

absl::Status CheckPrimary(const ServerOptions& options) {
  if (options.replica_of.empty()) return absl::OkStatus();
  const absl::StatusOr<ListenAddress> primary = ListenAddress::Parse(options.replica_of);
  if (!primary.ok() || (!primary->unix_socket && primary->port == 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--replica-of '", options.replica_of, "' is no HOST:PORT, [IPV6]:PORT or unix:PATH"));
  }
  if (primary->ToString() == options.listen) {
    return absl::InvalidArgumentError(
        absl::StrCat("--replica-of ", options.replica_of, " is the server's own address, --listen"));
  }
  if (primary->IsLocal() || options.insecure) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--replica-of ", options.replica_of,
                                                 " is on another machine, and ",
                                                 "this server speaks plain text: say --insecure"));
}

}  // namespace packtrain::node
