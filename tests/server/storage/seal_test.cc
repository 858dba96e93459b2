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
#include <string_view>
#include <vector>

#include "server/records/dataset_content.h"
#include "server/records/graph_record.h"
#include "tests/testing/sample_chains.h"
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
  for (const testing::Molecule& molecule : testing::ManyMolecules(kGraphs)) {
    by_ids.mutable_by_ids()->add_train(molecule.id);
  }
  for (std::uint32_t graph = 0; graph < kGraphs; ++graph) {
    by_index.mutable_by_index()->add_train(graph);
  }
  for (const v1::SealDatasetRequest* request : {&none, &fractions, &by_ids, &by_index}) {
    const std::uint64_t taken = PeakOf(content, *request), reserved = SealBytes(content, *request);
    EXPECT_GE(taken, kGraphs * sizeof(std::uint32_t));
    EXPECT_GE(reserved, taken) << request->split_case();
    EXPECT_LE(reserved, 4 * taken + (std::uint64_t{8} << 20)) << request->split_case();
  }
}

// Of one node without edges, all of whose elements are zero.
std::string NodeRecord(const records::RecordLayout& layout, const std::string& id) {
  const std::string zeros(1024, '\0');
  std::vector<std::string_view> fields;
  for (const records::RecordLayout::Field& field : layout.fields()) {
    const std::uint64_t bytes = records::RowsOf(field.scope, 1, 0) * field.row_bytes;
    EXPECT_LE(bytes, zeros.size());
    fields.push_back(std::string_view(zeros).substr(0, bytes));
  }
  std::string record;
  EXPECT_THAT(
      records::EncodeRecord(
          layout, {.n_node = 1, .senders = {}, .receivers = {}, .fields = fields, .source_id = id}, record),
      IsOk());
  return record;
}

// Looked at behind every graph, as most is held where something grows.
void ExpectToTakeAtMost48BytesAGraphAnd8ATarget(const v1::Schema& schema) {
  constexpr std::uint64_t kFew = 10'000;  // of which what is there at first is a part
  auto content = *records::DatasetContent::Create(schema);
  const auto layout = *records::RecordLayout::Create(schema);
  const std::uint64_t allowed = 48 + 8 * static_cast<std::uint64_t>(schema.targets_size());
  std::int64_t held = 0;
  for (std::uint64_t graph = 1; graph <= 400'000; ++graph) {
    const std::string record = NodeRecord(layout, std::string(100, 'a') + std::to_string(graph));
    const std::int64_t before = allocated;
    peak = before;
    ASSERT_THAT(content.Add(std::as_bytes(std::span(record))), IsOk());
    const std::int64_t most = held + peak - before;
    held += allocated - before;
    if (graph < kFew) continue;
    ASSERT_LE(static_cast<std::uint64_t>(most), graph * allowed) << graph;
    ASSERT_GE(static_cast<std::uint64_t>(held), graph * 28) << graph;
  }
  EXPECT_LE(content.memory_bytes(), content.graphs() * allowed);
}

TEST(StagedGraphsTest, TakeAtMost48BytesAGraphAnd8ATargetHoweverLongTheirIds) {
  ExpectToTakeAtMost48BytesAGraphAnd8ATarget(testing::MoleculeSchema());
}

TEST(StagedGraphsTest, TakeNoMoreWithStoredEdges) {
  ExpectToTakeAtMost48BytesAGraphAnd8ATarget(testing::ChainSchema());
}

TEST(StagedGraphsTest, TakeNoMoreWithRenumberedNodes) {
  ExpectToTakeAtMost48BytesAGraphAnd8ATarget(testing::RenumberedChainSchema());
}

TEST(StagedGraphsTest, AreFoundByIdsThatWereAddedAndByNoOthers) {
  records::IdTable ids;
  for (std::uint32_t graph = 0; graph < 100'000; ++graph) {
    ASSERT_FALSE(ids.Contains(std::to_string(graph)));
    ids.Add(std::to_string(graph));
  }
  for (std::uint32_t graph = 0; graph < 100'000; ++graph) ASSERT_EQ(ids.Find(std::to_string(graph)), graph);
  for (const char* other : {"", "-1", "100000", "0 ", " 0"}) EXPECT_FALSE(ids.Contains(other)) << other;
}

}  // namespace
}  // namespace packtrain::storage
