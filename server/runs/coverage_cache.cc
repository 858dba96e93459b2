#include "server/runs/coverage_cache.h"

#include <iterator>
#include <utility>

namespace packtrain::runs {
namespace {

// Of a list node, a map node and two copies of the name.
constexpr std::size_t kHeldBytes = 256;

}  // namespace

std::shared_ptr<RunCoverage> CoverageCache::Find(std::string_view run) {
  base::MutexLock lock(mutex_);
  const auto found = by_run_.find(run);
  if (found == by_run_.end()) return nullptr;
  order_.splice(order_.begin(), order_, found->second);
  return found->second->coverage;
}

void CoverageCache::Put(const std::string& run, std::shared_ptr<RunCoverage> coverage) {
  const std::size_t bytes = coverage->bytes() + kHeldBytes;
  base::MutexLock lock(mutex_);
  if (const auto found = by_run_.find(run); found != by_run_.end()) Remove(found->second);
  order_.push_front({run, std::move(coverage), bytes});
  by_run_.emplace(run, order_.begin());
  bytes_ += bytes;
  while (bytes_ > max_bytes_ && order_.size() > 1) Remove(std::prev(order_.end()));
}

void CoverageCache::Drop(std::string_view run) {
  base::MutexLock lock(mutex_);
  if (const auto found = by_run_.find(run); found != by_run_.end()) Remove(found->second);
}

std::size_t CoverageCache::bytes() const {
  base::MutexLock lock(mutex_);
  return bytes_;
}

void CoverageCache::Remove(Order::iterator held) {
  bytes_ -= held->bytes;
  by_run_.erase(held->run);
  order_.erase(held);
}

}  // namespace packtrain::runs
