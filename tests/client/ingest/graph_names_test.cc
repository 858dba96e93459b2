#include "client/ingest/graph_names.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace packtrain::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A file and the titles of its records, in their order.
struct TitledFile {
  std::string path;
  std::vector<std::string> titles;
};

std::vector<std::string> NameOnce(GraphNames& names, const std::vector<TitledFile>& files) {
  std::vector<std::string> ids;
  names.Restart();
  for (std::size_t file = 0; file < files.size(); ++file) {
    const auto input = std::make_shared<InputFile>(InputFile{files[file].path, file + 1, {}});
    for (std::size_t k = 0; k < files[file].titles.size(); ++k) {
      ReadRecord record;
      record.file = input;
      record.graph.record = k + 1;
      record.graph.title = files[file].titles[k];
      record.is_only = files[file].titles.size() == 1;
      names.Name(&record);
      ids.push_back(record.graph.id);
    }
  }
  return ids;
}

// Ids once no name repeats, where `known` are the files known beforehand.
std::vector<std::string> NamesOf(const std::vector<TitledFile>& files, const std::vector<std::string>& known) {
  GraphNames names(known);
  std::vector<std::string> ids = NameOnce(names, files);
  for (int reading = 0; reading < 10 && !names.repeated().empty(); ++reading) ids = NameOnce(names, files);
  EXPECT_EQ(names.repeated(), "");
  return ids;
}

// As of files that are all known, and as of members of an archive, which are not.
std::vector<std::string> NamesOf(const std::vector<TitledFile>& files) {
  std::vector<std::string> known;
  for (const TitledFile& file : files) known.push_back(file.path);
  std::vector<std::string> ids = NamesOf(files, known);
  EXPECT_EQ(NamesOf(files, {}), ids);
  return ids;
}

TEST(GraphNamesTest, AGraphAloneInItsFileHasTheStemOfThatFile) {
  EXPECT_THAT(NamesOf({{"raw/mol_1.xyz", {"gdb"}}, {"raw/mol_2.xyz.gz", {"gdb"}}}),
              ElementsAre("mol_1", "mol_2"));
}

TEST(GraphNamesTest, TitlesThatAreNoNumbersAndUniqueInTheirFileAreIds) {
  EXPECT_THAT(NamesOf({{"m.xyz", {"water", "", "-76.4", "ethane"}}}),
              ElementsAre("water", "m:2", "m:3", "ethane"));
}

TEST(GraphNamesTest, ATitleThatRepeatsNamesNoneOfItsGraphs) {
  EXPECT_THAT(NamesOf({{"m.xyz", {"Frame", "apex", "Frame", "Frame"}}}),
              ElementsAre("m:1", "apex", "m:3", "m:4"));
}

TEST(GraphNamesTest, TitlesOfOtherFilesDoNotMatter) {
  EXPECT_THAT(NamesOf({{"m.xyz", {"a", "b"}}, {"n.xyz", {"a", "c"}}}), ElementsAre("a", "b", "a", "c"));
}

TEST(GraphNamesTest, EqualStemsGetAsManyFoldersAsTellThemApart) {
  EXPECT_THAT(NamesOf({{"r/a/run/mol.xyz", {""}}, {"r/b/run/mol.xyz", {"", ""}}, {"r/b/run/other.xyz", {""}}}),
              ElementsAre("a/run/mol", "b/run/mol:1", "b/run/mol:2", "other"));
  EXPECT_THAT(NamesOf({{"mol.xyz", {""}}, {"a/mol.xyz", {""}}}), ElementsAre("mol", "a/mol"));
  EXPECT_THAT(NamesOf({{"a/mol", {""}}, {"mol", {""}}}), ElementsAre("a/mol", "mol"));
}

TEST(GraphNamesTest, EqualPathsButForTheirEndingsAreWhole) {
  EXPECT_THAT(NamesOf({{"a/mol.xyz", {""}}, {"a/mol.xyz.gz", {""}}}), ElementsAre("a/mol.xyz", "a/mol.xyz.gz"));
}

TEST(GraphNamesTest, AFileGivenTwiceIsLeftToTheRuleForDuplicates) {
  EXPECT_THAT(NamesOf({{"a/mol.xyz", {""}}, {"a/mol.xyz", {""}}}), ElementsAre("a/mol.xyz", "a/mol.xyz"));
}

TEST(GraphNamesTest, NamesDoNotDependOnTheOrderOfFilesAndRecords) {
  EXPECT_THAT(NamesOf({{"b/mol.xyz", {""}}, {"m.xyz", {"Frame", "Frame", "apex"}}, {"a/mol.xyz", {""}}}),
              ElementsAre("b/mol", "m:1", "m:2", "apex", "a/mol"));
  EXPECT_THAT(NamesOf({{"a/mol.xyz", {""}}, {"m.xyz", {"apex", "Frame", "Frame"}}, {"b/mol.xyz", {""}}}),
              ElementsAre("a/mol", "apex", "m:2", "m:3", "b/mol"));
}

TEST(GraphNamesTest, AnIdOfTheSourceStays) {
  GraphNames names({});
  ReadRecord record;
  record.file = std::make_shared<InputFile>(InputFile{"m.xyz", 1, {}});
  record.graph.id = "7";
  record.graph.title = "water";
  record.has_id = record.is_only = true;
  names.Name(&record);
  EXPECT_EQ(record.graph.id, "7");
  EXPECT_THAT(names.repeated(), IsEmpty());
}

}  // namespace
}  // namespace packtrain::ingest
