// Nodes, features and bonds of real molecules, beside those that the ogb package's function and RDKit's Python
// package gave (tests/data/smiles/ogb_expected.py).
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tests/client/ingest/formats/read_molecules.h"
#include "tests/testing/test_data.h"

namespace packtrain::ingest {
namespace {

using testing::MoleculeRecord;
using testing::ReadMolecules;

constexpr std::size_t kFeatures = 9;

// A line of ogb_expected.txt.
struct ExpectedMolecule {
  bool sanitized = true;
  std::string atoms;               // nine integers an atom
  std::vector<std::string> edges;  // both directions of each bond, sorted
};

std::vector<std::string> BothWays(const std::string& bonds) {
  std::vector<std::string> edges;
  if (bonds == "-") return edges;
  for (const std::string& bond : std::vector<std::string>(absl::StrSplit(bonds, ';'))) {
    const std::vector<std::string> parts = absl::StrSplit(bond, absl::ByAnyChar("-:"));
    edges.push_back(absl::StrCat(parts[0], "-", parts[1], ":", parts[2]));
    edges.push_back(absl::StrCat(parts[1], "-", parts[0], ":", parts[2]));
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

std::vector<ExpectedMolecule> ExpectedOf(const std::string& file) {
  std::ifstream lines(testing::TestData("smiles/ogb_expected.txt"));
  std::vector<ExpectedMolecule> molecules;
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words[0] == file) molecules.push_back({words[2] == "sanitized", words[3], BothWays(words[4])});
  }
  return molecules;
}

std::string AtomsOf(const MoleculeRecord& record) {
  std::vector<std::string> atoms;
  for (std::size_t k = 0; k + kFeatures <= record.x.size(); k += kFeatures) {
    atoms.push_back(absl::StrJoin(record.x.begin() + k, record.x.begin() + k + kFeatures, ","));
  }
  return absl::StrJoin(atoms, ";");
}

void CheckFile(std::string_view format, const std::string& folder, const std::string& file) {
  const std::vector<ExpectedMolecule> expected = ExpectedOf(file);
  const std::vector<MoleculeRecord> records =
      ReadMolecules(format, testing::TestData(absl::StrCat(folder, "/", file)), {{"--features", "ogb"}});
  ASSERT_FALSE(expected.empty());
  ASSERT_EQ(records.size(), expected.size());
  for (std::size_t k = 0; k < records.size(); ++k) {
    SCOPED_TRACE(absl::StrCat(file, ", record ", k + 1));
    EXPECT_EQ(records[k].refused, "");
    EXPECT_EQ(AtomsOf(records[k]), expected[k].atoms);
    std::vector<std::string> edges = records[k].edges;
    std::sort(edges.begin(), edges.end());
    EXPECT_EQ(edges, expected[k].edges);
    EXPECT_EQ(records[k].unsanitized,
              std::vector<std::uint8_t>{expected[k].sanitized ? std::uint8_t{0} : std::uint8_t{1}});
    EXPECT_EQ(records[k].remark, expected[k].sanitized ? "" : "unsanitized");
  }
}

TEST(OgbExpectedTest, OddSmilesHaveTheFeaturesThatTheOgbPackageGives) {
  CheckFile("smiles", "smiles", "hiv_sample.csv");
}

TEST(OgbExpectedTest, ChiralityOfCxsmilesComesFromTheCoordinates) {
  CheckFile("smiles", "smiles", "pcqm4mv2_sample.csv");
}

TEST(OgbExpectedTest, MolfilesHaveTheFeaturesThatTheOgbPackageGives) {
  CheckFile("sdf", "sdf", "gdb_sample.sdf");
}

}  // namespace
}  // namespace packtrain::ingest
