// The coverages of the runs that report, in a bounded amount of memory.
#ifndef PACKTRAIN_SERVER_RUNS_COVERAGE_CACHE_H_
#define PACKTRAIN_SERVER_RUNS_COVERAGE_CACHE_H_

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "proto/base/mutex.h"
#include "server/runs/run_coverage.h"

namespace packtrain::runs {

// Any number of threads may use it; a coverage itself is used by one thread at a time. Where all take more than
// `max_bytes`, those that have not been used for longest are dropped, but for the last one. One that was
// dropped is read from the database again.
class CoverageCache {
 public:
  explicit CoverageCache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // Null: it is not held.
  std::shared_ptr<RunCoverage> Find(std::string_view run);
  // Holds it from now on, as large as it is now.
  void Put(const std::string& run, std::shared_ptr<RunCoverage> coverage);
  void Drop(std::string_view run);
  std::size_t bytes() const;

 private:
  struct Held {
    std::string run;
    std::shared_ptr<RunCoverage> coverage;
    std::size_t bytes = 0;
  };
  using Order = std::list<Held>;  // the last used one first

  void Remove(Order::iterator held) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::size_t max_bytes_;
  mutable base::Mutex mutex_;
  Order order_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Order::iterator, std::less<>> by_run_ ABSL_GUARDED_BY(mutex_);
  std::size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace packtrain::runs

#endif  // PACKTRAIN_SERVER_RUNS_COVERAGE_CACHE_H_
