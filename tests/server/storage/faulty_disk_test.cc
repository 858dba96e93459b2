// A disk whose n-th operation fails, for every n: each call ends in a status, nothing half done shows, all that
// was sealed is there, and the same call succeeds once the disk is well, in the same process and in the next.
#include "tests/testing/faulty_disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "server/storage/rocks_graph_store.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

using ::packtrain::testing::Fault;
using ::packtrain::testing::FaultyDisk;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::ManyMolecules;
using ::packtrain::testing::Molecule;
using ::packtrain::testing::RecordOf;
using ::packtrain::testing::SampleMolecules;
using ::testing::AnyOf;

const std::vector<Molecule>& Before() {
  static const auto& molecules = *new std::vector<Molecule>(SampleMolecules());
  return molecules;
}

const std::vector<Molecule>& After() {
  static const auto& molecules = *new std::vector<Molecule>(ManyMolecules(100));
  return molecules;
}

// A store on a faulty disk that holds the data set "before".
class FaultyStore {
 public:
  FaultyStore() {
    Reopen();
    EXPECT_THAT(Import(*store_, Before(), SealAs("before")), IsOk());
  }

  absl::Status Open() {
    auto store = RocksGraphStore::Open(folder_.path(), options_);
    if (!store.ok()) return store.status();
    store_ = *std::move(store);
    return absl::OkStatus();
  }
  void Close() { store_.reset(); }
  void Reopen() {
    Close();
    ASSERT_THAT(Open(), IsOk());
  }

  FaultyDisk& disk() { return disk_; }
  RocksGraphStore& operator*() { return *store_; }
  RocksGraphStore* operator->() { return store_.get(); }

  // OK: the data set holds the molecules.
  absl::Status CheckHolds(const char* name, const std::vector<Molecule>& molecules) {
    const auto dataset = store_->Open(name);
    if (!dataset.ok()) return dataset.status();
    std::vector<std::uint32_t> graphs((*dataset)->n_node().size());
    std::iota(graphs.begin(), graphs.end(), 0);
    const auto records = Read(**dataset, graphs);
    if (!records.ok()) return records.status();
    EXPECT_EQ(records->size(), molecules.size());
    for (std::size_t k = 0; k < records->size(); ++k) EXPECT_EQ((*records)[k], RecordOf(molecules[k]));
    return absl::OkStatus();
  }

 private:
  const TemporaryFolder folder_;
  FaultyDisk disk_;
  // Several files for each import.
  const RocksGraphStoreOptions options_ = {.database = {.reserve_bytes = 0, .env = disk_.env()},
                                           .staging_file_bytes = 16 << 10};
  std::unique_ptr<RocksGraphStore> store_;
};

absl::StatusOr<std::unique_ptr<DatasetWriter>> StageAfter(GraphStore& store) {
  auto writer = store.NewDataset(testing::MoleculeSchema());
  if (!writer.ok()) return writer.status();
  for (const Molecule& molecule : After()) {
    const std::string record = RecordOf(molecule);
    if (absl::Status status = (*writer)->Append(std::as_bytes(std::span(record))); !status.ok()) return status;
  }
  return writer;
}

absl::Status ImportAfter(GraphStore& store) {
  const auto writer = StageAfter(store);
  return writer.ok() ? (*writer)->Seal(SealAs("after")).status() : writer.status();
}

absl::StatusCode CodeOf(Fault fault) {
  return fault == Fault::kNoSpace ? absl::StatusCode::kResourceExhausted : absl::StatusCode::kUnavailable;
}

class FaultyDiskTest : public ::testing::TestWithParam<packtrain::testing::FaultCase> {
 protected:
  using Step = std::function<void(FaultyStore&)>;

  // Calls `prepare`, and then `step` with operation n failing, on a fresh store for n = 0, 1, ... until none is
  // left to fail.
  static void ForEveryOperation(const Step& prepare, const Step& step) {
    for (std::uint64_t n = 0;; ++n) {
      FaultyStore store;
      prepare(store);
      store.disk().Fail(n, GetParam().fault, GetParam().duration);
      step(store);
      const std::string failed = store.disk().Failed();
      store.disk().Heal();
      if (failed.empty()) return;
      SCOPED_TRACE(failed + ", operation " + std::to_string(n));
      ExpectWorkGoesOn(store);
      if (HasFailure()) return;
    }
  }

  // Reading and writing go on in this process, and in the next.
  static void ExpectWorkGoesOn(FaultyStore& store) {
    EXPECT_THAT(store.CheckHolds("before", Before()), IsOk());
    ExpectImports(store);
    store.Reopen();
    EXPECT_THAT(store.CheckHolds("before", Before()), IsOk());
    ExpectImports(store);
  }

  static void Nothing(FaultyStore&) {}

  static void ExpectImports(FaultyStore& store) {
    EXPECT_THAT(ImportAfter(*store), IsOk());
    EXPECT_THAT(store.CheckHolds("after", After()), IsOk());
  }
};

TEST_P(FaultyDiskTest, AnImportIsWholeOrNotThereAndSoIsItsSecondSeal) {
  const auto expect_whole_if = [](bool sealed, FaultyStore& store) {
    const absl::Status held = store.CheckHolds("after", After());
    EXPECT_EQ(held.code(), sealed ? absl::StatusCode::kOk : absl::StatusCode::kNotFound) << held;
  };
  ForEveryOperation(Nothing, [&](FaultyStore& store) {
    const auto writer = StageAfter(*store);
    const bool sealed = writer.ok() && (*writer)->Seal(SealAs("after")).ok();
    store.disk().Heal();
    expect_whole_if(sealed, store);
    if (sealed || !writer.ok()) return;
    expect_whole_if((*writer)->Seal(SealAs("after")).ok(), store);
  });
}

TEST_P(FaultyDiskTest, AnOpeningGivesAStatus) {
  ForEveryOperation(&FaultyStore::Close, [](FaultyStore& store) {
    const absl::Status opened = store.Open();
    store.disk().Heal();
    if (!opened.ok()) store.Reopen();
  });
}

TEST_P(FaultyDiskTest, AReadGivesAStatusOrTheRecords) {
  const auto prepare = [](FaultyStore& store) {
    EXPECT_THAT(ImportAfter(*store), IsOk());
    store.Reopen();  // it has read nothing yet
  };
  ForEveryOperation(prepare, [](FaultyStore& store) {
    EXPECT_THAT(store.CheckHolds("after", After()).code(),
                AnyOf(absl::StatusCode::kOk, CodeOf(GetParam().fault)));
    EXPECT_THAT(store->List().status().code(), AnyOf(absl::StatusCode::kOk, CodeOf(GetParam().fault)));
  });
}

INSTANTIATE_TEST_SUITE_P(, FaultyDiskTest, ::testing::ValuesIn(packtrain::testing::FaultCases()),
                         [](const auto& tried) { return std::string(tried.param.name); });

}  // namespace
}  // namespace packtrain::storage
