// A database of two families in a folder of its own, for tests.
#ifndef PACKTRAIN_TESTS_SERVER_ROCKS_DATABASE_TESTING_H_
#define PACKTRAIN_TESTS_SERVER_ROCKS_DATABASE_TESTING_H_

#include <gmock/gmock.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/rocks/database.h"
#include "server/rocks/sorted_files.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"

namespace packtrain::rocks {

enum class Family { kWords, kFiles };

inline DatabaseLayout Layout() {
  return {.families = {{.name = "words", .compression = Compression::kLz4},
                       {.name = "files", .random_reads = true, .ingested = true, .scanned_once = true}},
          .reading = "reading the test",
          .scanning = "scanning the test",
          .writing = "writing the test"};
}

inline const std::string kLongValue(5'000, 'v');

class DatabaseTest : public ::testing::Test {
 protected:
  DatabaseTest() { Reopen(); }

  void Reopen(const DatabaseOptions& options = {.reserve_bytes = 0}) {
    database_.reset();
    database_ = Database::Open(folder_.PathOf(""), Layout(), options).value();
  }

  absl::Status Put(const std::string& key, const std::string& value,
                   Durability durability = Durability::kProcess) {
    return database_->Write({{Family::kWords, key, value}}, durability);
  }

  std::optional<std::string> Get(const std::string& key) const {
    return database_->Get(Family::kWords, key).value();
  }

  std::vector<std::pair<std::string, std::string>> Scan(FamilyId family, const std::string& prefix) const {
    std::vector<std::pair<std::string, std::string>> found;
    EXPECT_THAT(database_->Scan(family, prefix,
                                [&](std::string_view key, std::string_view value) {
                                  found.emplace_back(key, value);
                                  return absl::OkStatus();
                                }),
                testing::IsOk());
    return found;
  }

  // Writes each key, with a value that fills a block, to files outside the database. A file ends with the first
  // key that finds a block full.
  absl::StatusOr<std::vector<SortedFile>> Stage(const std::vector<std::string>& keys) {
    writer_ = std::make_unique<SortedFileWriter>(database_, Family::kFiles, folder_.PathOf("staged"), 1);
    for (const std::string& key : keys) {
      if (absl::Status status = writer_->Add(key, kLongValue); !status.ok()) return status;
    }
    return writer_->Finish();
  }

  const testing::TempFolder folder_;
  std::shared_ptr<Database> database_;
  std::unique_ptr<SortedFileWriter> writer_;
};

}  // namespace packtrain::rocks

#endif  // PACKTRAIN_TESTS_SERVER_ROCKS_DATABASE_TESTING_H_
