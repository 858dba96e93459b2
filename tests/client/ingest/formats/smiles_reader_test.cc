#include "client/ingest/formats/smiles_reader.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/client/ingest/formats/read_molecules.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/test_data.h"

namespace packtrain::ingest {
namespace {

using ::testing::Contains;
using testing::CountMolecules;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MoleculeCounts;
using testing::MoleculeRecord;
using ::testing::Pair;
using ::testing::SizeIs;
using testing::StatusIs;
using testing::TestData;

class SmilesReaderTest : public testing::MoleculeReaderTest {
 protected:
  SmilesReaderTest() : MoleculeReaderTest("smiles", "mols.csv") {}

  MoleculeRecord ReadOne(std::string_view smiles, const FormatFlagValues& flags = {}) {
    const std::vector<MoleculeRecord> records = Read("smiles\n" + std::string(smiles) + "\n", flags);
    EXPECT_THAT(records, SizeIs(1));
    return records.front();
  }
};

TEST_F(SmilesReaderTest, BondsGiveEdgesBothWaysByReceiverThenSender) {
  const MoleculeRecord record = ReadOne("N#CC=O");
  EXPECT_THAT(record.z, ElementsAre(7, 6, 6, 8));
  EXPECT_THAT(record.edges, ElementsAre("1-0:2", "0-1:2", "2-1:0", "1-2:0", "3-2:1", "2-3:1"));
  EXPECT_THAT(record.unsanitized, ElementsAre(0));
  EXPECT_THAT(record.pos, IsEmpty());
  EXPECT_THAT(record.x, IsEmpty());
}

TEST_F(SmilesReaderTest, AromaticAndDativeBondsHaveTypesOfTheirOwn) {
  EXPECT_THAT(ReadOne("c1ccccc1").edges, Each(HasSubstr(":3")));
  EXPECT_THAT(ReadOne("N->[Cu]").edges, ElementsAre("1-0:4", "0-1:4"));
}

TEST_F(SmilesReaderTest, AtomWithoutBondsIsAGraphWithoutEdges) {
  const std::vector<MoleculeRecord> records = ReadSample("single_atom_dataset.csv");
  ASSERT_THAT(records, SizeIs(7));
  EXPECT_EQ(records[0].refused, "bad_smiles") << "[CL-] is no element";
  for (std::size_t k = 1; k < records.size(); ++k) {
    EXPECT_EQ(records[k].refused, "");
    EXPECT_THAT(records[k].z, SizeIs(1));
    EXPECT_THAT(records[k].edges, IsEmpty());
  }
  EXPECT_THAT(records[1].z, ElementsAre(35));
  EXPECT_THAT(records[1].labels, ElementsAre(Pair("score", "35")));
}

TEST_F(SmilesReaderTest, DummyAtomIsOfNoElement) {
  const MoleculeRecord record = ReadOne("*CC", {{"--features", "ogb"}});
  EXPECT_THAT(record.z, ElementsAre(0, 6, 6));
  EXPECT_EQ(record.x[0], 118);
}

TEST_F(SmilesReaderTest, HydrogensThatTheValenceImpliesAreLeftOut) {
  EXPECT_THAT(ReadOne("[H]C([H])([H])O").z, ElementsAre(6, 8));
  EXPECT_THAT(ReadOne("[2H]C").z, ElementsAre(1, 6));
  EXPECT_THAT(ReadOne("[H][H]").z, ElementsAre(1, 1));
}

TEST_F(SmilesReaderTest, HydrogensAreKeptOrAddedWhereAskedFor) {
  EXPECT_THAT(ReadOne("[H]CO", {{"--hydrogens", "keep"}}).z, ElementsAre(1, 6, 8));
  EXPECT_THAT(ReadOne("[H]CO", {{"--hydrogens", "add"}}).z, ElementsAre(1, 6, 8, 1, 1, 1));
  EXPECT_THAT(ReadOne("[H]CO", {{"--hydrogens", "remove"}}).z, ElementsAre(6, 8));
}

TEST_F(SmilesReaderTest, AddedHydrogensHaveFeaturesAndCoordinates) {
  const MoleculeRecord record =
      ReadOne("\"CO |(0,0,0;1.4,0,0.1)|\"", {{"--hydrogens", "add"}, {"--features", "ogb"}});
  EXPECT_THAT(record.z, ElementsAre(6, 8, 1, 1, 1, 1));
  EXPECT_THAT(record.x, SizeIs(6 * 9));
  ASSERT_THAT(record.pos, SizeIs(6 * 3));
  EXPECT_NE(record.pos[6], record.pos[9]);
}

TEST_F(SmilesReaderTest, CxsmilesCoordinatesBecomePositions) {
  const std::vector<MoleculeRecord> records = ReadSample("pcqm4mv2_sample.csv", {{"--hydrogens", "keep"}});
  ASSERT_THAT(records, SizeIs(5));
  EXPECT_EQ(records[0].pos.size(), 3 * records[0].z.size());
  EXPECT_THAT(std::vector<float>(records[0].pos.begin(), records[0].pos.begin() + 6),
              ElementsAre(FloatEq(6.4528f), FloatEq(-1.5789f), FloatEq(-1.2859f), FloatEq(5.789f),
                          FloatEq(-0.835f), FloatEq(-0.8455f)));
  EXPECT_THAT(records[0].labels, ElementsAre(Pair("homo", ::testing::Not(IsEmpty()))));
}

TEST_F(SmilesReaderTest, HydrogensThatAreLeftOutTakeTheirPositionsAlong) {
  const MoleculeRecord record = ReadSample("pcqm4mv2_sample.csv")[0];
  EXPECT_EQ(record.pos.size(), 3 * record.z.size());
  EXPECT_THAT(record.z, ::testing::Not(Contains(1)));
  EXPECT_FLOAT_EQ(record.pos[0], 5.789f);  // the second atom of the file
}

TEST_F(SmilesReaderTest, BrokenCxsmilesBlockIsRefused) {
  for (const char* smiles : {"\"CO |(0,0,0;1.4,x,0.1)|\"", "\"CO |(0,0,0)|\"", "\"CO |(0,0,0;1,0,0;2,0,0)|\"",
                             "\"CO |(0,0,0;1,0\""}) {
    EXPECT_EQ(ReadOne(smiles).refused, "bad_cxsmiles") << smiles;
  }
}

TEST_F(SmilesReaderTest, OddValenceIsStoredUnsanitizedAndRemarked) {
  const MoleculeRecord record = ReadOne("CN(C)(C)(C)C", {{"--features", "ogb"}});
  EXPECT_EQ(record.refused, "");
  EXPECT_EQ(record.remark, "unsanitized");
  EXPECT_THAT(record.unsanitized, ElementsAre(1));
  EXPECT_THAT(record.z, ElementsAre(6, 7, 6, 6, 6, 6));
  EXPECT_THAT(record.edges, SizeIs(10));
}

TEST_F(SmilesReaderTest, RingsWithoutAKekuleStructureAreStoredUnsanitized) {
  for (const char* hydrogens : {"keep", "add", "remove"}) {
    const MoleculeRecord record = ReadOne("c1cccc1[H]", {{"--hydrogens", hydrogens}, {"--features", "ogb"}});
    EXPECT_EQ(record.remark, "unsanitized") << hydrogens;
    EXPECT_THAT(record.edges, Contains("1-0:3")) << hydrogens;
  }
}

TEST_F(SmilesReaderTest, UnreadableSmilesIsRefusedByFileLineAndRecord) {
  const std::vector<MoleculeRecord> records = ReadSample("micro_ZINC_corrupt.csv", {{"--smiles", "SMILES1"}});
  ASSERT_THAT(records, SizeIs(11));
  EXPECT_EQ(records[0].refused, "");
  EXPECT_EQ(records[1].refused, "bad_smiles");
  EXPECT_THAT(records[1].message, HasSubstr("micro_ZINC_corrupt.csv:3: molecule 2: "));
  EXPECT_EQ(records[2].refused, "");
}

TEST_F(SmilesReaderTest, SmilesThatRdkitWouldMisreadAreRefused) {
  EXPECT_EQ(ReadOne("CC\xc3\xa9\x43\x43").refused, "not_ascii");
  EXPECT_EQ(ReadOne("\xe9\x43\x43").refused, "not_ascii");
  EXPECT_EQ(ReadOne("\"\"").refused, "no_nodes");
  EXPECT_EQ(ReadOne("C1CC").refused, "bad_smiles");
  EXPECT_EQ(ReadOne("C(C").refused, "bad_smiles");
}

TEST_F(SmilesReaderTest, LimitsOfAtomsAndLengthHold) {
  EXPECT_EQ(Read("smiles\nCCC\n", {}, {.max_atoms = 2})[0].refused, "too_many_atoms");
  EXPECT_EQ(Read("smiles\nCC\n", {{"--hydrogens", "add"}}, {.max_atoms = 7})[0].refused, "too_many_atoms");
  EXPECT_EQ(Read("smiles\nCC\n", {}, {.max_atoms = 2})[0].refused, "");
  EXPECT_EQ(ReadOne(std::string(100'000, 'C')).refused, "smiles_too_long");
}

// RDKit by itself needs minutes for this one.
TEST_F(SmilesReaderTest, LongChainIsReadFast) { EXPECT_THAT(ReadOne(std::string(8000, 'C')).z, SizeIs(8000)); }

TEST_F(SmilesReaderTest, OtherColumnsAreLabelsEmptyOnesToo) {
  const std::vector<MoleculeRecord> records = ReadSample("muv_sample.csv", {{"--id", "mol_id"}});
  ASSERT_THAT(records, SizeIs(10));
  EXPECT_EQ(records[0].id, "CID2999678");
  EXPECT_EQ(records[0].line, 2u);
  ASSERT_THAT(records[0].labels, SizeIs(17));
  EXPECT_THAT(records[0].labels[0], Pair("MUV-466", ""));
  EXPECT_THAT(records[0].labels[7], Pair("MUV-712", "0"));
}

TEST_F(SmilesReaderTest, BlanksAroundSmilesAndQuotesWithCommasAreRead) {
  const std::vector<MoleculeRecord> records = ReadSample("esol_sample.csv", {{"--id", "Compound ID"}});
  ASSERT_THAT(records, SizeIs(5));
  EXPECT_EQ(records[0].id, "Amigdalin");
  EXPECT_EQ(records[0].refused, "");
  EXPECT_EQ(Read("id,smiles\n\"1,2-ethanediol\",OCCO\n", {{"--id", "id"}})[0].id, "1,2-ethanediol");
}

TEST_F(SmilesReaderTest, FileWithoutAHeaderBeginsWithItsFirstMolecule) {
  const std::vector<MoleculeRecord> records = ReadSample("qm9_sample.txt");
  ASSERT_THAT(records, SizeIs(5));
  EXPECT_EQ(records[0].line, 1u);
  EXPECT_THAT(records[0].labels, IsEmpty());
  EXPECT_EQ(records[0].title, "");
}

TEST_F(SmilesReaderTest, TwoColumnsApartByATabAreASmilesAndALabel) {
  const std::vector<MoleculeRecord> records = ReadSample("pcs_sample.csv");
  ASSERT_THAT(records, SizeIs(7));
  EXPECT_THAT(records[0].labels, ElementsAre(Pair("column2", "CCOC(=O)c1cc(-c2ccccn2)c(=O)n2ccccc12")));
  EXPECT_THAT(records[3].z, Contains(0));
}

TEST_F(SmilesReaderTest, LineOfWordsIsASmilesAndAName) {
  const std::vector<MoleculeRecord> records = Read("CCO ethyl alcohol\nC\nCO |(0,0,0;1,0,0)| methanol\n");
  ASSERT_THAT(records, SizeIs(3));
  EXPECT_EQ(records[0].title, "ethyl");
  EXPECT_THAT(records[0].labels, ElementsAre(Pair("column2", "ethyl alcohol")));
  EXPECT_THAT(records[1].labels, ElementsAre(Pair("column2", "")));
  EXPECT_EQ(records[2].title, "methanol");
  EXPECT_THAT(records[2].pos, SizeIs(6));
}

TEST_F(SmilesReaderTest, NamesBehindASmilesMayHaveCommas) {
  const std::vector<MoleculeRecord> records = Read("OCCO 1,2-ethanediol\nC methane\n");
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[0].title, "1,2-ethanediol");
  EXPECT_THAT(records[0].z, SizeIs(4));
  EXPECT_THAT(Read("N atoms,smiles\n3,CCO\n")[0].z, SizeIs(3));
}

TEST_F(SmilesReaderTest, LinesOfWordsMayHaveAHeader) {
  const std::vector<MoleculeRecord> records =
      Read("SMILES Name logP\nCCO ethanol -0.3\nC methane\n", {{"--id", "Name"}});
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[0].id, "ethanol");
  EXPECT_THAT(records[0].labels, ElementsAre(Pair("logP", "-0.3")));
  EXPECT_EQ(records[1].refused, "short_row");
}

TEST_F(SmilesReaderTest, ColumnsMayBeGivenByNumberWithoutAHeader) {
  const std::vector<MoleculeRecord> records =
      Read("7\tCCO\t1.5\n8\tC\t2\n", {{"--smiles", "2"}, {"--id", "1"}});
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[0].id, "7");
  EXPECT_THAT(records[0].labels, ElementsAre(Pair("column3", "1.5")));
}

TEST_F(SmilesReaderTest, ColumnIsFoundByItsName) {
  EXPECT_THAT(Read("id,Canonical_SMILES\n1,CC\n")[0].z, SizeIs(2));
  EXPECT_THAT(Read("iso_smiles,SMILES\nC,CC\n")[0].z, SizeIs(2));
  EXPECT_THAT(Read("mol,value\nCCC,1\n", {{"--smiles", "mol"}})[0].z, SizeIs(3));
}

TEST_F(SmilesReaderTest, FileWithoutAnyKnownColumnIsRefusedByTheFlag) {
  EXPECT_EQ(RefusalOf("mol,value\nCCC,1\n"), "no_column");
  EXPECT_THAT(Read("mol,value\nCCC,1\n")[0].message, HasSubstr("mols.csv:1: molecule 1: "));
  EXPECT_THAT(Read("mol,value\nCCC,1\n")[0].message, HasSubstr("--smiles COLUMN"));
  EXPECT_EQ(RefusalOf("smiles\nC\n", {{"--smiles", "mol"}}), "no_column");
  EXPECT_EQ(RefusalOf("smiles\nC\n", {{"--id", "mol"}}), "no_column");
  EXPECT_EQ(RefusalOf("smiles1,smiles2\nC,C\n"), "ambiguous_column");
  EXPECT_EQ(RefusalOf("smiles,a,a\nC,1,2\n"), "column_twice");
}

TEST_F(SmilesReaderTest, RefusalShowsTheSmiles) {
  EXPECT_THAT(Read("C x\nC(N a\n")[1].message,
              HasSubstr("mols.csv:2: molecule 2 (a): RDKit reads no molecule from it: 'C(N'"));
  const std::string shown = absl::StrCat("'", std::string(40, 'C'), "...'");
  EXPECT_THAT(Read(absl::StrCat("smiles\n", std::string(50, 'C'), "(\n"))[0].message, HasSubstr(shown));
}

TEST_F(SmilesReaderTest, RowWithoutTheIdThatIsAskedForIsRefused) {
  const std::vector<MoleculeRecord> records = Read("name,smiles\n,C\na,CC\n", {{"--id", "name"}});
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[0].refused, "no_id");
  EXPECT_THAT(records[0].message, HasSubstr("the cell of column 'name' (--id) is empty"));
  EXPECT_EQ(records[1].id, "a");
}

TEST_F(SmilesReaderTest, OpenQuoteSaysThatNothingBehindItIsRead) {
  const std::vector<MoleculeRecord> records = Read("smiles,a\nC,1\nCC,\"2\nCCC,3\nCCCC,4\n");
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[1].refused, "bad_csv");
  EXPECT_THAT(records[1].message,
              HasSubstr("mols.csv:3: a quoted field does not end; the row reaches to line 5; nothing "
                        "is read from there on"));
}

TEST_F(SmilesReaderTest, RowsOfOtherLengthsAreRefused) {
  const std::vector<MoleculeRecord> records = Read("smiles,a,b\nC,1\nCC,1,2\nC,1,2,3\n");
  ASSERT_THAT(records, SizeIs(3));
  EXPECT_EQ(records[0].refused, "short_row");
  EXPECT_EQ(records[1].refused, "");
  EXPECT_EQ(records[2].refused, "long_row");
}

TEST_F(SmilesReaderTest, FileWithoutARowIsEmpty) {
  EXPECT_EQ(RefusalOf(""), "empty_file");
  EXPECT_EQ(RefusalOf("smiles,a\n"), "empty_file");
  EXPECT_EQ(ReadSample("empty.smi")[0].refused, "empty_file");
}

TEST_F(SmilesReaderTest, OtherValuesOfFlagsAreAnError) {
  for (const auto& [flag, value] : FormatFlagValues{{"--hydrogens", "some"}, {"--features", "rdkit"}}) {
    ReadOptions options;
    options.flags = {{flag, value}};
    auto file = ByteSource::Open(TestData("smiles/qm9_sample.txt"), 1000);
    EXPECT_THAT(OpenSmiles(*std::move(file), options).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(flag)));
  }
}

// The files of $PACKTRAIN_DATA, whose counts stats.json has, by another program, but for how many are
// sanitised.
class WholeSmilesFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* data = std::getenv("PACKTRAIN_DATA");
    if (data == nullptr) GTEST_SKIP() << "$PACKTRAIN_DATA is unset";
    folder_ = data;
  }
  MoleculeCounts Count(const std::string& file, const FormatFlagValues& flags = {}) const {
    MoleculeCounts counts = CountMolecules("smiles", folder_ + "/" + file, flags);
    counts.unsanitized = 0;
    return counts;
  }

  std::string folder_;
};

TEST_F(WholeSmilesFilesTest, HaveTheCountsOfAnotherProgram) {
  EXPECT_EQ(Count("molecules/HIV.csv.gz"), (MoleculeCounts{41'913, 1'069'968, 2'303'884, 0, 0}));
  EXPECT_EQ(Count("molecules/muv.csv.gz"), (MoleculeCounts{93'127, 2'256'729, 4'894'162, 0, 0}));
  EXPECT_EQ(Count("molecules/100kPCS_fragment.csv.gz"), (MoleculeCounts{99'991, 2'430'595, 5'208'404, 0, 0}));
  EXPECT_EQ(Count("molecules/tox21.csv.gz"), (MoleculeCounts{8'014, 148'350, 308'220, 0, 0}));
  EXPECT_EQ(Count("molecules/lipo.csv.gz"), (MoleculeCounts{4'200, 113'568, 247'798, 0, 0}));
  EXPECT_EQ(Count("molecules/ESOL_delaney-processed.csv"), (MoleculeCounts{1'128, 14'991, 30'856, 0, 0}));
  EXPECT_EQ(Count("qm9/smiles/qm9_smiles.txt.gz"), (MoleculeCounts{133'885, 1'177'631, 2'517'932, 0, 0}));
  EXPECT_EQ(Count("pcqm4mv2/pcqm4mv2-2k.csv.gz", {{"--hydrogens", "keep"}}),
            (MoleculeCounts{1'999, 57'888, 118'000, 0, 0}));
}

}  // namespace
}  // namespace packtrain::ingest
