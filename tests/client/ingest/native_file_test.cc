// A native file as an earlier version of the programs wrote it, tests/golden/native_file.hex: read, and written
// again.
#include "client/ingest/formats/native_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "tests/testing/golden.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"

namespace packtrain::ingest {
namespace {

using ::packtrain::testing::GoldenBlocks;
using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::packtrain::testing::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string GoldenFile() { return absl::StrJoin(GoldenBlocks("native_file.hex"), ""); }

TEST(NativeFileTest, ReadsTheGoldenFileAndWritesItsFramesAgain) {
  const TempFolder folder;
  const std::vector<std::string> golden = GoldenBlocks("native_file.hex");
  const auto file = NativeFile::Open(folder.Write("three.packtrain", GoldenFile()));
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ((*file)->dataset().name(), "three");
  EXPECT_EQ((*file)->dataset().graphs(), 3u);

  v1::ExportDatasetResponse message;
  *message.mutable_header()->mutable_dataset() = (*file)->dataset();
  std::vector<std::string> written = {std::string(kNativeMagic), NativeFrame(message)};
  int records = 0;
  std::vector<std::string> splits;
  absl::StatusOr<bool> more = true;
  while ((more = (*file)->Next(&message)).ok()) {
    written.push_back(NativeFrame(message));
    if (!*more) break;
    records += message.block().records_size();
    if (message.has_split()) splits.push_back(message.split().split());
  }
  EXPECT_THAT(more, IsOk());
  EXPECT_EQ(records, 3);
  EXPECT_THAT(splits, ElementsAre("train", "val", "test"));
  EXPECT_EQ(message.end().graphs(), 3u);
  EXPECT_EQ(written, golden);
}

TEST(NativeFileTest, APipeIsRefused) {
  const testing::TempFolder folder;
  const std::string pipe = folder.PathOf("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(NativeFile::Open(pipe),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is no plain file")));
}

TEST(NativeFileTest, EveryTruncationIsNamed) {
  const TempFolder folder;
  const std::string golden = GoldenFile();
  for (std::size_t size = 0; size < golden.size(); size += 7) {
    const auto file = NativeFile::Open(folder.Write("short.packtrain", golden.substr(0, size)));
    absl::Status status = file.status();
    v1::ExportDatasetResponse message;
    while (status.ok()) {
      const absl::StatusOr<bool> more = (*file)->Next(&message);
      ASSERT_TRUE(!more.ok() || *more) << size;
      status = more.status();
    }
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("short.packtrain"))) << size;
  }
}

}  // namespace
}  // namespace packtrain::ingest
