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
// rest fits. A connection holds what it has brought since its first request under way began, less the requests
// that have been taken since. Requests on connections that are not measured hold nothing.
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
    // `end` is called at most once, on the watching thread, and never once the destructor has returned. On that
    // thread it must use neither this object nor the limit. Its status: RESOURCE_EXHAUSTED.
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
    absl::Status ended_;  // guarded by the limit's mutex
  };

  // Ends what is too much. The watching thread calls it.
  void Check();

 private:
  struct Connection {
    bool under_way() const;

    std::optional<std::uint64_t> base;  // what it had brought before that which it holds
    std::uint64_t held_bytes = 0;
    std::set<Request*> requests;
  };

  void Add(Request& request);
  void Remove(Request& request, std::uint64_t bytes);
  void Measure(const std::string& peer, Connection& connection) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The one that holds the most; null where none holds anything.
  Connection* Largest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(Connection& connection) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status StatusFor(const Connection& connection) const;
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
