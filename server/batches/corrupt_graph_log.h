// Tells the operator which corrupt graphs streams have skipped.
#ifndef PACKTRAIN_SERVER_BATCHES_CORRUPT_GRAPH_LOG_H_
#define PACKTRAIN_SERVER_BATCHES_CORRUPT_GRAPH_LOG_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "proto/base/mutex.h"
#include "proto/wire/batch_layout.h"

namespace packtrain::batches {

// Writes event `corrupt_graphs_left_out`, no more often than once in kCorruptGraphLogPeriod; what was not
// written is counted in the next line. Any number of threads may use it.
inline constexpr std::chrono::seconds kCorruptGraphLogPeriod{10};

class CorruptGraphLog {
 public:
  using Now = std::function<std::chrono::steady_clock::time_point()>;

  explicit CorruptGraphLog(Now now = std::chrono::steady_clock::now) : now_(std::move(now)) {}

  // `batch`, of `dataset` (NAME@VERSION), was built without its corrupt_graphs, of which there is at least one.
  void Add(std::string_view dataset, const wire::BatchHeader& batch);

 private:
  const Now now_;
  base::Mutex mutex_;
  std::chrono::steady_clock::time_point quiet_until_ ABSL_GUARDED_BY(mutex_) =
      std::chrono::steady_clock::time_point::min();
  std::uint64_t unsaid_ ABSL_GUARDED_BY(mutex_) = 0;  // graphs
};

}  // namespace packtrain::batches

#endif  // PACKTRAIN_SERVER_BATCHES_CORRUPT_GRAPH_LOG_H_
