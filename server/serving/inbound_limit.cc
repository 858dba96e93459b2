#include "server/serving/inbound_limit.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/request_status.h"

namespace packtrain::serving {
namespace {

// What a message brings beside its own bytes: headers of its call and of its frames.
constexpr std::uint64_t kEnvelopeBytes = 1 << 10;

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
  limit_.Remove(*this, bytes);
  return ended_;
}

bool InboundLimit::Connection::under_way() const {
  return std::ranges::any_of(requests, [](const Request* request) { return request->ended_.ok(); });
}

void InboundLimit::Add(Request& request) {
  if (options_.meter == nullptr) return;
  base::MutexLock lock(mutex_);
  Connection& connection = connections_[request.peer_];
  if (connection.requests.empty()) connection.base = options_.meter->BytesFrom(request.peer_);
  connection.requests.insert(&request);
  if (resting_) changed_.NotifyAll();
}

void InboundLimit::Remove(Request& request, std::uint64_t bytes) {
  if (options_.meter == nullptr) return;
  base::MutexLock lock(mutex_);
  const auto found = connections_.find(request.peer_);
  Connection& connection = found->second;
  connection.requests.erase(&request);
  if (connection.requests.empty()) {
    connections_.erase(found);
  } else if (connection.base && bytes > 0) {
    *connection.base += bytes + kEnvelopeBytes;
  }
}

void InboundLimit::Measure(const std::string& peer, Connection& connection) const {
  const std::uint64_t brought = options_.meter->BytesFrom(peer).value_or(0);
  // What arrives of requests that were ended is dropped by gRPC.
  const bool holds = connection.base && connection.under_way();
  connection.base = holds ? std::min(*connection.base, brought) : brought;
  connection.held_bytes = brought - *connection.base;
}

InboundLimit::Connection* InboundLimit::Largest() {
  Connection* largest = nullptr;
  for (auto& [peer, connection] : connections_) {
    const std::uint64_t most = largest == nullptr ? 0 : largest->held_bytes;
    if (connection.held_bytes > most) largest = &connection;
  }
  return largest;
}

absl::Status InboundLimit::StatusFor(const Connection& connection) const {
  // Of several requests it is not known which one brought what; an eighth is more than frames add.
  const std::uint64_t bytes = connection.held_bytes - connection.held_bytes / 8;
  if (connection.requests.size() == 1 && bytes > options_.max_message_bytes) {
    return TooLarge(bytes, options_.max_message_bytes);
  }
  return base::StoppedReceiving();
}

void InboundLimit::End(Connection& connection) const {
  const absl::Status why = StatusFor(connection);
  for (Request* request : connection.requests) {
    if (!request->ended_.ok()) continue;
    request->ended_ = why;
    request->end_(why);
  }
  *connection.base += std::exchange(connection.held_bytes, 0);
}

void InboundLimit::Check() {
  base::MutexLock lock(mutex_);
  std::uint64_t held = 0;
  for (auto& [peer, connection] : connections_) {
    Measure(peer, connection);
    held += connection.held_bytes;
  }
  while (held > options_.max_bytes) {
    Connection* const largest = Largest();
    if (largest == nullptr) break;
    held -= largest->held_bytes;
    End(*largest);
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
