#include "server/rocks/sorted_files.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "tests/server/rocks/database_testing.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::rocks {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

using SortedFilesTest = DatabaseTest;

TEST_F(SortedFilesTest, FilesAreMovedInAndTheirKeysAreThere) {
  const auto files = Stage({"a", "b", "c"});
  ASSERT_THAT(files, IsOk());
  ASSERT_EQ(files->size(), 2u);
  EXPECT_EQ(files->front().first_key, "a");
  EXPECT_EQ(files->back().last_key, "c");
  EXPECT_THAT(Scan(Family::kFiles, ""), IsEmpty());
  EXPECT_THAT(Ingest(*database_, *files), IsOk());
  EXPECT_THAT(Scan(Family::kFiles, ""),
              ElementsAre(Pair("a", kLongValue), Pair("b", kLongValue), Pair("c", kLongValue)));
  for (const SortedFile& file : *files) EXPECT_FALSE(std::filesystem::exists(file.path)) << file.path;
  writer_.reset();  // which holds the database open
  Reopen();
  EXPECT_THAT(Scan(Family::kFiles, ""), SizeIs(3));
}

TEST_F(SortedFilesTest, FilesThatAreNotTakenInGoWithTheirWriter) {
  const auto files = Stage({"a", "b"});
  ASSERT_THAT(files, IsOk());
  EXPECT_TRUE(std::filesystem::exists(files->front().path));
  writer_.reset();
  EXPECT_FALSE(std::filesystem::exists(files->front().path));
}

TEST_F(SortedFilesTest, AFileThatIsNotAsItWasWrittenIsNotTakenIn) {
  const auto files = Stage({"a"});
  ASSERT_THAT(files, IsOk());
  std::vector<SortedFile> other = *files;
  other.front().last_key = "z";
  EXPECT_THAT(Ingest(*database_, other), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(Scan(Family::kFiles, ""), IsEmpty());
}

TEST_F(SortedFilesTest, AFileThatWasTakenEndsWhileTheNextOneIsWritten) {
  writer_ = std::make_unique<SortedFileWriter>(database_, Family::kFiles, folder_.PathOf("staged"), 1 << 20);
  const auto none = writer_->TakeFile();
  ASSERT_THAT(none, IsOk());
  EXPECT_EQ(*(*none)(), 0u);
  ASSERT_THAT(writer_->Add("a", kLongValue), IsOk());
  ASSERT_THAT(writer_->Add("b", kLongValue), IsOk());
  const auto end = writer_->TakeFile();
  ASSERT_THAT(end, IsOk());
  ASSERT_THAT(writer_->Add("c", kLongValue), IsOk());
  std::optional<absl::StatusOr<std::uint64_t>> bytes;
  std::thread([&] { bytes = (*end)(); }).join();
  ASSERT_THAT(*bytes, IsOk());
  const auto files = writer_->Finish();
  ASSERT_THAT(files, IsOk());
  ASSERT_THAT(*files, SizeIs(2));
  EXPECT_EQ(**bytes, std::filesystem::file_size(files->front().path));
  EXPECT_EQ(files->front().last_key, "b");
  EXPECT_THAT(Ingest(*database_, *files), IsOk());
  EXPECT_THAT(Scan(Family::kFiles, ""), SizeIs(3));
}

TEST_F(SortedFilesTest, KeysOutOfOrderFailAndGoOnFailing) {
  EXPECT_THAT(Stage({"b", "a"}).status(), ::testing::Not(IsOk()));
  EXPECT_THAT(writer_->Add("c", "c"), ::testing::Not(IsOk()));
  EXPECT_THAT(writer_->Finish().status(), ::testing::Not(IsOk()));
}

TEST_F(SortedFilesTest, ADroppedRangeGivesItsFilesBack) {
  const auto files = Stage({"a", "b", "c"});
  ASSERT_THAT(files, IsOk());
  ASSERT_THAT(Ingest(*database_, *files), IsOk());
  EXPECT_THAT(database_->DropRange(Family::kFiles, "a", "c"), IsOk());
  EXPECT_THAT(Scan(Family::kFiles, ""), ElementsAre(Pair("c", kLongValue)));
  // The file of two values is gone, and not only hidden.
  for (const StoredFile& file : database_->sorted_files()) EXPECT_LT(file.bytes, 2 * kLongValue.size());
}

}  // namespace
}  // namespace packtrain::rocks
