// Bounds the memory of requests that are being received. gRPC puts a message together as a whole, as large as
// its client makes it, before it looks at the limit of its size or hands it over.
#ifndef PACKTRAIN_SERVER_SERVING_INBOUND_LIMIT_H_
#define PACKTRAIN_SERVER_SERVING_INBOUND_LIMIT_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "proto/base/mutex.h"

namespace packtrain::serving {

// How much connections have brought. Any number of threads may use it.
class InboundMeter {
 public:
  virtual ~InboundMeter() = default;
  // Bytes that gRPC has read from the connection of `peer`, as it names that. nullopt: the connection is gone,
  // or of a kind that is not measured.
  virtual std::optional<std::uint64_t> BytesFrom(const std::string& peer) const = 0;
};

struct InboundLimitOptions {
  // What all requests together may hold.
  std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max();
  // What one message may have.
  std::uint64_t max_message_bytes = std::numeric_limits<std::uint64_t>::max();
  // Borrowed; null: nothing is measured.
  const InboundMeter* meter = nullptr;
  // Between two checks.
  std::chrono::milliseconds interval{5};
};

// Where requests hold too much, ends those of the connection that has brought the most, and so on until the
// rest fits. A connection holds what it has brought since the earliest of its requests that are there began,
// less what those brought for sure that have come whole and left; so it holds at least what gRPC holds of its
// requests, but for what came of a call before its message was asked for (a window of 64 KiB at most). Requests
// that were ended hold what they brought until they leave, up to half of the limit on top of it. Requests on
// connections that are not measured hold nothing.
//
// No message may be compressed: it is not known what such a one brought.
//
// Any number of threads may use it; a thread of its own watches while there are requests.
class InboundLimit {
 public:
  explicit InboundLimit(const InboundLimitOptions& options);
  ~InboundLimit();
  InboundLimit(const InboundLimit&) = delete;
  InboundLimit& operator=(const InboundLimit&) = delete;

  // A request from the moment at which its message is asked for until gRPC holds nothing of it any more. It
  // must not outlive the limit.
  class Request {
   public:
    // `end` is called at most once, on the watching thread, and never once the destructor has returned. It is
    // called under the limit's lock, and so may take locks of its call and of gRPC, under which nobody may use
    // the limit; nor may it itself. Its status: RESOURCE_EXHAUSTED.
    Request(InboundLimit& limit, std::string peer, std::function<void(const absl::Status& why)> end);
    ~Request();
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;

    // gRPC holds nothing of it any more, or is about to let go of it; `bytes`: what the message had, 0 where it
    // did not come whole. The status with which it was ended; OK if it was not, and then it never will be.
    // Called at most once.
    absl::Status Leave(std::uint64_t bytes);

   private:
    friend class InboundLimit;

    InboundLimit& limit_;
    const std::string peer_;
    const std::function<void(const absl::Status&)> end_;
    bool left_ = false;
    // Guarded by the limit's mutex.
    std::uint64_t begin_ = 0;  // what its connection had brought before, less what may be of this one
    absl::Status ended_;
  };

  // Ends what is too much. The watching thread calls it.
  void Check();

 private:
  // Amounts are of the last measurement; those that are brought count from the connection's start.
  struct Connection {
    // Forgets what was brought before.
    void Begin(std::uint64_t brought);
    // The least `begin_` of the requests, or of those under way; the largest number where there are none.
    std::uint64_t Earliest(bool with_ended) const;

    std::optional<std::uint64_t> base;  // it holds what was brought beyond; nullopt: it is not measured
    std::uint64_t held_bytes = 0;       // by all requests
    std::uint64_t under_way_bytes = 0;  // of these, by those that were not ended
    bool shared = false;                // it has had several at one time since it had none
    std::set<Request*> requests;
  };

  void Add(Request& request);
  absl::Status Remove(Request& request, std::uint64_t bytes);
  void Measure(const std::string& peer, Connection& connection) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // That whose requests under way hold the most; null where they hold nothing.
  Connection* Largest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends its requests; `held_bytes`: what all hold.
  void End(Connection& connection, std::uint64_t held_bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status StatusFor(const Connection& connection, std::uint64_t held_bytes) const;
  void WatchUntilStopped();

  const InboundLimitOptions options_;

  base::CondVar changed_;
  mutable base::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool resting_ ABSL_GUARDED_BY(mutex_) = true;                            // the thread waits for a request
  std::map<std::string, Connection> connections_ ABSL_GUARDED_BY(mutex_);  // by peer; each has requests

  std::thread watcher_;
};

}  // namespace packtrain::serving

#endif  // PACKTRAIN_SERVER_SERVING_INBOUND_LIMIT_H_
