#include "server/batches/resident_datasets.h"

#include <gmock/gmock.h>

#include <sstream>

#include <memory>
#include <numeric>
#include <stop_token>
#include <string>
#include <vector>

#include "server/batches/batch_builder.h"
#include "server/batches/plan_cache.h"
#include "server/batches/resolved_spec.h"
#include "server/log/event_log.h"
#include "server/storage/record_arena.h"
#include "server/storage/rocks_graph_store.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/fake_graph_store.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::batches {
namespace {

using ::packtrain::storage::Dataset;
using ::packtrain::storage::RecordArena;
using ::packtrain::testing::FakeGraphStore;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::ManyMolecules;
using ::packtrain::testing::RecordOf;
using ::packtrain::testing::StatusIs;
using ::testing::HasSubstr;

constexpr std::uint64_t kPlenty = std::uint64_t{1} << 30;

// Data sets `a`, `b` and `c` of equal size in a store whose reads can fail.
class ResidentDatasetsTest : public ::testing::Test {
 protected:
  ResidentDatasetsTest() {
    for (const char* name : {"a", "b", "c"}) {
      EXPECT_THAT(storage::Import(store_, ManyMolecules(50), storage::SealAs(name)), IsOk());
    }
  }

  std::shared_ptr<const Dataset> Stored(std::string_view name) { return *store_.Open(name); }
  std::uint64_t BytesOfOne() { return RecordArena::BytesFor(Stored("a")->description()); }

  // From memory a read does not reach the store.
  bool ReadsFromMemory(const Dataset& dataset) {
    store_.FailRead(0, absl::UnavailableError("the store was asked"));
    const bool read = storage::Read(dataset, {0}).ok();
    store_.FailRead(0, absl::OkStatus());
    return read;
  }

  FakeGraphStore store_;
  const std::shared_ptr<limits::MemoryBudget> memory_ = limits::MemoryBudget::Undivided(std::uint64_t{1} << 40);
};

TEST_F(ResidentDatasetsTest, WhatFitsIsReadFromMemoryOnceItStands) {
  ResidentDatasets residents(kPlenty, memory_);
  const auto dataset = residents.Use(Stored("a"));
  residents.AwaitLoads();
  EXPECT_TRUE(ReadsFromMemory(*dataset));
  EXPECT_EQ(residents.loaded_bytes(), BytesOfOne());
  EXPECT_EQ(memory_->used_bytes(), BytesOfOne());
  const auto molecules = ManyMolecules(50);
  std::vector<std::uint32_t> graphs(50);
  std::iota(graphs.rbegin(), graphs.rend(), 0);
  const auto records = storage::Read(*dataset, graphs);
  ASSERT_THAT(records, IsOk());
  for (std::size_t k = 0; k < graphs.size(); ++k) EXPECT_EQ((*records)[k], RecordOf(molecules[graphs[k]]));
}

TEST_F(ResidentDatasetsTest, OneDatasetIsLoadedOnceForAllWhoUseIt) {
  ResidentDatasets residents(kPlenty, memory_);
  const auto first = residents.Use(Stored("a"));
  EXPECT_EQ(residents.Use(Stored("a")), first);
  EXPECT_EQ(memory_->used_bytes(), BytesOfOne());
}

TEST_F(ResidentDatasetsTest, WhatDoesNotFitIsReadFromTheStore) {
  const auto stored = Stored("a");
  ResidentDatasets residents(BytesOfOne() - 1, memory_);
  EXPECT_EQ(residents.Use(stored), stored);
  EXPECT_EQ(memory_->used_bytes(), 0u);
}

TEST_F(ResidentDatasetsTest, TheLeastRecentlyUsedGoesFirst) {
  ResidentDatasets residents(2 * BytesOfOne(), memory_);
  residents.Use(Stored("a"));
  residents.Use(Stored("b"));
  residents.Use(Stored("a"));
  residents.AwaitLoads();
  residents.Use(Stored("c"));
  residents.AwaitLoads();
  EXPECT_EQ(residents.loaded_bytes(), 2 * BytesOfOne());
  EXPECT_TRUE(ReadsFromMemory(*residents.Use(Stored("a"))));
  EXPECT_TRUE(ReadsFromMemory(*residents.Use(Stored("c"))));
}

TEST_F(ResidentDatasetsTest, WhatIsInUseStays) {
  ResidentDatasets residents(BytesOfOne(), memory_);
  auto in_use = residents.Use(Stored("a"));
  residents.AwaitLoads();
  const auto b = Stored("b");
  EXPECT_EQ(residents.Use(b), b);
  EXPECT_TRUE(ReadsFromMemory(*in_use));
  in_use.reset();
  EXPECT_NE(residents.Use(b), b);
  EXPECT_EQ(memory_->used_bytes(), BytesOfOne());
}

TEST_F(ResidentDatasetsTest, WhatIsGuaranteedIsLoadedWhileOthersWaitForMemory) {
  limits::MemoryBudget::Shares shares = {};
  const auto set = [&shares](limits::MemoryPart part, limits::MemoryBudget::Share share) {
    shares[static_cast<std::size_t>(part)] = share;
  };
  set(limits::MemoryPart::kResidentDatasets, {2 * BytesOfOne(), BytesOfOne()});
  set(limits::MemoryPart::kPlans, {.max_bytes = 100});
  set(limits::MemoryPart::kImports, {.max_bytes = 100 + BytesOfOne()});
  const auto memory = limits::MemoryBudget::Create(100 + 2 * BytesOfOne(), shares);
  const auto plans = memory->TryReserve(limits::MemoryPart::kPlans, 100);
  memory->ReserveLater(limits::MemoryPart::kImports, 1 + BytesOfOne(), limits::MemoryBudget::StatedWait(),
                       [](const auto&) {});
  ASSERT_EQ(memory->waiting(), 1);
  ResidentDatasets residents(kPlenty, memory);
  const auto first = residents.Use(Stored("a"));
  const auto second = residents.Use(Stored("b"));
  residents.AwaitLoads();
  EXPECT_TRUE(ReadsFromMemory(*first));
  EXPECT_FALSE(ReadsFromMemory(*second));
}

TEST_F(ResidentDatasetsTest, WhatCannotAllBeReadIsReadFromTheStoreUntilItCan) {
  ResidentDatasets residents(kPlenty, memory_);
  std::ostringstream lines;
  log::SetUp({}, lines);
  store_.FailScans(absl::DataLossError("a, graph 3 is damaged"));
  const auto dataset = residents.Use(Stored("a"));
  residents.AwaitLoads();
  log::SetUp({});
  EXPECT_THAT(lines.str(), HasSubstr("level=warning event=resident_load_failed dataset=a@"));
  EXPECT_THAT(lines.str(), HasSubstr("code=DATA_LOSS message=\"a, graph 3 is damaged\"\n"));
  EXPECT_EQ(memory_->used_bytes(), 0u);
  EXPECT_THAT(storage::Read(*dataset, {4}), IsOk());
  store_.FailRead(0, absl::DataLossError("a, graph 3 is damaged"));
  EXPECT_THAT(storage::Read(*dataset, {3}), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("graph 3")));

  store_.FailScans(absl::OkStatus());
  const auto mended = residents.Use(Stored("a"));
  residents.AwaitLoads();
  EXPECT_TRUE(ReadsFromMemory(*mended));
}

TEST_F(ResidentDatasetsTest, ReadingPastTheEndIsOutOfRangeThereToo) {
  ResidentDatasets residents(kPlenty, memory_);
  const auto dataset = residents.Use(Stored("a"));
  residents.AwaitLoads();
  EXPECT_THAT(storage::Read(*dataset, {0, 50}), StatusIs(absl::StatusCode::kOutOfRange));
}

TEST_F(ResidentDatasetsTest, WhatWasHandedOutOutlivesItsOwner) {
  std::shared_ptr<const Dataset> dataset;
  {
    ResidentDatasets residents(kPlenty, memory_);
    dataset = residents.Use(Stored("a"));
  }
  EXPECT_THAT(storage::Read(*dataset, {0, 49}), IsOk());
  dataset.reset();
  EXPECT_EQ(memory_->used_bytes(), 0u);
}

TEST_F(ResidentDatasetsTest, ALoadThatIsNotWantedAnyMoreIsGivenUp) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(RecordArena::Load(*Stored("a"), stop.get_token()), StatusIs(absl::StatusCode::kCancelled));
}

TEST(ResidentBatchesOfRocksTest, BatchesFromMemoryEqualThoseFromTheStore) {
  const storage::TemporaryFolder folder;
  const auto store = storage::RocksGraphStore::Open(folder.path(), {});
  ASSERT_THAT(store, IsOk());
  ASSERT_THAT(storage::Import(**store, ManyMolecules(500), storage::SealAs("molecules")), IsOk());
  v1::BatchSpec spec;
  spec.set_policy(v1::POLICY_STATIC);
  spec.set_graphs(31);
  const auto source = ResolveSpec(**store, "molecules", spec);
  ASSERT_THAT(source, IsOk());
  const auto memory = limits::MemoryBudget::Undivided(std::uint64_t{1} << 40);
  ResidentDatasets residents(kPlenty, memory);
  const auto resident = residents.Use(source->dataset);
  residents.AwaitLoads();
  ASSERT_GT(residents.loaded_bytes(), 0u);
  const BodyMemory bodies{memory, wire::BodyPool::Create(kPlenty)};
  const auto stored_builder = BatchBuilder::Create(source->dataset, kPlenty, bodies);
  const auto resident_builder = BatchBuilder::Create(resident, kPlenty, bodies);
  PlanCache plans(kPlenty, memory);
  const auto plan = plans.Get(*source, 3, {});
  ASSERT_THAT(plan, IsOk());
  for (std::uint64_t k = 0; k < (*plan)->plan->steps(); ++k) {
    const batching::PlannedBatch batch = *(*plan)->plan->BatchAt(k);
    const auto from_store = stored_builder->Build(batch, {});
    const auto from_memory = resident_builder->Build(batch, {});
    ASSERT_THAT(from_store, IsOk());
    ASSERT_THAT(from_memory, IsOk());
    EXPECT_EQ(from_memory->header.body_crc32c, from_store->header.body_crc32c) << k;
    EXPECT_EQ(from_memory->header.body_bytes, from_store->header.body_bytes) << k;
  }
}

}  // namespace
}  // namespace packtrain::batches
