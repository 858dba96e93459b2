#include "client/ingest/import_identity.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "client/ingest/formats/format_table.h"
#include "tests/client/ingest/formats/read_file.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"

namespace packtrain::ingest {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class ImportIdentityTest : public ::testing::Test {
 protected:
  v1::ImportIdentity IdentityOf(const ImportOptions& options, const char* format = "extxyz") const {
    const auto identified = IdentifyImport(*FindFormat(format), options, "mols");
    EXPECT_THAT(identified, IsOk());
    return identified->identity;
  }

  ImportOptions Options() const {
    ImportOptions options;
    options.paths = {folder_.PathOf("a.xyz"), folder_.PathOf("b.xyz")};
    options.program_version = "1.0";
    return options;
  }

  testing::TempFolder folder_;
  const std::string a_ = folder_.Write("a.xyz", "1\n\nC 0 0 0\n"),
                    b_ = folder_.Write("b.xyz", "1\n\nH 0 0 0\n");
};

TEST_F(ImportIdentityTest, TheSameFilesAndOptionsAreTheSameImport) {
  const v1::ImportIdentity identity = IdentityOf(Options());
  EXPECT_EQ(identity.name(), "mols");
  EXPECT_THAT(identity.digest(), MatchesRegex("[0-9a-f]+"));
  EXPECT_EQ(identity.SerializeAsString(), IdentityOf(Options()).SerializeAsString());
  std::filesystem::last_write_time(a_, std::filesystem::file_time_type::clock::now());
  EXPECT_EQ(identity.digest(), IdentityOf(Options()).digest());
}

TEST_F(ImportIdentityTest, EachOptionThatDecidesTheGraphsMakesItAnotherOne) {
  const v1::ImportIdentity before = IdentityOf(Options());
  const std::string table = folder_.Write("t.csv", "id,e\na,1\n");
  const std::vector<std::function<void(ImportOptions&)>> changes = {
      [](ImportOptions& options) { options.edges = "radius:5"; },
      [](ImportOptions& options) { options.targets = {"e"}; },
      [](ImportOptions& options) { options.renumber = v1::RENUMBERING_RCM; },
      [](ImportOptions& options) { options.missing_target_nan = true; },
      [](ImportOptions& options) { options.skip_refused = true; },
      [](ImportOptions& options) { options.number_duplicates = true; },
      [](ImportOptions& options) { options.limit = 5; },
      [](ImportOptions& options) { options.read.limits.max_atoms = 5; },
      [](ImportOptions& options) { options.read.limits.max_edges = 5; },
      [](ImportOptions& options) { options.read.limits.max_depth = 5; },
      [](ImportOptions& options) { options.read.limits.max_members = 5; },
      [](ImportOptions& options) { options.read.limits.max_line_bytes = 500; },
      [](ImportOptions& options) { options.read.limits.max_unpacked_bytes = 500; },
      [](ImportOptions& options) { options.read.flags["--species-are-numbers"] = ""; },
      [](ImportOptions& options) { options.program_version = "2.0"; },
      [&](ImportOptions& options) {
        options.join = JoinOptions{table, "", {}};
      },
      [](ImportOptions& options) { options.paths.pop_back(); },
      [](ImportOptions& options) { std::swap(options.paths[0], options.paths[1]); }};
  std::vector<std::string> digests = {before.digest()};
  for (const auto& change : changes) {
    ImportOptions options = Options();
    change(options);
    const v1::ImportIdentity identity = IdentityOf(options);
    EXPECT_THAT(digests, ::testing::Not(::testing::Contains(identity.digest())));
    EXPECT_FALSE(DifferenceOf(identity, before).empty());
    digests.push_back(identity.digest());
  }
  EXPECT_NE(before.digest(), IdentityOf(Options(), "jsonl").digest());
}

TEST_F(ImportIdentityTest, SplitsAndTheCommandLineMakeItNoOtherOne) {
  ImportOptions options = Options();
  options.random_split = RandomSplit{{800, 100, 100}, 7};
  options.command = "packtrain import";
  EXPECT_EQ(IdentityOf(options).digest(), IdentityOf(Options()).digest());
}

TEST_F(ImportIdentityTest, ADifferenceIsToldByOptionAndFile) {
  const v1::ImportIdentity before = IdentityOf(Options());
  ImportOptions options = Options();
  options.edges = "knn:12";
  EXPECT_EQ(DifferenceOf(IdentityOf(options), before), "--edges is knn:12, was not given");
  EXPECT_EQ(DifferenceOf(before, IdentityOf(options)), "--edges is not given, was knn:12");
  options.paths.pop_back();
  EXPECT_THAT(DifferenceOf(IdentityOf(options), before),
              AllOf(HasSubstr("--edges is knn:12"), HasSubstr("b.xyz is not there")));
  options = Options();
  std::swap(options.paths[0], options.paths[1]);
  EXPECT_EQ(DifferenceOf(IdentityOf(options), before), "the files are in another order");
  folder_.Write("a.xyz", "1\n\nO 0 0 0\n");
  EXPECT_EQ(DifferenceOf(IdentityOf(Options()), before), folder_.PathOf("a.xyz") + " has changed");
}

TEST_F(ImportIdentityTest, AJoinCountsByItsContent) {
  ImportOptions options = Options();
  options.join = JoinOptions{folder_.Write("t.csv", "id,e\na,1\n"), "id", {}};
  const v1::ImportIdentity before = IdentityOf(options);
  folder_.Write("t.csv", "id,e\na,2\n");
  EXPECT_NE(before.digest(), IdentityOf(options).digest());
  EXPECT_THAT(DifferenceOf(IdentityOf(options), before), HasSubstr("--join"));
}

TEST_F(ImportIdentityTest, AFileThatHasChangedSinceEndsTheImport) {
  ImportOptions options = Options();
  options.join = JoinOptions{folder_.Write("t.csv", "id,e\na,1\nb,2\n"), "id", {}};
  options.read.digests = IdentifyImport(*FindFormat("extxyz"), options, "mols")->digests;
  const auto read = [&options] { return testing::ReadBy(*FindFormat("extxyz"), options).status; };
  EXPECT_THAT(read(), IsOk());
  folder_.Write("b.xyz", "1\n\nO 0 0 0\n");
  EXPECT_THAT(read(), StatusIs(absl::StatusCode::kAborted, HasSubstr("b.xyz: the file has changed")));
  folder_.Write("b.xyz", "1\n\nH 0 0 0\n");
  EXPECT_THAT(read(), IsOk());
  folder_.Write("t.csv", "id,e\na,1\nb,3\n");
  EXPECT_THAT(read(), StatusIs(absl::StatusCode::kAborted, HasSubstr("t.csv: the file has changed")));
}

TEST_F(ImportIdentityTest, AFolderIsTheFilesInIt) {
  ImportOptions options = Options();
  options.paths = {folder_.PathOf("")};
  const v1::ImportIdentity before = IdentityOf(options);
  folder_.Write("notes.txt", "nothing");
  EXPECT_EQ(before.digest(), IdentityOf(options).digest());
  folder_.Write("c.xyz", "1\n\nN 0 0 0\n");
  EXPECT_NE(before.digest(), IdentityOf(options).digest());
  EXPECT_THAT(DifferenceOf(IdentityOf(options), before), HasSubstr("c.xyz is new"));
}

TEST_F(ImportIdentityTest, AFormatOfFoldersIsAllFilesBelowThem) {
  std::filesystem::create_directories(folder_.PathOf("MUTAG/raw"));
  folder_.Write("MUTAG/raw/MUTAG_A.txt", "1, 2\n");
  ImportOptions options = Options();
  options.paths = {folder_.PathOf("MUTAG")};
  const auto before = IdentifyImport(*FindFormat("tudataset"), options, "mutag");
  ASSERT_THAT(before, IsOk());
  EXPECT_EQ(before->digests->count(folder_.PathOf("MUTAG") + "/raw/MUTAG_A.txt"), 1);
  folder_.Write("MUTAG/raw/MUTAG_A.txt", "2, 1\n");
  EXPECT_NE(before->identity.digest(), IdentityOf(options, "tudataset").digest());
}

TEST_F(ImportIdentityTest, OfVeryManyFilesTheFirstAreNamedAndTheOthersCountAsOne) {
  ImportOptions options = Options();
  options.paths.assign(3'000, a_);
  const v1::ImportIdentity before = IdentityOf(options);
  EXPECT_LT(before.ByteSizeLong(), 64 << 10);
  options.paths.back() = b_;
  EXPECT_NE(before.digest(), IdentityOf(options).digest());
  EXPECT_THAT(DifferenceOf(IdentityOf(options), before), HasSubstr("files behind the first"));
}

TEST_F(ImportIdentityTest, WhatCannotBeReadTwiceHasNone) {
  const std::string pipe = folder_.PathOf("pipe.xyz");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ImportOptions options = Options();
  options.paths = {pipe};
  EXPECT_THAT(IdentifyImport(*FindFormat("extxyz"), options, "mols"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("pipe.xyz")));
  options.paths = {folder_.PathOf("none.xyz")};
  EXPECT_THAT(IdentifyImport(*FindFormat("extxyz"), options, "mols"), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace packtrain::ingest
