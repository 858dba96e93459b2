#include "proto/wire/body_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "proto/wire/batch_layout.h"

namespace packtrain::wire {
namespace {

constexpr std::uint64_t kPlenty = 64 << 20;

TEST(BodyPool, HandsOutWhatCameBackLast) {
  const auto pool = BodyPool::Create(kPlenty);
  AlignedBytes first = pool->Take(100'000);
  AlignedBytes second = pool->Take(100'000);
  const std::byte* last = first.get();
  second.reset();
  first.reset();
  EXPECT_EQ(pool->kept_bytes(), 2 * BodyPool::CapacityOf(100'000));
  EXPECT_EQ(pool->Take(100'001).get(), last);
}

TEST(BodyPool, MemoryIsAlignedAndLargeEnough) {
  const auto pool = BodyPool::Create(kPlenty);
  for (const std::size_t size : {0u, 1u, 4096u, 4097u, 100'000u, 1u << 20, (1u << 20) + 1}) {
    const AlignedBytes bytes = pool->Take(size);
    ASSERT_NE(bytes.get(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes.get()) % kSectionAlignment, 0);
    EXPECT_GE(BodyPool::CapacityOf(size), size);
    EXPECT_LE(BodyPool::CapacityOf(size), size + size / 8 + 4096);
  }
}

TEST(BodyPool, KeepsNoMoreThanItsBound) {
  const std::size_t capacity = BodyPool::CapacityOf(10'000);
  const auto pool = BodyPool::Create(2 * capacity);
  std::vector<AlignedBytes> taken;
  for (int k = 0; k < 3; ++k) taken.push_back(pool->Take(10'000));
  taken.clear();
  EXPECT_EQ(pool->kept_bytes(), 2 * capacity);
  pool->Take(3 * capacity).reset();
  EXPECT_EQ(pool->kept_bytes(), 2 * capacity);
}

TEST(BodyPool, LetsGoOfTheSizesThatNobodyAskedForLongest) {
  const std::size_t small = BodyPool::CapacityOf(4'000), large = BodyPool::CapacityOf(20'000);
  const auto pool = BodyPool::Create(small + large);
  AlignedBytes old = pool->Take(small), late = pool->Take(large);
  AlignedBytes also_late = pool->Take(large);
  old.reset();
  late.reset();
  EXPECT_EQ(pool->kept_bytes(), small + large);
  also_late.reset();
  EXPECT_EQ(pool->kept_bytes(), large);
}

TEST(BodyPool, MemoryMayOutliveIt) {
  auto pool = BodyPool::Create(kPlenty);
  AlignedBytes bytes = pool->Take(10);
  pool.reset();
  bytes[9] = std::byte{1};
  EXPECT_EQ(bytes[9], std::byte{1});
}

}  // namespace
}  // namespace packtrain::wire
