#include "server/serving/inbound_limit.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/request_status.h"

namespace packtrain::serving {
namespace {

// What may have come of a call before its message is asked for: gRPC's window of a call.
constexpr std::uint64_t kWindowBytes = 64 << 10;

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

// What `brought` is beyond `begin`, which may be greater: a measurement can be a little too small.
std::uint64_t Since(std::uint64_t begin, std::uint64_t brought) { return brought - std::min(begin, brought); }

// The least that a message brings: its bytes, its prefix, and the headers of its frames, as large as may be.
std::uint64_t BroughtBy(std::uint64_t message_bytes) {
  constexpr std::uint64_t kPrefix = 5, kFrame = 16 << 10, kFrameHeader = 9;
  const std::uint64_t bytes = message_bytes + kPrefix;
  return bytes + (bytes + kFrame - 1) / kFrame * kFrameHeader;
}

// gRPC's words, which it has for a message that came whole.
absl::Status TooLarge(std::uint64_t bytes, std::uint64_t max_bytes) {
  return absl::ResourceExhaustedError(
      absl::StrCat("Received message larger than max (", bytes, " and more vs. ", max_bytes, ")"));
}

}  // namespace

InboundLimit::InboundLimit(const InboundLimitOptions& options) : options_(options) {
  if (options_.meter != nullptr) watcher_ = std::thread([this] { WatchUntilStopped(); });
}

InboundLimit::~InboundLimit() {
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  if (watcher_.joinable()) watcher_.join();
}

InboundLimit::Request::Request(InboundLimit& limit, std::string peer,
                               std::function<void(const absl::Status& why)> end)
    : limit_(limit), peer_(std::move(peer)), end_(std::move(end)) {
  limit_.Add(*this);
}

InboundLimit::Request::~Request() {
  if (!left_) Leave(0).IgnoreError();
}

absl::Status InboundLimit::Request::Leave(std::uint64_t bytes) {
  left_ = true;
  return limit_.Remove(*this, bytes);
}

void InboundLimit::Connection::Begin(std::uint64_t brought) {
  base = brought;
  held_bytes = 0;
  for (Request* request : requests) request->begin_ = brought;
}

std::uint64_t InboundLimit::Connection::Earliest(bool with_ended) const {
  std::uint64_t earliest = kNone;
  for (const Request* request : requests) {
    if (with_ended || request->ended_.ok()) earliest = std::min(earliest, request->begin_);
  }
  return earliest;
}

void InboundLimit::Add(Request& request) {
  if (options_.meter == nullptr) return;
  base::MutexLock lock(mutex_);
  Connection& connection = connections_[request.peer_];
  Measure(request.peer_, connection);
  if (connection.base) {
    request.begin_ = *connection.base + connection.held_bytes - std::min(connection.held_bytes, kWindowBytes);
  }
  connection.shared = !connection.requests.empty();
  connection.requests.insert(&request);
  if (resting_) changed_.NotifyAll();
}

absl::Status InboundLimit::Remove(Request& request, std::uint64_t bytes) {
  if (options_.meter == nullptr) return absl::OkStatus();
  base::MutexLock lock(mutex_);
  const auto found = connections_.find(request.peer_);
  Connection& connection = found->second;
  if (connection.requests.size() == 1) {
    connections_.erase(found);
    return request.ended_;
  }
  Measure(request.peer_, connection);
  connection.requests.erase(&request);
  if (!connection.base) return request.ended_;
  const std::uint64_t brought = *connection.base + connection.held_bytes;
  const std::uint64_t credit =
      bytes == 0 ? 0 : std::min({BroughtBy(bytes), connection.held_bytes, Since(request.begin_, brought)});
  // Those that are left hold nothing of what came before them.
  connection.base = std::clamp(connection.Earliest(true), *connection.base + credit, brought);
  connection.held_bytes = brought - *connection.base;
  return request.ended_;
}

void InboundLimit::Measure(const std::string& peer, Connection& connection) const {
  const std::optional<std::uint64_t> brought = options_.meter->BytesFrom(peer);
  const std::uint64_t earliest = connection.Earliest(false);
  connection.under_way_bytes = 0;
  if (!brought) {
    connection.base.reset();
    connection.held_bytes = 0;
  } else if (!connection.base || *brought < *connection.base) {
    connection.Begin(*brought);
  } else if (earliest == kNone) {
    // What arrives of requests that were ended is dropped by gRPC.
    connection.base = Since(connection.held_bytes, *brought);
  } else {
    connection.held_bytes = *brought - *connection.base;
    connection.under_way_bytes = std::min(connection.held_bytes, Since(earliest, *brought));
  }
}

InboundLimit::Connection* InboundLimit::Largest() {
  Connection* largest = nullptr;
  for (auto& [peer, connection] : connections_) {
    const std::uint64_t most = largest == nullptr ? 0 : largest->under_way_bytes;
    if (connection.under_way_bytes > most) largest = &connection;
  }
  return largest;
}

absl::Status InboundLimit::StatusFor(const Connection& connection, std::uint64_t held_bytes) const {
  // Of several requests it is not known which one brought what; an eighth is more than frames add.
  const std::uint64_t bytes = connection.under_way_bytes - connection.under_way_bytes / 8;
  if (!connection.shared && bytes > options_.max_message_bytes) {
    return TooLarge(bytes, options_.max_message_bytes);
  }
  return base::StoppedReceiving(held_bytes, options_.max_bytes);
}

void InboundLimit::End(Connection& connection, std::uint64_t held_bytes) const {
  const absl::Status why = StatusFor(connection, held_bytes);
  connection.under_way_bytes = 0;
  for (Request* request : connection.requests) {
    if (!request->ended_.ok()) continue;
    request->ended_ = why;
    request->end_(why);
  }
}

void InboundLimit::Check() {
  base::MutexLock lock(mutex_);
  std::uint64_t held = 0;
  std::uint64_t under_way = 0;
  for (auto& [peer, connection] : connections_) {
    Measure(peer, connection);
    held += connection.held_bytes;
    under_way += connection.under_way_bytes;
  }
  // Those ended before are about to leave: they may hold half as much again.
  while (under_way > options_.max_bytes || held - held / 3 > options_.max_bytes) {
    Connection* const largest = Largest();
    if (largest == nullptr) break;
    const std::uint64_t bytes = largest->under_way_bytes;
    End(*largest, held);
    held -= bytes;
    under_way -= bytes;
  }
}

void InboundLimit::WatchUntilStopped() {
  while (true) {
    {
      base::MutexLock lock(mutex_);
      while (!stopping_ && resting_ && connections_.empty()) changed_.Wait(mutex_);
      resting_ = false;
      const auto next = std::chrono::steady_clock::now() + options_.interval;
      while (!stopping_ && changed_.WaitUntil(mutex_, next)) continue;
      if (stopping_) return;
    }
    Check();
    base::MutexLock lock(mutex_);
    // So calls that follow each other do not wake the thread each time.
    resting_ = connections_.empty();
  }
}

}  // namespace packtrain::serving
