// What RocksRunStore promises beyond the contract.
#include <gmock/gmock.h>
#include <rocksdb/db.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/server/runs/run_store_conformance.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::runs {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using RocksRunStoreTest = RunStoreConformance;

TEST_F(RocksRunStoreTest, AReportThatWouldUseTheReserveOfTheDiskIsRefusedAndReadingGoesOn) {
  const Reporter rank = StartRun(*store_, StartRequest("key-00000001"));
  ASSERT_THAT(Add(rank, 0, 4), IsOk());
  store_.reserve_bytes = std::uint64_t{1} << 62;
  store_.Reopen();
  EXPECT_THAT(Add(rank, 5, 9), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("disk full")));
  EXPECT_THAT(store_->Start(StartRequest("key-00000002")).status(),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(StoredSteps(*store_, rank.run), SizeIs(5));
  store_.reserve_bytes = 0;
  store_.Reopen();
  EXPECT_THAT(Add(rank, 5, 9), IsOk());
  EXPECT_THAT(StoredSteps(*store_, rank.run), SizeIs(10));
}

TEST_F(RocksRunStoreTest, ASecondStoreOnTheDirectoryIsRefused) {
  EXPECT_THAT(RocksRunStore::Open(store_.directory(), {}), StatusIs(absl::StatusCode::kFailedPrecondition));
}

// Puts a format into the run database of a folder that nobody has open.
void SetFormat(const std::string& folder, const std::string& format) {
  std::vector<std::string> names;
  ASSERT_TRUE(rocksdb::DB::ListColumnFamilies({}, folder, &names).ok());
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : names) families.emplace_back(name, rocksdb::ColumnFamilyOptions());
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* opened = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open({}, folder, families, &handles, &opened).ok());
  const std::unique_ptr<rocksdb::DB> database(opened);
  EXPECT_TRUE(database->Put({}, "format", format).ok());
  for (rocksdb::ColumnFamilyHandle* handle : handles) database->DestroyColumnFamilyHandle(handle);
}

TEST_F(RocksRunStoreTest, ADatabaseOfANewerFormatIsRefused) {
  const std::string newer = store_.directory() + "/newer";
  ASSERT_THAT(RocksRunStore::Open(newer, {}), IsOk());
  SetFormat(newer, "2");
  EXPECT_THAT(RocksRunStore::Open(newer, {}), StatusIs(absl::StatusCode::kFailedPrecondition,
                                                       HasSubstr("has format 2, this program reads format 1")));
}

TEST_F(RocksRunStoreTest, ADirectoryThatCannotBeMadeIsRefused) {
  EXPECT_THAT(RocksRunStore::Open("/proc/runs", {}), StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace packtrain::runs
