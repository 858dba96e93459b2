// What RocksGraphStore promises beyond the contract: durability, reclaiming, locking, damage.
#include "server/storage/rocks_graph_store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <fstream>
#include <latch>
#include <numeric>
#include <stop_token>
#include <thread>

#include "server/rocks/big_endian.h"
#include "server/rocks/sorted_files.h"
#include "server/storage/graph_database.h"
#include "server/storage/key_schema.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/eventually.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::ManyMolecules;
using ::packtrain::testing::Molecule;
using ::packtrain::testing::RecordOf;
using ::packtrain::testing::SampleMolecules;
using ::packtrain::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::filesystem::path> FilesIn(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

std::vector<std::uint32_t> FirstGraphs(std::uint32_t count) {
  std::vector<std::uint32_t> graphs(count);
  std::iota(graphs.begin(), graphs.end(), 0);
  return graphs;
}

class RocksGraphStoreTest : public ::testing::Test {
 protected:
  std::unique_ptr<RocksGraphStore> OpenStore(const RocksGraphStoreOptions& options = {}) {
    auto store = RocksGraphStore::Open(folder_.path(), options);
    EXPECT_THAT(store, IsOk());
    return *std::move(store);
  }

  // Of the database, which must be closed.
  std::vector<std::uint64_t> StorageIds(Family family) {
    const auto database = OpenGraphDatabase(db(), kDefaultBlockCacheBytes, {});
    EXPECT_THAT(database, IsOk());
    return storage::StorageIds(**database, family).value();
  }

  std::filesystem::path db() const { return folder_.path() / "db"; }
  std::filesystem::path staging() const { return folder_.path() / "staging"; }

  const TemporaryFolder folder_;
};

TEST_F(RocksGraphStoreTest, AReopenedStoreHasWhatWasSealed) {
  const std::vector<Molecule> molecules = ManyMolecules(300);
  const v1::SealDatasetRequest request = SealWithFractions("molecules", 800, 100, 100, 3);
  const v1::Dataset sealed = Import(*OpenStore(), molecules, request)->dataset;

  const auto dataset = OpenStore()->Open("molecules");
  ASSERT_THAT(dataset, IsOk());
  EXPECT_EQ((*dataset)->description().SerializeAsString(), sealed.SerializeAsString());
  EXPECT_THAT(*(*dataset)->Split("test"), SizeIs(30));
  const auto records = Read(**dataset, FirstGraphs(300));
  ASSERT_THAT(records, IsOk());
  for (std::uint32_t k = 0; k < 300; ++k) EXPECT_EQ((*records)[k], RecordOf(molecules[k]));
}

TEST_F(RocksGraphStoreTest, ADroppedImportLeavesNoFile) {
  const auto store = OpenStore();
  std::unique_ptr<DatasetWriter> writer = Stage(*store, ManyMolecules(5000));  // more than waits in memory
  EXPECT_TRUE(testing::Eventually([this] { return FilesIn(staging()).size() == 1; }));
  writer.reset();
  EXPECT_THAT(FilesIn(staging()), IsEmpty());
}

TEST_F(RocksGraphStoreTest, ASealLeavesNoStagedFile) {
  const auto store = OpenStore();
  ASSERT_THAT(Import(*store, SampleMolecules(), SealAs("molecules")), IsOk());
  ASSERT_THAT(Import(*store, SampleMolecules(), SealAs("molecules")), IsOk());
  EXPECT_THAT(FilesIn(staging()), IsEmpty());
}

TEST_F(RocksGraphStoreTest, OpeningRemovesWhatAKilledImportStaged) {
  ASSERT_THAT(Import(*OpenStore(), SampleMolecules(), SealAs("molecules")), IsOk());
  std::ofstream(staging() / "7-graphs-0.sst") << "half a file";
  const auto store = OpenStore();
  EXPECT_THAT(FilesIn(staging()), IsEmpty());
  EXPECT_THAT(store->Open("molecules"), IsOk());
}

std::uint64_t BytesIn(const std::filesystem::path& folder) {
  std::uint64_t bytes = 0;
  for (const std::filesystem::path& file : FilesIn(folder)) {
    if (file.extension() == ".sst") bytes += std::filesystem::file_size(file);
  }
  return bytes;
}

TEST_F(RocksGraphStoreTest, ReclaimingGivesSpaceBackAtOnce) {
  const auto store = OpenStore();
  ASSERT_THAT(Import(*store, SampleMolecules(), SealAs("kept")), IsOk());
  const std::uint64_t before = BytesIn(db());
  const std::string version = Import(*store, ManyMolecules(20'000), SealAs("gone"))->dataset.version();
  const std::uint64_t with = BytesIn(db());
  ASSERT_GT(with, before + (1 << 20));
  ASSERT_THAT(store->Delete("gone"), IsOk());
  ASSERT_THAT(store->Reclaim("gone@" + version), IsOk());
  EXPECT_LT(BytesIn(db()), before + (with - before) / 20);
  EXPECT_THAT(Read(**store->Open("kept"), FirstGraphs(5)), IsOk());
}

TEST_F(RocksGraphStoreTest, AReopenedStoreGoesOnWithADeletion) {
  std::string version;
  {
    const auto store = OpenStore();
    version = Import(*store, ManyMolecules(9), SealAs("gone"))->dataset.version();
    ASSERT_THAT(store->Delete("gone"), IsOk());
  }
  EXPECT_THAT(StorageIds(Family::kGraphs), SizeIs(1));
  {
    const auto store = OpenStore();
    EXPECT_THAT(store->Open("gone"), StatusIs(absl::StatusCode::kNotFound));
    EXPECT_THAT(Read(**store->Open("gone@" + version), FirstGraphs(9)), IsOk());
    ASSERT_THAT(store->Reclaim("gone@" + version), IsOk());
  }
  EXPECT_THAT(StorageIds(Family::kGraphs), IsEmpty());
  EXPECT_THAT(StorageIds(Family::kSizes), IsEmpty());
}

TEST_F(RocksGraphStoreTest, ReclaimingWaitsForEveryOpening) {
  const auto store = OpenStore();
  for (int round = 0; round < 20; ++round) {
    const std::string name = "a@" + Import(*store, ManyMolecules(50), SealAs("a"))->dataset.version();
    ASSERT_THAT(store->Delete("a"), IsOk());
    std::thread opener([&] {
      const auto dataset = store->Open(name);
      const absl::Status read = dataset.ok() ? Read(**dataset, FirstGraphs(50)).status() : absl::OkStatus();
      EXPECT_THAT(read, IsOk());
    });
    store->Reclaim(name).IgnoreError();
    opener.join();
    ASSERT_THAT(store->Reclaim(name), IsOk());
  }
}

// Imports, opens and reads other data sets of a store, as long as it lives.
class Load {
 public:
  explicit Load(GraphStore& store) : thread_([&store](const std::stop_token& stop) { Run(store, stop); }) {}

 private:
  static void Run(GraphStore& store, const std::stop_token& stop) {
    for (std::uint32_t graphs = 10; !stop.stop_requested(); ++graphs) {
      EXPECT_THAT(Import(store, ManyMolecules(graphs), SealAs("other")), IsOk());
      EXPECT_THAT(Read(**store.Open("other"), FirstGraphs(10)), IsOk());
    }
  }
  std::jthread thread_;
};

TEST_F(RocksGraphStoreTest, OfTwoThatOpenAtOneMomentADeletionTakesNothingFromTheOneThatStays) {
  const auto store = OpenStore();
  const Load load(*store);
  const std::string name = "a@" + Import(*store, ManyMolecules(50), SealAs("a"))->dataset.version();
  ASSERT_THAT(store->Delete("a"), IsOk());
  for (int round = 0; round < 200 && !HasFailure(); ++round) {
    std::barrier both(2);
    std::latch opened(2), tried(1);
    std::jthread leaves([&] {
      both.arrive_and_wait();
      EXPECT_THAT(store->Open(name), IsOk());
      opened.count_down();
    });
    std::jthread stays([&] {
      both.arrive_and_wait();
      const auto dataset = store->Open(name);
      opened.count_down();
      tried.wait();
      ASSERT_THAT(dataset, IsOk());
      EXPECT_THAT(Read(**dataset, FirstGraphs(50)), IsOk());
    });
    opened.wait();
    EXPECT_THAT(store->Reclaim(name), StatusIs(absl::StatusCode::kFailedPrecondition));
    tried.count_down();
  }
  EXPECT_THAT(store->Reclaim(name), IsOk());
}

TEST_F(RocksGraphStoreTest, OpeningDropsGraphsThatWereNeverPublished) {
  ASSERT_THAT(Import(*OpenStore(), SampleMolecules(), SealAs("molecules")), IsOk());
  const std::vector<std::uint64_t> published = StorageIds(Family::kGraphs);
  {
    const auto database = OpenGraphDatabase(db(), kDefaultBlockCacheBytes, {});
    ASSERT_THAT(database, IsOk());
    rocks::SortedFileWriter files(*database, Family::kGraphs, staging() / "77-graphs", 1 << 20);
    ASSERT_THAT(files.Add(StorageKey(77, 0).view(), "a record"), IsOk());
    ASSERT_THAT(rocks::Ingest(**database, files.Finish().value()), IsOk());
  }
  EXPECT_THAT(StorageIds(Family::kGraphs), SizeIs(2));
  {
    const auto store = OpenStore();
    EXPECT_THAT(Read(**store->Open("molecules"), FirstGraphs(5)), IsOk());
    ASSERT_THAT(Import(*store, ManyMolecules(9), SealAs("more")), IsOk());
    EXPECT_THAT(Read(**store->Open("more"), FirstGraphs(9)), IsOk());
  }
  EXPECT_THAT(StorageIds(Family::kGraphs), ElementsAre(published[0], 78));
}

TEST_F(RocksGraphStoreTest, AnotherSplitSharesTheStoredGraphs) {
  const std::vector<Molecule> molecules = ManyMolecules(50);
  {
    const auto store = OpenStore();
    ASSERT_THAT(Import(*store, molecules, SealWithFractions("a", 800, 100, 100, 1)), IsOk());
    ASSERT_THAT(Import(*store, molecules, SealWithFractions("a", 800, 100, 100, 2)), IsOk());
    ASSERT_THAT(Import(*store, molecules, SealAs("b")), IsOk());
  }
  EXPECT_THAT(StorageIds(Family::kGraphs), SizeIs(1));
  EXPECT_THAT(StorageIds(Family::kSizes), SizeIs(1));
}

TEST_F(RocksGraphStoreTest, SealsAtOneTimeOfEqualContentStoreItOnce) {
  std::vector<std::string> versions(4);
  {
    const auto store = OpenStore();
    std::vector<std::thread> threads;
    for (std::string& version : versions) {
      threads.emplace_back([&store, &version] {
        version = Import(*store, ManyMolecules(50), SealAs("molecules"))->dataset.version();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_THAT(versions, ::testing::Each(versions[0]));
  EXPECT_THAT(StorageIds(Family::kGraphs), SizeIs(1));
}

TEST_F(RocksGraphStoreTest, FilesRollOverWithoutATrace) {
  const std::vector<Molecule> molecules = ManyMolecules(5000);
  const auto store = OpenStore({.database = {}, .staging_file_bytes = 64 << 10});
  std::unique_ptr<DatasetWriter> writer = Stage(*store, molecules);
  EXPECT_TRUE(testing::Eventually([this] { return FilesIn(staging()).size() > 3; }));
  const auto sealed = writer->Seal(SealAs("molecules"));
  ASSERT_THAT(sealed, IsOk());
  const auto records = Read(**store->Open("molecules"), FirstGraphs(5000));
  ASSERT_THAT(records, IsOk());
  for (std::uint32_t k = 0; k < 5000; ++k) EXPECT_EQ((*records)[k], RecordOf(molecules[k]));

  const TemporaryFolder other;
  const auto unrolled = RocksGraphStore::Open(other.path(), {});
  EXPECT_EQ(Import(**unrolled, molecules, SealAs("molecules"))->dataset.version(), sealed->dataset.version());
}

TEST_F(RocksGraphStoreTest, SizesOfManyGraphsComeInChunks) {
  const auto graphs = static_cast<std::uint32_t>(kSizesPerChunk) + 3;
  const auto store = OpenStore();
  ASSERT_THAT(Import(*store, ManyMolecules(graphs), SealAs("molecules")), IsOk());
  const auto dataset = store->Open("molecules");
  ASSERT_THAT(dataset, IsOk());
  ASSERT_THAT((*dataset)->n_node(), SizeIs(graphs));
  for (std::uint32_t k = 0; k < graphs; ++k) {
    const std::uint32_t n_node = k % 5 + 1;
    ASSERT_EQ((*dataset)->n_node()[k], n_node) << k;
    ASSERT_EQ((*dataset)->n_edge()[k], n_node * (n_node - 1)) << k;
  }
}

TEST_F(RocksGraphStoreTest, AFlippedByteOnDiskIsDataLossThatNamesTheGraph) {
  ASSERT_THAT(Import(*OpenStore(), ManyMolecules(2000), SealAs("molecules")), IsOk());
  std::filesystem::path largest;
  for (const std::filesystem::path& file : FilesIn(db())) {
    if (file.extension() != ".sst") continue;
    if (largest.empty() || file_size(file) > file_size(largest)) largest = file;
  }
  std::fstream file(largest, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(file_size(largest) / 3));
  const char flipped = static_cast<char>(file.peek() ^ 0x10);
  file.write(&flipped, 1);
  file.close();

  const auto store = OpenStore();
  const auto dataset = store->Open("molecules");
  ASSERT_THAT(dataset, IsOk());
  EXPECT_THAT(Read(**dataset, FirstGraphs(2000)),
              StatusIs(absl::StatusCode::kDataLoss, AllOf(HasSubstr("molecules@"), HasSubstr("graph "))));
  std::uint32_t scanned = 0;
  const auto count = [&](std::size_t, const records::RecordView&) {
    ++scanned;
    return absl::OkStatus();
  };
  EXPECT_THAT((*dataset)->ScanRecords(count), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("graph ")));
  EXPECT_THAT(Read(**dataset, {scanned}), StatusIs(absl::StatusCode::kDataLoss));
  int damaged = 0;
  for (std::uint32_t graph = 0; graph < 2000; ++graph) damaged += Read(**dataset, {graph}).ok() ? 0 : 1;
  EXPECT_GT(damaged, 0);
  EXPECT_LT(damaged, 100);
}

TEST_F(RocksGraphStoreTest, ARecordThatContradictsTheSizesIsDataLossThatNamesTheGraph) {
  ASSERT_THAT(Import(*OpenStore(), SampleMolecules(), SealAs("molecules")), IsOk());
  const std::uint64_t storage_id = StorageIds(Family::kGraphs).at(0);
  {
    const auto database = OpenGraphDatabase(db(), kDefaultBlockCacheBytes, {});
    ASSERT_THAT(database, IsOk());
    rocks::SortedFileWriter files(*database, Family::kGraphs, staging() / "swapped", 1 << 20);
    ASSERT_THAT(files.Add(StorageKey(storage_id, 2).view(), RecordOf(SampleMolecules()[3])), IsOk());
    ASSERT_THAT(rocks::Ingest(**database, files.Finish().value()), IsOk());
  }
  const auto store = OpenStore();
  const auto dataset = store->Open("molecules");
  ASSERT_THAT(dataset, IsOk());
  EXPECT_THAT(Read(**dataset, {0, 1, 3, 4}), IsOk());
  EXPECT_THAT(Read(**dataset, {2}),
              StatusIs(absl::StatusCode::kDataLoss, AllOf(HasSubstr("molecules@"), HasSubstr("graph 2"),
                                                          HasSubstr(SampleMolecules()[3].id))));
  EXPECT_THAT((*dataset)->ScanRecords([](std::size_t, const records::RecordView&) { return absl::OkStatus(); }),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("graph 2")));
}

TEST_F(RocksGraphStoreTest, AScanThatMissesARecordIsDataLossThatNamesTheGraph) {
  const v1::Dataset sealed = Import(*OpenStore(), SampleMolecules(), SealAs("molecules"))->dataset;
  constexpr std::uint64_t kElsewhere = 999;
  {
    const auto database = OpenGraphDatabase(db(), kDefaultBlockCacheBytes, {});
    ASSERT_THAT(database, IsOk());
    rocks::SortedFileWriter graphs(*database, Family::kGraphs, staging() / "graphs", 1 << 20);
    for (const std::uint32_t k : {0, 1, 3, 4}) {
      ASSERT_THAT(graphs.Add(StorageKey(kElsewhere, k).view(), RecordOf(SampleMolecules()[k])), IsOk());
    }
    const std::vector<std::uint32_t> columns = {1, 2, 3, 4, 5, 0, 2, 6, 12, 20, 0, 1, 2, 3, 4};
    rocks::SortedFileWriter sizes(*database, Family::kSizes, staging() / "sizes", 1 << 20);
    ASSERT_THAT(sizes.Add(StorageKey(kElsewhere, 0).view(),
                          {reinterpret_cast<const char*>(columns.data()), columns.size() * 4}),
                IsOk());
    ASSERT_THAT(rocks::Ingest(**database, graphs.Finish().value()), IsOk());
    ASSERT_THAT(rocks::Ingest(**database, sizes.Finish().value()), IsOk());
    std::string id;
    rocks::AppendBigEndian(kElsewhere, id);
    ASSERT_THAT(
        WriteMeta(**database, {{ContentKey("00"), id},
                               {DatasetKey("molecules", sealed.version()), id + sealed.SerializeAsString()}}),
        IsOk());
  }
  const auto store = OpenStore();
  const auto dataset = store->Open("molecules");
  ASSERT_THAT(dataset, IsOk());
  EXPECT_THAT((*dataset)->ScanRecords([](std::size_t, const records::RecordView&) { return absl::OkStatus(); }),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("graph 2")));
  EXPECT_THAT(Read(**dataset, {2}), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("graph 2")));
}

TEST_F(RocksGraphStoreTest, ASecondOpeningInThisProcessIsRefusedWithItsPid) {
  const auto store = OpenStore();
  EXPECT_THAT(RocksGraphStore::Open(folder_.path() / ".", {}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(std::to_string(::getpid()))));
  // The lock is still held: looking at it did not give it up.
  EXPECT_THAT(RocksGraphStore::Open(folder_.path(), {}), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(Import(*store, SampleMolecules(), SealAs("molecules")), IsOk());
}

TEST_F(RocksGraphStoreTest, AnOpeningBesideAnotherProcessIsRefusedWithItsPid) {
  OpenStore().reset();
  int locked[2], done[2];
  ASSERT_EQ(::pipe(locked), 0);
  ASSERT_EQ(::pipe(done), 0);
  const pid_t holder = ::fork();
  if (holder == 0) {
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    const int fd = ::open((db() / "LOCK").c_str(), O_RDWR);
    char byte = ::fcntl(fd, F_SETLK, &lock) == 0 ? 1 : 0;
    ::close(done[1]);
    (void)!::write(locked[1], &byte, 1);
    (void)!::read(done[0], &byte, 1);  // until the test closes its end
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(locked[0], &byte, 1), 1);
  ASSERT_EQ(byte, 1);
  EXPECT_THAT(RocksGraphStore::Open(folder_.path(), {}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(std::to_string(holder))));
  ::close(done[1]);
  ASSERT_EQ(::waitpid(holder, nullptr, 0), holder);
  OpenStore();
}

TEST_F(RocksGraphStoreTest, AFolderThatCannotBeMadeIsRefused) {
  std::ofstream(folder_.path() / "file") << "not a folder";
  EXPECT_THAT(RocksGraphStore::Open(folder_.path() / "file" / "store", {}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("store")));
}

TEST_F(RocksGraphStoreTest, AStoreOfAnotherFormatIsRefused) {
  OpenStore().reset();
  {
    const auto database = OpenGraphDatabase(db(), kDefaultBlockCacheBytes, {});
    ASSERT_THAT(database, IsOk());
    ASSERT_THAT(WriteMeta(**database, {{std::string(kFormatKey), "2"}}), IsOk());
  }
  EXPECT_THAT(RocksGraphStore::Open(folder_.path(), {}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("format 2")));
}

TEST_F(RocksGraphStoreTest, ADamagedDescriptionIsDataLoss) {
  OpenStore().reset();
  {
    const auto database = OpenGraphDatabase(db(), kDefaultBlockCacheBytes, {});
    ASSERT_THAT(WriteMeta(**database, {{NameKey("molecules"), "00"}, {DatasetKey("molecules", "00"), "short"}}),
                IsOk());
  }
  const auto store = OpenStore();
  EXPECT_THAT(store->Open("molecules"), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(store->List(), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(RocksGraphStoreTest, ADamagedSplitIsDataLoss) {
  const std::string version =
      Import(*OpenStore(), ManyMolecules(50), SealWithFractions("molecules", 800, 100, 100, 0))
          ->dataset.version();
  {
    const auto database = OpenGraphDatabase(db(), kDefaultBlockCacheBytes, {});
    ASSERT_THAT(WriteMeta(**database, {{SplitKey(version, "val"), std::string(5 * 4, '\xff')}}), IsOk());
  }
  EXPECT_THAT(OpenStore()->Open("molecules"), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("split val")));
}

TEST_F(RocksGraphStoreTest, ADescriptionWithoutItsGraphsIsDataLoss) {
  const v1::Dataset sealed = Import(*OpenStore(), SampleMolecules(), SealAs("molecules"))->dataset;
  {
    const auto database = OpenGraphDatabase(db(), kDefaultBlockCacheBytes, {});
    std::string elsewhere;
    rocks::AppendBigEndian(std::uint64_t{999}, elsewhere);
    elsewhere += sealed.SerializeAsString();
    ASSERT_THAT(WriteMeta(**database, {{DatasetKey("molecules", sealed.version()), elsewhere}}), IsOk());
  }
  EXPECT_THAT(OpenStore()->Open("molecules"), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("sizes")));
}

TEST_F(RocksGraphStoreTest, ADamagedContentEntryKeepsTheStoreFromReclaiming) {
  OpenStore().reset();
  {
    const auto database = OpenGraphDatabase(db(), kDefaultBlockCacheBytes, {});
    ASSERT_THAT(WriteMeta(**database, {{ContentKey("00"), "short"}}), IsOk());
  }
  EXPECT_THAT(RocksGraphStore::Open(folder_.path(), {}), StatusIs(absl::StatusCode::kDataLoss));
}

TEST(KeySchemaTest, KeysSortAsNumbers) {
  const std::vector<StorageKey> keys = {{1, 0}, {1, 255}, {1, 256}, {2, 0}, {256, 0}};
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end(),
                             [](const StorageKey& a, const StorageKey& b) { return a.view() < b.view(); }));
  EXPECT_EQ(StorageKey(0x0102, 3).view(), std::string_view("\0\0\0\0\0\0\1\2\0\0\0\0\0\0\0\3", 16));
  EXPECT_EQ(StorageIdOf(keys[4].view()), 256u);
  EXPECT_EQ(StorageIdOf("short"), std::nullopt);
}

}  // namespace
}  // namespace packtrain::storage
