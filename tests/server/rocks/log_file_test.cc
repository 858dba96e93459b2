// Logs as RocksDB itself writes them.
#include "server/rocks/log_file.h"

#include <gmock/gmock.h>
#include <rocksdb/db.h>

#include <filesystem>
#include <memory>
#include <sstream>
#include <string>

#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"

namespace packtrain::rocks {
namespace {

using packtrain::testing::IsOk;
using packtrain::testing::ReadFile;
using packtrain::testing::StatusIs;
using packtrain::testing::TempFolder;

absl::Status Verify(const std::string& log, LogEnd end = LogEnd::kWhole) {
  std::istringstream stream(log);
  return VerifyLog(stream, log.size(), end);
}

// The write-ahead log of a database with records of many sizes, some longer than a block.
std::string WrittenLog() {
  const TempFolder folder;
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* opened = nullptr;
  EXPECT_TRUE(rocksdb::DB::Open(options, folder.PathOf("db"), &opened).ok());
  std::unique_ptr<rocksdb::DB> db(opened);
  for (int record = 0; record < 100; ++record) {
    const std::string value(static_cast<std::size_t>(record * record * 2), static_cast<char>(record));
    EXPECT_TRUE(db->Put({}, "key" + std::to_string(record), value).ok());
  }
  db.reset();
  for (const auto& file : std::filesystem::directory_iterator(folder.PathOf("db"))) {
    if (file.path().extension() == ".log") return ReadFile(file.path().string());
  }
  return "";
}

TEST(LogFileTest, WhatRocksDbWroteIsWhole) {
  const std::string log = WrittenLog();
  ASSERT_GT(log.size(), 500'000);
  EXPECT_THAT(Verify(log), IsOk());
  EXPECT_THAT(Verify(""), IsOk());
}

TEST(LogFileTest, EachFlippedBitIsFound) {
  const std::string log = WrittenLog();
  for (std::size_t byte = 0; byte < log.size(); byte += byte < 256 ? 1 : 4099) {
    std::string damaged = log;
    damaged[byte] = static_cast<char>(damaged[byte] ^ 1 << byte % 8);
    EXPECT_THAT(Verify(damaged), StatusIs(absl::StatusCode::kDataLoss)) << byte;
    if (HasFailure()) return;
  }
}

TEST(LogFileTest, AnEndThatIsCutOffIsDamageUnlessTheLogIsBeingWritten) {
  const std::string log = WrittenLog();
  for (const std::size_t cut : {1, 5, 500, 40'000, 100'000}) {
    const std::string begin = log.substr(0, log.size() - cut);
    EXPECT_THAT(Verify(begin), StatusIs(absl::StatusCode::kDataLoss, ::testing::HasSubstr("cut off"))) << cut;
    EXPECT_THAT(Verify(begin, LogEnd::kOpen), IsOk()) << cut;
  }
}

TEST(LogFileTest, DamageOfALogThatIsBeingWrittenIsFound) {
  std::string log = WrittenLog();
  log[1000] = static_cast<char>(log[1000] ^ 4);
  EXPECT_THAT(Verify(log, LogEnd::kOpen), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace packtrain::rocks
