#include "client/cli/plan/thread_loop.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace packtrain::cli {

std::size_t HardwareThreads() { return std::max(std::thread::hardware_concurrency(), 1u); }

void RunOnThreads(std::size_t threads, std::size_t tasks, const std::function<void(std::size_t task)>& run) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t task = next++; task < tasks; task = next++) run(task);
  };
  std::vector<std::jthread> helpers;
  for (std::size_t thread = 1; thread < std::min(threads, tasks); ++thread) helpers.emplace_back(work);
  work();
}

}  // namespace packtrain::cli
