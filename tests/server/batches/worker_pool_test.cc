#include "server/batches/worker_pool.h"

#include <gmock/gmock.h>

#include <atomic>
#include <latch>
#include <vector>

namespace packtrain::batches {
namespace {

using ::testing::Each;

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

TEST(WorkerPoolTest, TasksThatBlockHoldUpNoOthers) {
  std::latch end(1), started(5);
  WorkerPool pool(1);
  for (int i = 0; i < 5; ++i) {
    pool.PostBlocking([&] {
      started.count_down();
      end.wait();
    });
  }
  started.wait();
  EXPECT_TRUE(pool.HasIdle());
  pool.Post([&end] { end.count_down(); });
}

TEST(WorkerPoolTest, WhatTasksOfEitherKindPostIsRunBeforeItGoes) {
  std::atomic<int> ran = 0;
  {
    WorkerPool pool(1);
    pool.Post([&] { pool.PostBlocking([&] { pool.Post([&ran] { ++ran; }); }); });
    pool.PostBlocking([&] { pool.Post([&] { pool.PostBlocking([&ran] { ++ran; }); }); });
  }
  EXPECT_EQ(ran, 2);
}

TEST(WorkerPoolTest, RunAllRunsEachTaskOnce) {
  WorkerPool pool(3);
  for (const std::size_t tasks : {0, 1, 4, 1000}) {
    std::vector<std::atomic<int>> runs(tasks);
    pool.RunAll(tasks, [&](std::size_t task) { ++runs[task]; });
    EXPECT_THAT(std::vector<int>(runs.begin(), runs.end()), Each(1)) << tasks;
  }
}

TEST(WorkerPoolTest, RunAllTakesTheCallerAndThePool) {
  WorkerPool pool(2);
  std::latch all(3);
  pool.RunAll(3, [&](std::size_t) { all.arrive_and_wait(); });
}

// Every thread of the pool waits in RunAll; none is left to help.
TEST(WorkerPoolTest, RunAllMayBeCalledByTheTasksOfThePool) {
  std::atomic<int> ran = 0;
  std::latch both(2);
  {
    WorkerPool pool(2);
    for (int i = 0; i < 2; ++i) {
      pool.Post([&] {
        both.arrive_and_wait();
        pool.RunAll(10, [&](std::size_t) { ++ran; });
      });
    }
  }
  EXPECT_EQ(ran, 20);
}

TEST(WorkerPoolTest, HasAtLeastOneThread) {
  WorkerPool pool(0);
  EXPECT_EQ(pool.threads(), 1);
}

}  // namespace
}  // namespace packtrain::batches
