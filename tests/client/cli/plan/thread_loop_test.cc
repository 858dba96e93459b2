#include "client/cli/plan/thread_loop.h"

#include <gmock/gmock.h>

#include <atomic>
#include <latch>
#include <vector>

namespace packtrain::cli {
namespace {

using ::testing::Each;

TEST(ThreadLoopTest, RunsEachTaskOnce) {
  for (const std::size_t threads : {1, 2, 8}) {
    for (const std::size_t tasks : {0, 1, 7, 100}) {
      std::vector<std::atomic<int>> runs(tasks);
      RunOnThreads(threads, tasks, [&](std::size_t task) { ++runs[task]; });
      EXPECT_THAT(std::vector<int>(runs.begin(), runs.end()), Each(1)) << threads << " threads, " << tasks;
    }
  }
}

TEST(ThreadLoopTest, RunsAsManyTasksAtOneTimeAsThereAreThreads) {
  std::latch all_run(3);
  RunOnThreads(3, 3, [&](std::size_t) { all_run.arrive_and_wait(); });
}

}  // namespace
}  // namespace packtrain::cli
