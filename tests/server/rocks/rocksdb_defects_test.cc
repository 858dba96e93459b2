// What RocksDB 7.8 gets wrong, shown on the library alone. A test that fails says that the installed RocksDB
// gets it right, and that what works around it, named in front of the test, can go.
//
// Debian's library is built with assertions, which end the process where others might go on with a wrong state.
#include <gmock/gmock.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_writer.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/testing/faulty_disk.h"
#include "tests/testing/temp_file.h"

namespace packtrain::rocks {
namespace {

using ::packtrain::testing::Duration;
using ::packtrain::testing::Fault;
using ::packtrain::testing::FaultyDisk;
using ::packtrain::testing::TempFolder;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;

// The assertion that a file is not written to after a write to it has failed.
constexpr char kWritesAfterFailure[] = "AssertFalseAndGetStatusForPrevError";

// RocksDB looks for space by itself, on a thread of its own, unless it is told not to.
class NoRecoveryByItself : public rocksdb::EventListener {
 public:
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status, bool* by_itself) override {
    *by_itself = false;
  }
};

// Null: it cannot be opened.
std::unique_ptr<rocksdb::DB> Open(FaultyDisk& disk, const std::string& folder) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.env = disk.env();
  options.listeners.push_back(std::make_shared<NoRecoveryByItself>());
  rocksdb::DB* db = nullptr;
  rocksdb::DB::Open(options, folder, &db).PermitUncheckedError();
  return std::unique_ptr<rocksdb::DB>(db);
}

// A sorted file outside any database that holds the key "k".
std::string WriteSortedFile(const TempFolder& folder) {
  std::string path = folder.PathOf("k.sst");
  const rocksdb::EnvOptions env;
  const rocksdb::Options options;
  rocksdb::SstFileWriter writer(env, options);
  EXPECT_TRUE(writer.Open(path).ok());
  EXPECT_TRUE(writer.Put("k", "v").ok());
  EXPECT_TRUE(writer.Finish().ok());
  return path;
}

rocksdb::Status Ingest(rocksdb::DB& db, const std::string& file) {
  return db.IngestExternalFile({file}, rocksdb::IngestExternalFileOptions());
}

// The write fails for want of space, and the database is told to go on once there is some.
void FailToWriteAndResume(FaultyDisk& disk, rocksdb::DB& db) {
  disk.Fail(0, Fault::kNoSpace, Duration::kUntilHealed);
  EXPECT_FALSE(db.Put({}, "a", "b").ok());
  disk.Heal();
  EXPECT_TRUE(db.Resume().ok());
}

class RocksDbDefects : public ::testing::Test {
 protected:
  // RocksDB has threads of its own.
  RocksDbDefects() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

void LogToAFullDisk() {
  const TempFolder folder;
  FaultyDisk disk;
  disk.FailMessages();
  std::shared_ptr<rocksdb::Logger> log;
  disk.env()->GetFileSystem()->NewLogger(folder.PathOf("LOG"), {}, &log, nullptr).PermitUncheckedError();
  const std::string message(60'000, 'x');
  for (int k = 0; k < 100; ++k) rocksdb::Error(log, "%s", message.c_str());  // beyond any buffer
}

// guarded_env
TEST_F(RocksDbDefects, AMessageBehindOneThatCouldNotBeLoggedAborts) {
  EXPECT_DEATH(LogToAFullDisk(), kWritesAfterFailure);
}

void WriteAfterResume() {
  const TempFolder folder;
  FaultyDisk disk;
  const auto db = Open(disk, folder.PathOf("db"));
  FailToWriteAndResume(disk, *db);
  db->Put({}, "a", "b").PermitUncheckedError();
}

// database, which opens RocksDB again instead of resuming it
TEST_F(RocksDbDefects, AfterResumeAWriteGoesToTheLogThatFailedAndAborts) {
  EXPECT_DEATH(WriteAfterResume(), kWritesAfterFailure);
}

void IngestAfterResume() {
  const TempFolder folder;
  FaultyDisk disk;
  const auto db = Open(disk, folder.PathOf("db"));
  FailToWriteAndResume(disk, *db);
  Ingest(*db, WriteSortedFile(folder)).PermitUncheckedError();
}

// database, which opens RocksDB again instead of resuming it
TEST_F(RocksDbDefects, AfterResumeAnIngestTakesTheNumberZeroAndAborts) {
  EXPECT_DEATH(IngestAfterResume(), "number > 0");
}

// An ingest during which one operation of the disk failed.
struct FailedIngest {
  bool ok = false;     // so the ingest said
  bool found = false;  // the key is there afterwards
  bool opens = false;  // the next process can open the database
};

// None: no operation is left to fail.
std::optional<FailedIngest> IngestWithFailing(std::uint64_t operation) {
  const TempFolder folder;
  const std::string file = WriteSortedFile(folder);
  FaultyDisk disk;
  auto db = Open(disk, folder.PathOf("db"));
  disk.Fail(operation, Fault::kIoError, Duration::kOnce);
  FailedIngest ingest;
  ingest.ok = Ingest(*db, file).ok();
  const bool failed = !disk.Failed().empty();
  disk.Heal();
  std::string value;
  ingest.found = db->Get({}, "k", &value).ok();
  db.reset();
  ingest.opens = Open(disk, folder.PathOf("db")) != nullptr;
  return failed ? std::optional(ingest) : std::nullopt;
}

std::vector<FailedIngest> IngestWithEachOperationFailing() {
  std::vector<FailedIngest> ingests;
  while (const auto ingest = IngestWithFailing(ingests.size())) ingests.push_back(*ingest);
  return ingests;
}

// guarded_env
TEST_F(RocksDbDefects, AFailedIngestDeletesFilesThatTheManifestNames) {
  EXPECT_THAT(IngestWithEachOperationFailing(), Contains(Field(&FailedIngest::opens, false)));
}

// sorted_files: Ingest, which reads the ends of a file first
TEST_F(RocksDbDefects, AnIngestTakesAFileThatItCannotReadForAnEmptyOne) {
  EXPECT_THAT(IngestWithEachOperationFailing(),
              Contains(AllOf(Field(&FailedIngest::ok, true), Field(&FailedIngest::found, false))));
}

}  // namespace
}  // namespace packtrain::rocks
