#include "client/ingest/source_files.h"

#include <gmock/gmock.h>

#include <array>
#include <filesystem>

#include "tests/client/ingest/refused.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"

namespace packtrain::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Refused;
using testing::StatusIs;
using ::testing::UnorderedElementsAre;

constexpr std::array<std::string_view, 2> kXyz = {".xyz", ".extxyz"};

TEST(SourceFilesTest, FolderStandsForItsXyzFilesByName) {
  const testing::TempFolder folder;
  folder.Write("b.extxyz.gz", "");
  folder.Write("a.xyz", "");
  folder.Write("notes.txt", "");
  folder.Write("c.xyz.xz", "");
  folder.Write("._a.xyz", "");
  const FoundFiles found = FindFiles({"given.dat", folder.PathOf("")}, kXyz).value();
  EXPECT_THAT(found.files, ElementsAre("given.dat", folder.PathOf("a.xyz"), folder.PathOf("b.extxyz.gz"),
                                       folder.PathOf("c.xyz.xz")));
  ASSERT_EQ(found.passed_over.size(), 1u);
  EXPECT_EQ(found.passed_over[0].path, folder.PathOf(""));
  EXPECT_EQ(found.passed_over[0].count, 2u);
  EXPECT_THAT(found.passed_over[0].names, UnorderedElementsAre("._a.xyz", "notes.txt"));
}

TEST(SourceFilesTest, FolderWithoutXyzFilesIsAnError) {
  const testing::TempFolder folder;
  EXPECT_THAT(FindFiles({folder.PathOf("")}, kXyz),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no *.xyz or *.extxyz file")));
}

TEST(SourceFilesTest, FolderStandsForItselfWhereNoFileIsLookedFor) {
  const testing::TempFolder folder;
  EXPECT_THAT(FindFiles({folder.PathOf("")}, {}).value().files, ElementsAre(folder.PathOf("")));
}

TEST(SourceFilesTest, FilesBelowAFolderAreFoundAtAnyDepth) {
  const testing::TempFolder folder;
  std::filesystem::create_directories(folder.PathOf("raw/deep"));
  folder.Write("raw/deep/b.xyz", "");
  folder.Write("c.xyz.gz", "");
  folder.Write("raw/README", "");
  std::filesystem::create_directory_symlink(folder.PathOf("raw"), folder.PathOf("link"));
  const FoundFiles found = FindFilesBelow(folder.PathOf(""), kXyz, 3).value();
  EXPECT_THAT(found.files, ElementsAre("c.xyz.gz", "raw/deep/b.xyz"));
  EXPECT_EQ(found.passed_over.at(0).count, 1u);
  EXPECT_THAT(FindFilesBelow(folder.PathOf(""), kXyz, 2), Refused("too_many_members", "--max-members"));
}

TEST(SourceFilesTest, NamesWithoutEndingsAreMatchedAsAWhole) {
  constexpr std::array<std::string_view, 2> kPoscar = {".vasp", "POSCAR"};
  EXPECT_TRUE(HasExtension("a/POSCAR", kPoscar));
  EXPECT_TRUE(HasExtension("POSCAR.gz", kPoscar));
  EXPECT_TRUE(HasExtension("POSCAR-1.vasp", kPoscar));
  EXPECT_FALSE(HasExtension("CONTCAR", kPoscar));
  EXPECT_FALSE(HasExtension("OLDPOSCAR", kPoscar));
}

TEST(SourceFilesTest, StemIsTheNameWithoutItsEndings) {
  EXPECT_EQ(StemOf("folder.d/a.b.xyz.gz"), "a.b");
  EXPECT_EQ(StemOf("a.xyz"), "a");
  EXPECT_EQ(StemOf("/proc/self/fd/7"), "7");
}

}  // namespace
}  // namespace packtrain::ingest
