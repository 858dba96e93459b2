// What sealing reserves, against what it allocates.
#include "server/storage/seal.h"

#include <gmock/gmock.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>

#include "server/records/dataset_content.h"
#include "tests/testing/sample_molecules.h"
#include "tests/testing/status_matchers.h"

namespace {

// Of this program's heap, by what the allocator gave.
std::atomic<std::int64_t> allocated = 0, peak = 0;

void* Allocate(std::size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  const std::int64_t now = allocated += static_cast<std::int64_t>(malloc_usable_size(memory));
  for (std::int64_t seen = peak; now > seen && !peak.compare_exchange_weak(seen, now);) continue;
  return memory;
}

void Free(void* memory) {
  if (memory == nullptr) return;
  allocated -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) { return Allocate(bytes); }
void* operator new[](std::size_t bytes) { return Allocate(bytes); }
void operator delete(void* memory) noexcept { Free(memory); }
void operator delete[](void* memory) noexcept { Free(memory); }
void operator delete(void* memory, std::size_t) noexcept { Free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { Free(memory); }

namespace packtrain::storage {
namespace {

using ::packtrain::testing::IsOk;

constexpr std::uint32_t kGraphs = 150'000;

records::DatasetContent Content() {
  auto content = *records::DatasetContent::Create(testing::MoleculeSchema());
  for (const testing::Molecule& molecule : testing::ManyMolecules(kGraphs)) {
    const std::string record = testing::RecordOf(molecule);
    EXPECT_THAT(content.Add(std::as_bytes(std::span(record))), IsOk());
  }
  return content;
}

// The most that sealing has at one time beside what was there, with the answer.
std::uint64_t PeakOf(records::DatasetContent& content, const v1::SealDatasetRequest& request) {
  const std::int64_t before = allocated;
  peak = before;
  const auto sealed = SealContent(content, request);
  EXPECT_THAT(sealed, IsOk());
  return static_cast<std::uint64_t>(peak - before);
}

TEST(SealBytesTest, AreABoundOfWhatSealingTakesHoweverItSplits) {
  records::DatasetContent content = Content();
  ASSERT_EQ(content.graphs(), kGraphs);
  v1::SealDatasetRequest none, fractions, by_ids, by_index;
  for (v1::SealDatasetRequest* request : {&none, &fractions, &by_ids, &by_index})
    request->set_name("molecules");
  fractions.mutable_fractions()->set_train_permille(800);
  fractions.mutable_fractions()->set_val_permille(100);
  fractions.mutable_fractions()->set_test_permille(100);
  for (std::uint32_t graph = 0; graph < kGraphs; ++graph) {
    by_ids.mutable_by_ids()->add_train(std::string(content.source_id(graph)));
    by_index.mutable_by_index()->add_train(graph);
  }
  for (const v1::SealDatasetRequest* request : {&none, &fractions, &by_ids, &by_index}) {
    const std::uint64_t taken = PeakOf(content, *request), reserved = SealBytes(content, *request);
    EXPECT_GE(taken, kGraphs * sizeof(std::uint32_t));
    EXPECT_GE(reserved, taken) << request->split_case();
    EXPECT_LE(reserved, 4 * taken + (std::uint64_t{8} << 20)) << request->split_case();
  }
}

}  // namespace
}  // namespace packtrain::storage
