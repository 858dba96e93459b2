// Tells the operator of graphs that streams go without.
#ifndef PACKTRAIN_SERVER_BATCHES_DAMAGE_LOG_H_
#define PACKTRAIN_SERVER_BATCHES_DAMAGE_LOG_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "proto/base/mutex.h"
#include "proto/wire/batch_layout.h"

namespace packtrain::batches {

// Writes event `corrupt_graphs_left_out`, no more often than once in kDamageLogPeriod; what was not written is
// counted in the next line. Any number of threads may use it.
inline constexpr std::chrono::seconds kDamageLogPeriod{10};

class DamageLog {
 public:
  using Now = std::function<std::chrono::steady_clock::time_point()>;

  explicit DamageLog(Now now = std::chrono::steady_clock::now) : now_(std::move(now)) {}

  // `batch`, of `dataset` (NAME@VERSION), goes without its corrupt_graphs, of which there are some.
  void Add(std::string_view dataset, const wire::BatchHeader& batch);

 private:
  const Now now_;
  base::Mutex mutex_;
  std::chrono::steady_clock::time_point quiet_until_ ABSL_GUARDED_BY(mutex_) =
      std::chrono::steady_clock::time_point::min();
  std::uint64_t unsaid_ ABSL_GUARDED_BY(mutex_) = 0;  // graphs
};

}  // namespace packtrain::batches

#endif  // PACKTRAIN_SERVER_BATCHES_DAMAGE_LOG_H_
