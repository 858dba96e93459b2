#include "server/serving/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <vector>

namespace packtrain::serving {
namespace {

TEST(WorkerPoolTest, RunsEverythingPostedBeforeItGoes) {
  std::atomic<int> ran = 0;
  {
    WorkerPool pool(3);
    for (int i = 0; i < 1000; ++i) pool.Post([&ran] { ++ran; });
  }
  EXPECT_EQ(ran, 1000);
}

TEST(WorkerPoolTest, OneThreadRunsTasksInOrder) {
  std::vector<int> order;
  {
    WorkerPool pool(1);
    for (int i = 0; i < 100; ++i) pool.Post([&order, i] { order.push_back(i); });
  }
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[i], i);
}

TEST(WorkerPoolTest, TasksRunSideBySide) {
  std::latch both(2);
  WorkerPool pool(2);
  for (int i = 0; i < 2; ++i) pool.Post([&both] { both.arrive_and_wait(); });
  both.wait();
}

TEST(WorkerPoolTest, HasAtLeastOneThread) {
  WorkerPool pool(0);
  EXPECT_EQ(pool.threads(), 1);
}

}  // namespace
}  // namespace packtrain::serving
