// What RocksRunStore promises beyond the contract.
#include <gmock/gmock.h>

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

TEST_F(RocksRunStoreTest, ADirectoryThatCannotBeMadeIsRefused) {
  EXPECT_THAT(RocksRunStore::Open("/proc/runs", {}), StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace packtrain::runs
