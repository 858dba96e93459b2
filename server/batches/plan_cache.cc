#include "server/batches/plan_cache.h"

#include <chrono>
#include <cstdlib>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/batches/source_ids.h"

namespace packtrain::batches {
namespace {

// The source id, for messages; without it the position will do.
std::string NameOf(const storage::Dataset& dataset, std::uint32_t graph) {
  absl::StatusOr<std::vector<std::string>> ids = ReadSourceIds(dataset, {&graph, 1});
  return ids.ok() ? std::move(ids->front()) : absl::StrCat("graph ", graph);
}

std::uint64_t& TotalOf(wire::Oversize action, metrics::OversizeTotals& totals) {
  switch (action) {
    case wire::Oversize::kError:
      return totals.error;
    case wire::Oversize::kAlone:
      return totals.alone;
    case wire::Oversize::kSkip:
      return totals.skip;
  }
  std::abort();
}

}  // namespace

PlanCache::PlanCache(std::uint64_t max_bytes, std::shared_ptr<limits::MemoryMeter> memory,
                     batching::ParallelFor parallel_for)
    : max_bytes_(max_bytes), memory_(std::move(memory)), parallel_for_(std::move(parallel_for)) {}

std::uint64_t PlanCache::planned() const {
  base::MutexLock lock(mutex_);
  return planned_;
}

metrics::OversizeTotals PlanCache::oversize() const {
  base::MutexLock lock(mutex_);
  return oversize_;
}

absl::StatusOr<std::shared_ptr<const EpochPlan>> PlanCache::Get(const ResolvedSpec& resolved,
                                                                std::uint64_t epoch, const wire::World& world) {
  const Key key = KeyOf(resolved, epoch, world);
  Result kept = GetKept(resolved, key);
  if (!kept.ok() || key.world == world) return kept;
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<const batching::Plan> plan, (*kept)->plan->DealtTo(world));
  return std::make_shared<EpochPlan>(
      EpochPlan{(*kept)->dataset, std::move(plan), (*kept)->plan_seconds, (*kept)->charge});
}

PlanCache::Key PlanCache::KeyOf(const ResolvedSpec& resolved, std::uint64_t epoch, const wire::World& world) {
  const bool for_one_world = resolved.spec.balance == wire::Balance::kCost;
  return {resolved.fingerprint, epoch, for_one_world ? world : wire::World()};
}

PlanCache::Result PlanCache::GetKept(const ResolvedSpec& resolved, const Key& key) {
  auto slot = std::make_shared<Slot>();
  {
    base::MutexLock lock(mutex_);
    if (auto [place, mine] = slots_.try_emplace(key, slot); !mine) {
      slot = place->second;
      while (!slot->result.has_value()) planned_one_.Wait(mutex_);
      // The slot may have been dropped, and its key planned again, while this thread slept.
      if (auto now = slots_.find(key); now != slots_.end() && now->second == slot) {
        uses_.splice(uses_.end(), uses_, slot->use);
      }
      return *slot->result;
    }
  }
  return Fill(key, *slot, resolved, parallel_for_);
}

void PlanCache::Prepare(const ResolvedSpec& resolved, std::uint64_t epoch, const wire::World& world) {
  if (!preparing_) return;
  const Key key = KeyOf(resolved, epoch, world);
  const auto slot = std::make_shared<Slot>();
  {
    base::MutexLock lock(mutex_);
    if (!slots_.try_emplace(key, slot).second) return;
  }
  Fill(key, *slot, resolved, batching::RunInTurn).IgnoreError();
}

PlanCache::Result PlanCache::Fill(const Key& key, Slot& slot, const ResolvedSpec& resolved,
                                  const batching::ParallelFor& parallel_for) {
  Result result = Make(resolved, key, parallel_for);
  base::MutexLock lock(mutex_);
  slot.result = result;
  Keep(key, slot);
  planned_one_.NotifyAll();
  return result;
}

PlanCache::Result PlanCache::Make(const ResolvedSpec& resolved, const Key& key,
                                  const batching::ParallelFor& parallel_for) {
  const auto start = std::chrono::steady_clock::now();
  ABSL_ASSIGN_OR_RETURN(std::span<const std::uint32_t> split, resolved.dataset->Split(resolved.split));
  batching::PlanRequest request;
  request.spec = resolved.spec;
  request.sizes = {resolved.dataset->n_node(), resolved.dataset->n_edge()};
  request.split = split;
  request.epoch = key.epoch;
  request.world = key.world;
  request.graph_name = [&resolved](std::uint32_t graph) { return NameOf(*resolved.dataset, graph); };
  request.on_oversize = [this, action = resolved.spec.oversize](std::uint64_t graphs) {
    base::MutexLock lock(mutex_);
    TotalOf(action, oversize_) += graphs;
  };
  request.parallel_for = parallel_for;
  ABSL_ASSIGN_OR_RETURN(std::unique_ptr<const batching::Plan> plan, batching::Plan::Create(request));
  auto made = std::make_shared<EpochPlan>();
  made->dataset = resolved.dataset;
  made->plan = std::move(plan);
  made->plan_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  made->charge = std::make_shared<limits::MemoryMeter::Charge>(memory_->Add(made->plan->memory_bytes()));
  return made;
}

void PlanCache::Keep(const Key& key, Slot& slot) {
  ++planned_;
  const std::uint64_t bytes = slot.result->ok() ? (**slot.result)->charge->bytes() : 0;
  if (!slot.result->ok() || bytes > max_bytes_) {
    slots_.erase(key);
    return;
  }
  slot.use = uses_.insert(uses_.end(), key);
  kept_bytes_ += bytes;
  while (kept_bytes_ > max_bytes_) DropLeastRecentlyUsed();
}

void PlanCache::DropLeastRecentlyUsed() { Remove(uses_.begin()); }

std::shared_ptr<PlanCache::Slot> PlanCache::Remove(std::list<Key>::iterator use) {
  const auto found = slots_.find(*use);
  std::shared_ptr<Slot> slot = std::move(found->second);
  kept_bytes_ -= (**slot->result)->charge->bytes();
  slots_.erase(found);
  uses_.erase(use);
  return slot;
}

void PlanCache::Drop(std::string_view dataset) {
  std::vector<std::shared_ptr<Slot>> dropped;  // freed after the lock is
  base::MutexLock lock(mutex_);
  for (auto use = uses_.begin(); use != uses_.end();) {
    const auto next = std::next(use);
    const v1::Dataset& of = (**slots_.at(*use)->result)->dataset->description();
    if (absl::StrCat(of.name(), "@", of.version()) == dataset) dropped.push_back(Remove(use));
    use = next;
  }
}

}  // namespace packtrain::batches
