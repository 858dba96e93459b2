#include "client/ingest/source_files.h"

#include <gmock/gmock.h>

#include <array>

#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"

namespace packtrain::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::StatusIs;

constexpr std::array<std::string_view, 2> kXyz = {".xyz", ".extxyz"};

TEST(SourceFilesTest, FolderStandsForItsXyzFilesByName) {
  const testing::TempFolder folder;
  folder.Write("b.extxyz.gz", "");
  folder.Write("a.xyz", "");
  folder.Write("notes.txt", "");
  EXPECT_THAT(FindFiles({"given.dat", folder.PathOf("")}, kXyz).value(),
              ElementsAre("given.dat", folder.PathOf("a.xyz"), folder.PathOf("b.extxyz.gz")));
}

TEST(SourceFilesTest, FolderWithoutXyzFilesIsAnError) {
  const testing::TempFolder folder;
  EXPECT_THAT(FindFiles({folder.PathOf("")}, kXyz),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no *.xyz or *.extxyz file")));
}

TEST(SourceFilesTest, FolderStandsForItselfWhereNoFileIsLookedFor) {
  const testing::TempFolder folder;
  EXPECT_THAT(FindFiles({folder.PathOf("")}, {}).value(), ElementsAre(folder.PathOf("")));
}

TEST(SourceFilesTest, StemIsTheNameWithoutItsEndings) {
  EXPECT_EQ(StemOf("folder.d/a.b.xyz.gz"), "a.b");
  EXPECT_EQ(StemOf("a.xyz"), "a");
  EXPECT_EQ(StemOf("/proc/self/fd/7"), "7");
}

}  // namespace
}  // namespace packtrain::ingest
