// Tells a program that its server is lost, and that it is back.
#ifndef PACKTRAIN_CLIENT_INTERNAL_REACHABILITY_H_
#define PACKTRAIN_CLIENT_INTERNAL_REACHABILITY_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "client/connection.h"
#include "proto/base/mutex.h"

namespace packtrain::client {

// What all activities of one connection know of its server. Thread-safe. `options` are borrowed.
class Reachability {
 public:
  explicit Reachability(const ConnectionOptions& options) : options_(options) {}

  // One activity's view of it. Used by one thread.
  class View {
   public:
    explicit View(Reachability& server) : server_(server) {}
    // What was lost then counts no more; nothing is said.
    ~View();
    View(const View&) = delete;
    View& operator=(const View&) = delete;

    // An attempt failed for want of a server. The second in a row is a loss: a stream that broke alone is not.
    void Failed(const absl::Status& cause);
    // The server answered.
    void Answered();

   private:
    Reachability& server_;
    std::uint64_t failures_ = 0;  // since the last answer
  };

 private:
  // The first view's loss and the last one's return are told.
  void Lost(const absl::Status& cause);
  void Back(bool tell);

  const ConnectionOptions& options_;
  base::Mutex mutex_;                             // held while `on_notice` runs
  std::size_t lost_ ABSL_GUARDED_BY(mutex_) = 0;  // views
};

}  // namespace packtrain::client

#endif  // PACKTRAIN_CLIENT_INTERNAL_REACHABILITY_H_
