#include "client/cli/dataset/import_flags.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"

namespace packtrain::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

absl::StatusOr<std::unique_ptr<ingest::GraphReader>> OpenNothing(std::unique_ptr<ingest::ByteSource>,
                                                                 const ingest::ReadOptions&) {
  return absl::UnimplementedError("no file is opened here");
}
absl::StatusOr<std::unique_ptr<ingest::BlockSource>> OpenNoBlocks(const ingest::ImportOptions&) {
  return absl::UnimplementedError("no file is opened here");
}

const std::vector<ingest::Format> kFormats = {
    {.name = "sdf",
     .help = "molfiles",
     .extensions = {".sdf"},
     .flags = {{"--hydrogens", "keep|add|remove", "What becomes of hydrogens"}},
     .may_bring_edges = true,
     .open_graphs = OpenNothing},
    {.name = "atoms", .help = "positions", .extensions = {".xyz"}, .open_graphs = OpenNothing},
    {.name = "smiles",
     .help = "tables of SMILES",
     .extensions = {".csv", ".smi"},
     .flags = {{"--smiles", "COLUMN", "Column of the SMILES"},
               {"--hydrogens", "keep|add|remove", "What becomes of hydrogens"}},
     .open_graphs = OpenNothing},
    {.name = "whole", .help = "whole data sets", .open_blocks = OpenNoBlocks},
};

class ImportFlagsTest : public ::testing::Test {
 protected:
  ImportFlagsTest() { AddImportFlags(app_, kFormats, flags_); }

  // What is wrong with the line; empty: nothing.
  std::string Parse(std::vector<std::string> words) {
    std::reverse(words.begin(), words.end());
    try {
      app_.parse(std::move(words));
    } catch (const CLI::ParseError& error) {
      return error.what();
    }
    for (const ingest::Format& format : kFormats) {
      if (format.name == flags_.format) return CheckImportFlags(app_, format, kFormats, flags_);
    }
    return "no such format";
  }

  CLI::App app_{"test"};
  ImportFlags flags_;
};

TEST_F(ImportFlagsTest, HelpTellsOfEachFormatAndOfEachFlagOnce) {
  const std::string help = app_.help();
  EXPECT_THAT(help,
              HasSubstr("sdf: molfiles; atoms: positions; smiles: tables of SMILES; whole: whole data sets"));
  EXPECT_THAT(help, HasSubstr("folders or tar and zip archives of *.sdf or *.xyz or *.csv or *.smi files"));
  EXPECT_THAT(help, HasSubstr("--smiles COLUMN"));
  EXPECT_EQ(help.find("--hydrogens"), help.rfind("--hydrogens"));
}

TEST_F(ImportFlagsTest, FlagOfAFormatReachesItsReader) {
  ASSERT_THAT(Parse({"smiles", "a.csv", "--name", "a", "--smiles", "mol", "--hydrogens", "add"}), IsEmpty());
  EXPECT_THAT(ImportOptionsOf(flags_, {}).read.flags,
              ElementsAre(Pair("--hydrogens", "add"), Pair("--smiles", "mol")));
}

TEST_F(ImportFlagsTest, FlagOfAnotherFormatHasNoMeaning) {
  EXPECT_EQ(Parse({"sdf", "a.sdf", "--name", "a", "--smiles", "mol"}),
            "--smiles has no meaning for files of format sdf");
}

TEST_F(ImportFlagsTest, FlagOfWordsTakesNoOthers) {
  EXPECT_THAT(Parse({"sdf", "a.sdf", "--name", "a", "--hydrogens", "some"}), HasSubstr("--hydrogens"));
}

TEST_F(ImportFlagsTest, UnknownFormatIsRefusedWithThoseThatAre) {
  EXPECT_THAT(Parse({"pdb", "a.pdb", "--name", "a"}), HasSubstr("{sdf,atoms,smiles,whole}"));
}

TEST_F(ImportFlagsTest, NumberingReachesTheImport) {
  ASSERT_THAT(Parse({"atoms", "a.xyz", "--name", "a", "--edges", "knn:3", "--renumber", "rcm"}), IsEmpty());
  EXPECT_EQ(ImportOptionsOf(flags_, {}).renumber, v1::RENUMBERING_RCM);
}

TEST_F(ImportFlagsTest, NodesAreNumberedAsReadWhereNothingIsSaid) {
  ASSERT_THAT(Parse({"sdf", "a.sdf", "--name", "a"}), IsEmpty());
  EXPECT_EQ(ImportOptionsOf(flags_, {}).renumber, v1::RENUMBERING_UNSPECIFIED);
}

TEST_F(ImportFlagsTest, NumberingTakesNoOtherWord) {
  EXPECT_THAT(Parse({"sdf", "a.sdf", "--name", "a", "--renumber", "amd"}), HasSubstr("--renumber"));
}

TEST_F(ImportFlagsTest, NumberingNeedsEdgesThatAreStored) {
  EXPECT_THAT(Parse({"sdf", "a.sdf", "--name", "a", "--renumber", "rcm"}), IsEmpty());
  EXPECT_THAT(Parse({"sdf", "a.sdf", "--name", "a", "--renumber", "rcm", "--edges", "full"}),
              HasSubstr("--renumber needs edges that are stored"));
}

TEST_F(ImportFlagsTest, NumberingNeedsEdgesToBeNamedWhereRecordsBringNone) {
  EXPECT_THAT(Parse({"atoms", "a.xyz", "--renumber", "rcm", "-o", "a.packtrain"}),
              HasSubstr("--edges radius:R and --edges knn:K"));
}

TEST_F(ImportFlagsTest, WholeDataSetsAreNotRenumbered) {
  EXPECT_EQ(Parse({"whole", "a", "--renumber", "rcm"}), "--renumber has no meaning for files of format whole");
}

TEST_F(ImportFlagsTest, AWholeDataSetHasItsOwnNameUnlessOneIsGiven) {
  EXPECT_THAT(Parse({"whole", "a"}), IsEmpty());
  EXPECT_THAT(Parse({"whole", "a", "--name", "b"}), IsEmpty());
}

TEST_F(ImportFlagsTest, WholeDataSetsTakeNoOtherFlag) {
  EXPECT_EQ(Parse({"whole", "a", "--limit", "3"}), "--limit has no meaning for files of format whole");
}

TEST_F(ImportFlagsTest, SeveralPartsNeedAName) {
  EXPECT_EQ(Parse({"whole", "a", "b"}), "--name is required");
  EXPECT_THAT(Parse({"whole", "a", "b", "--name", "c", "--split-permille", "800,100,100"}), IsEmpty());
}

TEST_F(ImportFlagsTest, StandardInputIsReadOnce) {
  EXPECT_THAT(Parse({"atoms", "-", "--name", "a"}), IsEmpty());
  EXPECT_THAT(Parse({"atoms", "-", "b.xyz", "-", "--name", "a"}), HasSubstr("standard input"));
  EXPECT_THAT(Parse({"atoms", "-", "/dev/stdin", "-o", "a.packtrain"}), HasSubstr("standard input"));
  EXPECT_THAT(Parse({"atoms", "-", "--name", "a", "--join", "/dev/stdin"}), HasSubstr("standard input"));
}

TEST_F(ImportFlagsTest, ATargetHasANameOfUpTo256Bytes) {
  for (const std::string& targets : {std::string(" "), std::string(257, 'k'), std::string("\xff")}) {
    EXPECT_THAT(Parse({"atoms", "a.xyz", "--name", "a", "--targets", targets}), HasSubstr("1 to 256 bytes"));
  }
  EXPECT_THAT(Parse({"atoms", "a.xyz", "--name", "a", "--targets", std::string(256, 'k')}), IsEmpty());
}

TEST_F(ImportFlagsTest, LimitsAndPoliciesReachTheImport) {
  ASSERT_THAT(Parse({"sdf", "a.sdf", "--name", "a", "--max-atoms", "7", "--on-error", "skip", "--duplicate-ids",
                     "number", "--missing-target", "nan", "--split-permille", "500,300,200", "--split-seed",
                     "9", "--targets", "gap, U0"}),
              IsEmpty());
  const ingest::ImportOptions options = ImportOptionsOf(flags_, {});
  EXPECT_EQ(options.read.limits.max_atoms, 7u);
  EXPECT_TRUE(options.skip_refused && options.number_duplicates && options.missing_target_nan);
  EXPECT_THAT(options.random_split->permille, ElementsAre(500, 300, 200));
  EXPECT_EQ(options.random_split->seed, 9u);
  EXPECT_THAT(options.targets, ElementsAre("gap", "U0"));
  EXPECT_THAT(options.edges, IsEmpty());
}

}  // namespace
}  // namespace packtrain::cli
