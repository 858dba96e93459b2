#include "server/batches/plan_cache.h"

#include <chrono>
#include <cstdlib>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/wire/full_name.h"
#include "server/batches/source_ids.h"

namespace packtrain::batches {
namespace {

// While its epoch is planned: its place in the slice, in the order, in the pieces that are cut side by side,
// and in the batches.
constexpr std::uint64_t kPlanningBytesOfAGraph = 24;

// The source id of a graph for messages, or its position where the id cannot be read.
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

PlanCache::PlanCache(std::uint64_t max_bytes, std::shared_ptr<limits::MemoryBudget> memory,
                     batching::ParallelFor parallel_for)
    : max_bytes_(max_bytes),
      memory_(std::move(memory)),
      parallel_for_(std::move(parallel_for)),
      cache_(*memory_, limits::MemoryPart::kPlans, [this](std::uint64_t bytes) { GiveWay(bytes); }) {}

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
      EpochPlan{(*kept)->dataset, std::move(plan), (*kept)->plan_seconds, (*kept)->memory, *kept});
}

PlanCache::Key PlanCache::KeyOf(const ResolvedSpec& resolved, std::uint64_t epoch, const wire::World& world) {
  const bool for_one_world = resolved.spec.balance == wire::Balance::kCost;
  return {resolved.fingerprint, epoch, for_one_world ? world : wire::World()};
}

PlanCache::Result PlanCache::GetKept(const ResolvedSpec& resolved, const Key& key) {
  auto slot = std::make_shared<Slot>(/*is_waited_for=*/true);
  {
    base::MutexLock lock(mutex_);
    while (true) {
      if (std::shared_ptr<const EpochPlan> plan = Find(key)) return plan;
      const auto [place, mine] = slots_.try_emplace(key, slot);
      if (mine) break;
      const std::shared_ptr<Slot> planning = place->second;
      while (!planning->result.has_value()) planned_one_.Wait(mutex_);
      // What failed because it was only prepared is tried again.
      if (planning->result->ok() || planning->waited_for) return *planning->result;
    }
  }
  return Fill(key, *slot, resolved, parallel_for_);
}

std::shared_ptr<const EpochPlan> PlanCache::Find(const Key& key) {
  if (const auto kept = slots_.find(key); kept != slots_.end()) {
    if (!kept->second->result.has_value()) return nullptr;
    uses_.splice(uses_.end(), uses_, kept->second->use);
    return **kept->second->result;
  }
  const auto held = held_.find(key);
  return held == held_.end() ? nullptr : held->second.lock();
}

void PlanCache::Prepare(const ResolvedSpec& resolved, std::uint64_t epoch, const wire::World& world,
                        std::shared_ptr<Prepared> prepared) {
  if (!preparing_) return;
  const Key key = KeyOf(resolved, epoch, world);
  const auto slot = std::make_shared<Slot>(/*is_waited_for=*/false);
  {
    base::MutexLock lock(mutex_);
    if (std::shared_ptr<const EpochPlan> plan = Find(key)) return prepared->Hold(std::move(plan));
    const auto [place, mine] = slots_.try_emplace(key, slot);
    place->second->prepared.push_back(std::move(prepared));
    if (!mine) return;
  }
  Fill(key, *slot, resolved, batching::RunInTurn).IgnoreError();
}

PlanCache::Result PlanCache::Fill(const Key& key, Slot& slot, const ResolvedSpec& resolved,
                                  const batching::ParallelFor& parallel_for) {
  Result result = Make(resolved, key, slot.waited_for, parallel_for);
  base::MutexLock lock(mutex_);
  slot.result = result;
  if (result.ok()) {
    std::erase_if(held_, [](const auto& held) { return held.second.expired(); });
    held_[key] = *result;
    for (const std::shared_ptr<Prepared>& prepared : slot.prepared) prepared->Hold(*result);
  }
  slot.prepared.clear();
  Keep(key, slot);
  planned_one_.NotifyAll();
  return result;
}

absl::StatusOr<limits::MemoryBudget::Reservation> PlanCache::ReserveFor(std::uint64_t graphs, bool waited_for) {
  const std::uint64_t bytes = graphs * kPlanningBytesOfAGraph;
  if (waited_for)
    return memory_->Reserve(limits::MemoryPart::kPlans, bytes, limits::MemoryBudget::StatedWait());
  auto taken = memory_->TryReserve(limits::MemoryPart::kPlans, bytes);
  if (!taken.has_value()) return absl::ResourceExhaustedError("no memory is free for a plan ahead of its time");
  return *std::move(taken);
}

PlanCache::Result PlanCache::Make(const ResolvedSpec& resolved, const Key& key, bool waited_for,
                                  const batching::ParallelFor& parallel_for) {
  const auto start = std::chrono::steady_clock::now();
  ABSL_ASSIGN_OR_RETURN(std::span<const std::uint32_t> split, resolved.dataset->Split(resolved.split));
  ABSL_ASSIGN_OR_RETURN(limits::MemoryBudget::Reservation memory, ReserveFor(split.size(), waited_for));
  {
    base::MutexLock lock(mutex_);
    ++planned_;
  }
  batching::PlanRequest request;
  request.spec = resolved.spec;
  request.sizes = {.n_node = resolved.dataset->n_node(),
                   .n_edge = resolved.dataset->n_edge(),
                   .bandwidth = resolved.dataset->bandwidth()};
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
  // More than was reserved only where batches have very few graphs.
  ABSL_RETURN_IF_ERROR(memory.Resize(plan->memory_bytes(), limits::MemoryBudget::Clock::now()));
  auto made = std::make_shared<EpochPlan>();
  made->dataset = resolved.dataset;
  made->plan = std::move(plan);
  made->plan_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  made->memory = std::make_shared<limits::MemoryBudget::Reservation>(std::move(memory));
  return made;
}

void PlanCache::Keep(const Key& key, Slot& slot) {
  const std::uint64_t bytes = slot.result->ok() ? (**slot.result)->memory->bytes() : 0;
  if (!slot.result->ok() || bytes > max_bytes_) {
    slots_.erase(key);
    return;
  }
  slot.use = uses_.insert(uses_.end(), key);
  kept_bytes_ += bytes;
  while (kept_bytes_ > max_bytes_) DropLeastRecentlyUsed();
}

void PlanCache::GiveWay(std::uint64_t bytes) {
  std::vector<std::shared_ptr<Slot>> dropped;  // freed after the lock is
  base::MutexLock lock(mutex_);
  std::uint64_t freed = 0;
  for (auto use = uses_.begin(); use != uses_.end() && freed < bytes;) {
    const auto next = std::next(use);
    const std::shared_ptr<const EpochPlan>& plan = **slots_.at(*use)->result;
    if (plan.use_count() == 1) {
      freed += plan->memory->bytes();
      dropped.push_back(Remove(use));
    }
    use = next;
  }
}

void PlanCache::DropLeastRecentlyUsed() { Remove(uses_.begin()); }

std::shared_ptr<PlanCache::Slot> PlanCache::Remove(std::list<Key>::iterator use) {
  const auto found = slots_.find(*use);
  std::shared_ptr<Slot> slot = std::move(found->second);
  kept_bytes_ -= (**slot->result)->memory->bytes();
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
    if (wire::FullName(of) == dataset) dropped.push_back(Remove(use));
    use = next;
  }
}

}  // namespace packtrain::batches
