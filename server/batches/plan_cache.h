// Plans of epochs, kept while there is room.
//
// A plan is made by the first who asks for it, and kept for the other ranks and the streams to come:
//
//   PlanCache plans(256 << 20, memory);
//   ABSL_ASSIGN_OR_RETURN(const auto plan, plans.Get(resolved, epoch, {.size = world_size}));
//   ABSL_ASSIGN_OR_RETURN(const batching::PlannedBatch batch, plan->plan->BatchAt(rank));
#ifndef PACKTRAIN_SERVER_BATCHES_PLAN_CACHE_H_
#define PACKTRAIN_SERVER_BATCHES_PLAN_CACHE_H_

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "absl/status/statusor.h"
#include "proto/base/mutex.h"
#include "server/batches/resolved_spec.h"
#include "server/batching/plan.h"
#include "server/limits/memory_meter.h"
#include "server/metrics/server_reading.h"

namespace packtrain::batches {

// The plan of one epoch, dealt out to one world, with the data set whose sizes it borrows. Immutable.
struct EpochPlan {
  std::shared_ptr<const storage::Dataset> dataset;
  std::unique_ptr<const batching::Plan> plan;
  // How long planning took.
  double plan_seconds = 0;
  // The memory of the plan as it is kept. It is counted for as long as anybody holds the plan or one dealt from
  // it, whether the cache keeps it or not.
  std::shared_ptr<const limits::MemoryMeter::Charge> charge;
};

// Any number of threads may use it. Threads that ask for the same epoch at one time plan it once.
class PlanCache {
 public:
  // The least recently used plans are dropped when those kept are above `max_bytes`. A plan that somebody waits
  // for is made with `parallel_for`; one that is prepared is made on one thread, beside the work that it must
  // not hold up.
  PlanCache(std::uint64_t max_bytes, std::shared_ptr<limits::MemoryMeter> memory,
            batching::ParallelFor parallel_for = batching::RunInTurn);

  // The plan of one epoch of `resolved`. Makes the plan on the calling thread if it is not kept, and blocks
  // while another thread makes it. All worlds share the batches of one plan, except with Balance::kCost, where
  // each world has a plan of its own. Codes as batching::Plan::Create; failures are not kept.
  absl::StatusOr<std::shared_ptr<const EpochPlan>> Get(const ResolvedSpec& resolved, std::uint64_t epoch,
                                                       const wire::World& world);

  // Plans an epoch that somebody will ask for with `world`, on the calling thread. Returns at once if the plan
  // is kept or another thread is making it. A failure is not reported here, but by Get, which meets it again.
  void Prepare(const ResolvedSpec& resolved, std::uint64_t epoch, const wire::World& world);
  // From then on Prepare does nothing.
  void EndPreparing() { preparing_ = false; }

  // Drops every plan that holds the data set of this name, NAME@VERSION.
  void Drop(std::string_view dataset);

  std::uint64_t max_bytes() const { return max_bytes_; }
  // Epochs planned so far, and graphs above the budget that were met on the way.
  std::uint64_t planned() const;
  metrics::OversizeTotals oversize() const;

 private:
  using Result = absl::StatusOr<std::shared_ptr<const EpochPlan>>;

  struct Key {
    std::string fingerprint;
    std::uint64_t epoch = 0;
    wire::World world = {};
    friend bool operator<(const Key& a, const Key& b) {
      return std::tie(a.fingerprint, a.epoch, a.world) < std::tie(b.fingerprint, b.epoch, b.world);
    }
  };

  // One epoch's place: empty while it is being planned. Fields are guarded by the cache's mutex.
  struct Slot {
    std::optional<Result> result;
    std::list<Key>::iterator use;
  };

  // Names what is kept: with Balance::kCost the plan for each world, else that for one rank, from which the
  // others are dealt.
  static Key KeyOf(const ResolvedSpec& resolved, std::uint64_t epoch, const wire::World& world);
  Result GetKept(const ResolvedSpec& resolved, const Key& key);
  // Makes the plan of a slot that this thread has put into slots_, and wakes those who wait for it.
  Result Fill(const Key& key, Slot& slot, const ResolvedSpec& resolved,
              const batching::ParallelFor& parallel_for);
  Result Make(const ResolvedSpec& resolved, const Key& key, const batching::ParallelFor& parallel_for);
  void Keep(const Key& key, Slot& slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropLeastRecentlyUsed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes a kept plan out.
  std::shared_ptr<Slot> Remove(std::list<Key>::iterator use) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::uint64_t max_bytes_;
  const std::shared_ptr<limits::MemoryMeter> memory_;
  const batching::ParallelFor parallel_for_;

  base::CondVar planned_one_;
  std::atomic<bool> preparing_ = true;
  mutable base::Mutex mutex_;
  std::map<Key, std::shared_ptr<Slot>> slots_ ABSL_GUARDED_BY(mutex_);
  // Keys of finished slots, least recently used first.
  std::list<Key> uses_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t kept_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t planned_ ABSL_GUARDED_BY(mutex_) = 0;
  metrics::OversizeTotals oversize_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packtrain::batches

#endif  // PACKTRAIN_SERVER_BATCHES_PLAN_CACHE_H_
