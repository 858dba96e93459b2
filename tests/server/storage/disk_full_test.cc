// A store on a disk that fills up: a small one in memory, where the system lets us mount it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

#include "proto/base/error_details.h"
#include "server/rocks/disk_reserve.h"
#include "server/storage/rocks_graph_store.h"
#include "tests/server/storage/store_testing.h"
#include "tests/testing/eventually.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::storage {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::ManyMolecules;
using ::packtrain::testing::RecordOf;
using ::packtrain::testing::SampleMolecules;
using ::packtrain::testing::StatusIs;
using ::testing::HasSubstr;

constexpr char kDiskSize[] = "size=48m";
const RocksGraphStoreOptions kOptions = {.database = {.reserve_bytes = 8 << 20}};

bool Write(const char* path, const std::string& text) {
  std::ofstream file(path);
  return static_cast<bool>(file << text << std::flush);
}

// Makes this process root of a user namespace, which may mount.
bool BecomeRootInside() {
  const std::string user = std::to_string(::getuid());
  return ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && Write("/proc/self/uid_map", "0 " + user + " 1");
}

// Mounts of this process alone, so that the disk goes with it.
bool EnterOwnNamespace() {
  if (::unshare(CLONE_NEWNS) != 0 && !BecomeRootInside()) return false;
  return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

class DiskFullTest : public ::testing::Test {
 protected:
  // Before any thread is started, which would keep its own view of the file system.
  static void SetUpTestSuite() { in_own_namespace_ = EnterOwnNamespace(); }

  void SetUp() override {
    if (!in_own_namespace_ || ::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, kDiskSize) != 0) {
      GTEST_SKIP() << "no right to mount a disk";
    }
    mounted_ = true;
    store_ = RocksGraphStore::Open(folder_.path() / "store", kOptions).value();
    ASSERT_THAT(Import(*store_, SampleMolecules(), SealAs("before")), IsOk());
  }

  void TearDown() override {
    store_.reset();
    if (!mounted_) return;
    EXPECT_EQ(::umount(folder_.path().c_str()), 0);
  }

  // Writes until nothing more fits.
  void FillDisk() {
    std::ofstream ballast(Ballast(), std::ios::binary);
    const std::string block(4096, 'x');
    while (ballast.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) continue;
  }
  void EmptyDisk() { std::filesystem::remove(Ballast()); }

  // What was sealed is there and new data can come.
  void ExpectWorkGoesOn() {
    const auto before = store_->Open("before");
    ASSERT_THAT(before, IsOk());
    EXPECT_EQ((*Read(**before, {2}))[0], RecordOf(SampleMolecules()[2]));
    ASSERT_THAT(Import(*store_, ManyMolecules(100), SealAs("after")), IsOk());
    EXPECT_EQ((*Read(**store_->Open("after"), {99}))[0], RecordOf(ManyMolecules(100)[99]));
  }

  static std::uint64_t ReserveAtFirst() { return kOptions.database.reserve_bytes / 4; }
  std::uintmax_t ReserveBytes() const {
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(folder_.path() / "store" / "db" / "RESERVE", error);
    return error ? 0 : bytes;
  }

  std::filesystem::path Ballast() const { return folder_.path() / "ballast"; }

  static inline bool in_own_namespace_ = false;
  const TemporaryFolder folder_;
  bool mounted_ = false;
  std::unique_ptr<RocksGraphStore> store_;
};

TEST_F(DiskFullTest, AnImportThatFillsTheDiskIsDroppedAndWorkGoesOn) {
  auto writer = store_->NewDataset(testing::MoleculeSchema());
  ASSERT_THAT(writer, IsOk());
  const std::string record = RecordOf(SampleMolecules()[4]);
  absl::Status status;
  EXPECT_TRUE(testing::Eventually([&] {
    for (int graph = 0; status.ok() && graph < 10'000; ++graph)
      status = (*writer)->Append(std::as_bytes(std::span(record)));
    return !status.ok();
  }));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted));
  const auto reason = status.GetPayload(base::kErrorInfoUrl);
  ASSERT_TRUE(reason.has_value());
  EXPECT_THAT(std::string(*reason), HasSubstr(rocks::kDiskFull));
  writer->reset();
  ExpectWorkGoesOn();
}

TEST_F(DiskFullTest, ASealOnAFullDiskPublishesNothingAndWorkGoesOnOnceThereIsSpace) {
  std::unique_ptr<DatasetWriter> writer = Stage(*store_, ManyMolecules(5000));
  FillDisk();
  EXPECT_THAT(writer->Seal(SealAs("late")), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(store_->Open("late"), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(Read(**store_->Open("before"), {0, 1, 2, 3, 4}), IsOk());
  EmptyDisk();
  ExpectWorkGoesOn();
  // What was staged has waited.
  EXPECT_THAT(writer->Seal(SealAs("late")), IsOk());
  EXPECT_EQ((*Read(**store_->Open("late"), {4999}))[0], RecordOf(ManyMolecules(5000)[4999]));
}

TEST_F(DiskFullTest, EqualContentUnderAnotherNameIsRefusedToo) {
  std::unique_ptr<DatasetWriter> writer = Stage(*store_, SampleMolecules());
  FillDisk();
  EXPECT_THAT(writer->Seal(SealAs("another")), StatusIs(absl::StatusCode::kResourceExhausted));
  EmptyDisk();
  EXPECT_THAT(Import(*store_, SampleMolecules(), SealAs("another")), IsOk());
  ExpectWorkGoesOn();
}

TEST_F(DiskFullTest, ADeletionIsLentAPieceOfTheReserveThatOthersCannotFill) {
  const std::uintmax_t whole = ReserveBytes();
  EXPECT_EQ(whole, ReserveAtFirst());
  FillDisk();
  EXPECT_EQ(ReserveBytes(), whole);
  EXPECT_THAT(store_->Delete("before"), IsOk());
  EXPECT_EQ(ReserveBytes(), whole - whole / rocks::DiskReserve::kPieces);
  EmptyDisk();
  ASSERT_THAT(Import(*store_, SampleMolecules(), SealAs("before")), IsOk());
  EXPECT_EQ(ReserveBytes(), whole);
  ExpectWorkGoesOn();
}

TEST_F(DiskFullTest, ADeletionIsMadeAgainWhereOthersFillWhatWasLent) {
  ASSERT_THAT(Import(*store_, ManyMolecules(3), SealAs("second")), IsOk());
  FillDisk();
  std::atomic<bool> over = false;
  std::atomic<std::uint64_t> taken = 0;
  std::thread filler([&] {
    std::ofstream more(folder_.path() / "more", std::ios::binary);
    const std::string block(4096, 'x');
    // Two pieces at most: somebody who fills all that is ever lent leaves no room for anything.
    while (!over && taken < ReserveAtFirst() / 2) {
      if (more.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) taken += block.size();
      more.clear();
    }
  });
  const auto first = store_->Delete("before");
  const auto second = store_->Delete("second");
  EXPECT_TRUE(testing::Eventually([&] { return taken > 0; }));
  over = true;
  filler.join();
  EXPECT_THAT(first, IsOk());
  EXPECT_THAT(second, IsOk());
  std::filesystem::remove(folder_.path() / "more");
  EmptyDisk();
  ASSERT_THAT(Import(*store_, SampleMolecules(), SealAs("before")), IsOk());
  ExpectWorkGoesOn();
}

}  // namespace
}  // namespace packtrain::storage
