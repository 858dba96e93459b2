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
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/mutex.h"
#include "server/batches/resolved_spec.h"
#include "server/batching/plan.h"
#include "server/limits/memory_budget.h"
#include "server/metrics/server_reading.h"

namespace packtrain::batches {

// The plan of one epoch, dealt out to one world, with the data set whose sizes it borrows. Immutable.
struct EpochPlan {
  std::shared_ptr<const storage::Dataset> dataset;
  std::unique_ptr<const batching::Plan> plan;
  // How long planning took.
  double plan_seconds = 0;
  // The memory of the plan. It is reserved for as long as anybody holds the plan or one dealt from it, whether
  // the cache keeps it or not.
  std::shared_ptr<const limits::MemoryBudget::Reservation> memory;
  // The plan that this one is dealt from.
  std::shared_ptr<const EpochPlan> whole = nullptr;
};

// Any number of threads may use it. An epoch is planned once for all who ask for it at one time or while
// anybody holds its plan, however large that is.
class PlanCache {
 public:
  // The least recently used plans are dropped when those kept are above `max_bytes`, or when `memory` is needed
  // elsewhere and nobody holds them. A plan that somebody waits for is made with `parallel_for`; one that is
  // prepared is made on one thread, beside the work that it must not hold up.
  PlanCache(std::uint64_t max_bytes, std::shared_ptr<limits::MemoryBudget> memory,
            batching::ParallelFor parallel_for = batching::RunInTurn);

  // The plan of one epoch of `resolved`. Makes the plan on the calling thread if it is not kept, and blocks
  // while another thread makes it. All worlds share the batches of one plan, except with Balance::kCost, where
  // each world has a plan of its own. Codes as batching::Plan::Create; RESOURCE_EXHAUSTED: memory is in use.
  // Failures are not kept.
  absl::StatusOr<std::shared_ptr<const EpochPlan>> Get(const ResolvedSpec& resolved, std::uint64_t epoch,
                                                       const wire::World& world);

  // A plan that is to be at hand: held for as long as this lives, once there is one.
  class Prepared {
   public:
    void Hold(std::shared_ptr<const EpochPlan> plan) {
      base::MutexLock lock(mutex_);
      plan_.swap(plan);
    }
    bool IsThere() const {
      base::MutexLock lock(mutex_);
      return plan_ != nullptr;
    }

   private:
    mutable base::Mutex mutex_;
    std::shared_ptr<const EpochPlan> plan_ ABSL_GUARDED_BY(mutex_);
  };
  // Plans an epoch that somebody will ask for with `world`, on the calling thread, where there is memory for
  // it. Returns at once if there is such a plan or another thread is making it. A failure is not reported here,
  // but by Get, which meets it again.
  void Prepare(const ResolvedSpec& resolved, std::uint64_t epoch, const wire::World& world,
               std::shared_ptr<Prepared> prepared);
  // From then on Prepare does nothing.
  void EndPreparing() { preparing_ = false; }

  // Drops every plan that holds the data set of this name, NAME@VERSION.
  void Drop(std::string_view dataset);

  std::uint64_t max_bytes() const { return max_bytes_; }
  // Epochs planned so far, and graphs above the budget that were found while planning.
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
    const bool waited_for;  // what is only prepared gets no memory that others need
    std::vector<std::shared_ptr<Prepared>> prepared;

    explicit Slot(bool is_waited_for) : waited_for(is_waited_for) {}
  };

  // Names what is kept: with Balance::kCost the plan for each world, else that for one rank, from which the
  // others are dealt.
  static Key KeyOf(const ResolvedSpec& resolved, std::uint64_t epoch, const wire::World& world);
  Result GetKept(const ResolvedSpec& resolved, const Key& key);
  // A plan that is kept or held; null where there is none.
  std::shared_ptr<const EpochPlan> Find(const Key& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes the plan of a slot that this thread has put into slots_, and wakes those who wait for it.
  Result Fill(const Key& key, Slot& slot, const ResolvedSpec& resolved,
              const batching::ParallelFor& parallel_for);
  Result Make(const ResolvedSpec& resolved, const Key& key, bool waited_for,
              const batching::ParallelFor& parallel_for);
  absl::StatusOr<limits::MemoryBudget::Reservation> ReserveFor(std::uint64_t graphs, bool waited_for);
  void Keep(const Key& key, Slot& slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Drops plans that nobody holds, the least recently used first, until `bytes` are free.
  void GiveWay(std::uint64_t bytes);
  void DropLeastRecentlyUsed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes a kept plan out.
  std::shared_ptr<Slot> Remove(std::list<Key>::iterator use) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::uint64_t max_bytes_;
  const std::shared_ptr<limits::MemoryBudget> memory_;
  const batching::ParallelFor parallel_for_;

  base::CondVar planned_one_;
  std::atomic<bool> preparing_ = true;
  mutable base::Mutex mutex_;
  std::map<Key, std::shared_ptr<Slot>> slots_ ABSL_GUARDED_BY(mutex_);
  // All plans that somebody holds.
  std::map<Key, std::weak_ptr<const EpochPlan>> held_ ABSL_GUARDED_BY(mutex_);
  // Keys of finished slots, least recently used first.
  std::list<Key> uses_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t kept_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t planned_ ABSL_GUARDED_BY(mutex_) = 0;
  metrics::OversizeTotals oversize_ ABSL_GUARDED_BY(mutex_);

  const limits::MemoryBudget::Cache cache_;
};

}  // namespace packtrain::batches

#endif  // PACKTRAIN_SERVER_BATCHES_PLAN_CACHE_H_
