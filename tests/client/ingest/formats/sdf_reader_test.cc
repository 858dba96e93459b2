#include "client/ingest/formats/sdf_reader.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/client/ingest/formats/read_molecules.h"

namespace packtrain::ingest {
namespace {

using testing::CountMolecules;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MoleculeCounts;
using testing::MoleculeRecord;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

// Hydrogen cyanide, in both versions of the format.
constexpr char kV2000[] =
    "hcn of a test\n  made\n\n  3  2  0  0  0  0  0  0  0  0999 V2000\n"
    "    0.0000    0.0000    0.5000 C   0  0\n    0.0000    0.0000    1.6500 N   0  0\n"
    "    0.0000    0.0000   -0.5700 H   0  0\n  1  2  3\n  1  3  1\nM  END\n";
constexpr char kV3000[] =
    "hcn3\n  made\n\n  0  0  0     0  0            999 V3000\nM  V30 BEGIN CTAB\nM  V30 COUNTS 3 2 0 0 0\n"
    "M  V30 BEGIN ATOM\nM  V30 1 C 0 0 0.5 0\nM  V30 2 N 0 0 1.65 0\nM  V30 3 H 0 0 -0.57 0\nM  V30 END ATOM\n"
    "M  V30 BEGIN BOND\nM  V30 1 3 1 2\nM  V30 2 1 1 3\nM  V30 END BOND\nM  V30 END CTAB\nM  END\n";

class SdfReaderTest : public testing::MoleculeReaderTest {
 protected:
  SdfReaderTest() : MoleculeReaderTest("sdf", "mols.sdf") {}

  // The labels of a molecule with these lines behind it.
  std::vector<std::pair<std::string, std::string>> LabelsOf(std::string_view lines) {
    const std::vector<MoleculeRecord> records = Read(absl::StrCat(kV2000, std::string(lines), "$$$$\n"));
    return records.size() == 1 && records[0].refused.empty() ? records[0].labels
                                                             : decltype(records[0].labels)();
  }
};

TEST_F(SdfReaderTest, BothVersionsOfMolfilesMixInAFile) {
  const std::vector<MoleculeRecord> records = Read(absl::StrCat(kV2000, "$$$$\n", kV3000, "$$$$\n", kV2000));
  ASSERT_THAT(records, SizeIs(3));
  for (const MoleculeRecord& record : records) {
    EXPECT_EQ(record.refused, "") << record.message;
    EXPECT_THAT(record.z, ElementsAre(6, 7, 1));
    EXPECT_THAT(record.edges, ElementsAre("1-0:2", "2-0:0", "0-1:2", "0-2:0"));
    EXPECT_THAT(record.pos, ElementsAre(0, 0, FloatEq(0.5f), 0, 0, FloatEq(1.65f), 0, 0, FloatEq(-0.57f)));
    EXPECT_THAT(record.unsanitized, ElementsAre(0));
  }
  EXPECT_EQ(records[0].title, "hcn");
  EXPECT_EQ(records[1].title, "hcn3");
  EXPECT_EQ(records[1].line, 12u);
}

TEST_F(SdfReaderTest, HydrogensAreLeftOutOrAddedWhereAskedFor) {
  EXPECT_THAT(Read(kV2000, {{"--hydrogens", "remove"}})[0].z, ElementsAre(6, 7));
  EXPECT_THAT(Read(kV2000, {{"--hydrogens", "add"}})[0].z, ElementsAre(6, 7, 1));
  const MoleculeRecord added = ReadSample("missingCR.sdf", {{"--hydrogens", "add"}, {"--features", "ogb"}})[0];
  EXPECT_THAT(added.z, ElementsAre(6, 1, 1, 1, 1));
  EXPECT_THAT(added.pos, SizeIs(15));
  EXPECT_THAT(added.x, SizeIs(45));
}

TEST_F(SdfReaderTest, MoleculesThatRdkitDoesNotSanitizeAreStoredAndRemarked) {
  const std::vector<MoleculeRecord> records = ReadSample("gdb_sample.sdf");
  std::vector<std::string> remarks;
  for (const MoleculeRecord& record : records) remarks.push_back(record.remark);
  EXPECT_THAT(remarks, ElementsAre("", "", "", "", "unsanitized", "unsanitized"));
  EXPECT_EQ(ReadSample("sdErrors2.sdf")[0].remark, "unsanitized");
  EXPECT_THAT(ReadSample("sdErrors2.sdf")[0].labels, ElementsAre(Pair("ID", "Lig2")));
}

TEST_F(SdfReaderTest, CountsThatAreTooHighAreRefused) {
  for (const char* place : {"sdErrors3.sdf:12", "sdErrors4.sdf:18"}) {
    const std::string file = std::string(place).substr(0, 13);
    const std::vector<MoleculeRecord> records = ReadSample(file);
    ASSERT_THAT(records, SizeIs(1)) << file;
    EXPECT_EQ(records[0].refused, "bad_molfile") << file;
    EXPECT_THAT(records[0].message, HasSubstr(absl::StrCat(place, ": molecule 1 (Bad): "))) << file;
  }
}

TEST_F(SdfReaderTest, CountsThatNoFileCouldHoldAreRefusedBeforeRoomIsMade) {
  const std::string announced = absl::StrReplaceAll(kV3000, {{"COUNTS 3 2", "COUNTS 4000000000 2"}});
  EXPECT_EQ(RefusalOf(announced), "bad_molfile");
  EXPECT_EQ(RefusalOf(absl::StrReplaceAll(kV3000, {{"COUNTS 3 2", "COUNTS 3 4000000000"}})), "bad_molfile");
}

TEST_F(SdfReaderTest, MoleculeWithoutAtomsIsRefused) {
  const std::vector<MoleculeRecord> records = ReadSample("Issue3482695.sdf");
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].refused, "no_nodes");
}

TEST_F(SdfReaderTest, DataItemWithoutANameIsRefused) {
  EXPECT_EQ(ReadSample("sdErrors1.sdf")[0].refused, "bad_property");
  EXPECT_THAT(ReadSample("sdErrors1.sdf")[0].message,
              HasSubstr("sdErrors1.sdf:15: molecule 1 (Bad): the data"));
}

TEST_F(SdfReaderTest, LastRecordNeedsNoEnd) {
  const std::vector<MoleculeRecord> records = ReadSample("missingCR.sdf");
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_THAT(records[0].z, ElementsAre(6));
  EXPECT_THAT(records[0].labels, ElementsAre(Pair("test", "OK")));
}

TEST_F(SdfReaderTest, ItemWithoutAValueIsEmptyAndBlankRecordIsPassedOver) {
  const std::vector<MoleculeRecord> records = ReadSample("O2.sdf");
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_THAT(records[0].z, ElementsAre(8, 8));
  EXPECT_THAT(records[0].edges, ElementsAre("1-0:1", "0-1:1"));
  EXPECT_THAT(records[0].labels, ElementsAre(Pair("price", "")));
}

TEST_F(SdfReaderTest, LinesToBeSkippedMayHoldTheEndOfARecord) {
  const std::vector<MoleculeRecord> records = ReadSample("SkipLines.sdf");
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_THAT(records[0].z, ElementsAre(6));
  EXPECT_THAT(records[0].labels, ElementsAre(Pair("prop1", "value")));
}

TEST_F(SdfReaderTest, LinesBehindThoseToBeSkippedAreCountedAsInTheFile) {
  const std::string skipping = absl::StrReplaceAll(kV2000, {{"M  END\n", "S  SKP  2\n$$$$\nx\nM  END\n"}});
  const auto line = [](std::string_view text, std::string_view part) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(text.find(part));
    return std::to_string(std::count(text.begin(), end, '\n') + 1);
  };
  const std::string bad = absl::StrReplaceAll(skipping, {{"M  END\n", "M  END\n>  <ID\nx\n\n"}});
  EXPECT_THAT(Read(bad)[0].message, HasSubstr(".sdf:" + line(bad, ">  <ID") + ": molecule 1"));
}

TEST_F(SdfReaderTest, ByteOrderMarkIsNoTitle) {
  const std::vector<MoleculeRecord> records = ReadSample("chiral_flag_bom.mol", {{"--features", "ogb"}});
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(records[0].refused, "");
  EXPECT_EQ(records[0].title, "");
  EXPECT_THAT(records[0].z, ElementsAre(6, 6, 9, 35, 17));
  EXPECT_NE(records[0].x[1], 0);  // the first atom is chiral
}

TEST_F(SdfReaderTest, FileOfBlankLinesIsEmpty) {
  EXPECT_EQ(ReadSample("empty.sdf")[0].refused, "empty_file");
  EXPECT_EQ(RefusalOf(""), "empty_file");
}

TEST_F(SdfReaderTest, IdComesFromAnItem) {
  const std::vector<MoleculeRecord> records = ReadSample("sdErrors2.sdf", {{"--id", "ID"}});
  EXPECT_EQ(records[0].id, "Lig2");
  EXPECT_THAT(records[0].labels, IsEmpty());
}

TEST_F(SdfReaderTest, RecordWithoutTheIdThatIsAskedForIsRefused) {
  const std::vector<MoleculeRecord> records =
      Read(absl::StrCat(kV2000, "> <ID>\na\n\n$$$$\n", kV2000, "> <other>\nb\n\n$$$$\n"), {{"--id", "ID"}});
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[0].id, "a");
  EXPECT_EQ(records[1].refused, "no_id");
  EXPECT_THAT(records[1].message, HasSubstr("no data item 'ID' (--id) with a text, but other"));
}

TEST_F(SdfReaderTest, MissingEndOfARecordHidesNoMolecule) {
  const std::vector<MoleculeRecord> records =
      Read(absl::StrCat(kV2000, "> <a>\n1\n\n", kV2000, "$$$$\n", kV2000));
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[0].refused, "missing_record_end");
  EXPECT_THAT(records[0].message, HasSubstr("in the record that begins on line 1; is a line $$$$ missing"));
  EXPECT_EQ(records[1].refused, "");
}

TEST_F(SdfReaderTest, LineThatIsWrongIsThatOfTheFile) {
  const std::string bad = absl::StrReplaceAll(kV2000, {{"  3  2  0", "  4  2  0"}});
  const std::vector<MoleculeRecord> records = Read(absl::StrCat(kV2000, "$$$$\n", bad));
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[1].refused, "bad_molfile");
  EXPECT_THAT(records[1].message,
              HasSubstr("mols.sdf:19: molecule 2 (hcn): RDKit: Atom line too short: '  1  2  3', "
                        "in 'hcn of a test'"));
  EXPECT_THAT(records[1].message, Not(HasSubstr(" line 8")));
}

// Behind hydrogen cyanide, whose record has 11 lines.
TEST_F(SdfReaderTest, BondsAndElementsThatAreWrongAreNamedAtTheirLines) {
  const struct {
    const char* molfile;
    const char *from, *to;
    const char* message;
  } kWrong[] = {
      {kV2000, "1.6500 N ", "1.6500 Qq", "mols.sdf:17: molecule 2 (hcn): RDKit: Element 'Qq' not found, in "},
      {kV2000, "  1  3  1", "  1 99  1",
       ":20: molecule 2 (hcn): bond 2 joins atoms 1 and 99, but of the 3 atoms none is 99, in "},
      {kV2000, "  1  2  3", "  0  2  3",
       ":19: molecule 2 (hcn): bond 1 joins atoms 0 and 2, but of the 3 atoms none is 0, in "},
      {kV2000, "  1  3  1", "  3  3  1", ":20: molecule 2 (hcn): bond 2 joins atom 3 to itself, in "},
      {kV2000, "  1  3  1", "  2  1  1",
       ":20: molecule 2 (hcn): bond 2 joins atoms 2 and 1, as bond 1 does, in "},
      {kV3000, "2 N 0", "2 Qq 0", ":20: molecule 2 (hcn3): RDKit: Element 'Qq' not found, in "},
      {kV3000, "2 1 1 3", "2 1 1 99",
       ":25: molecule 2 (hcn3): bond 2 joins atoms 1 and 99, but of the 3 atoms none is 99"},
      {kV3000, "2 1 1 3", "2 1 1 1", ":25: molecule 2 (hcn3): bond 2 joins atom 1 to itself"}};
  for (const auto& [molfile, from, to, message] : kWrong) {
    const std::string bad = absl::StrReplaceAll(molfile, {{from, to}});
    const std::vector<MoleculeRecord> records = Read(absl::StrCat(kV2000, "$$$$\n", bad, "$$$$\n", kV2000));
    ASSERT_THAT(records, SizeIs(3)) << to;
    EXPECT_EQ(records[1].refused, "bad_molfile") << to;
    EXPECT_THAT(records[1].message, HasSubstr(message)) << to;
    EXPECT_EQ(records[2].refused, "") << to;
  }
}

TEST_F(SdfReaderTest, DataItemsAreLabels) {
  EXPECT_THAT(LabelsOf("> <a>\n1.5\n\n>  <b c> (4)\ntwo\nlines\n\n"),
              ElementsAre(Pair("a", "1.5"), Pair("b c", "two\nlines")));
  EXPECT_THAT(LabelsOf("> DT12 25\n1.5\n"), ElementsAre(Pair("DT12", "1.5")));
}

TEST_F(SdfReaderTest, BlankLineEndsAnItemOnlyWhereAnotherFollows) {
  EXPECT_THAT(LabelsOf("> <a>\none\n\ntwo\n\n> <b>\n\n"), ElementsAre(Pair("a", "one\n\ntwo"), Pair("b", "")));
}

TEST_F(SdfReaderTest, ItemRightBehindAHeaderLeavesItEmpty) {
  EXPECT_THAT(LabelsOf("> <a>\n> <b>\n>10000\n"), ElementsAre(Pair("a", ""), Pair("b", ">10000")));
}

TEST_F(SdfReaderTest, LineInFrontOfAllItemsIsRefused) {
  EXPECT_EQ(RefusalOf(absl::StrCat(kV2000, "stray\n> <a>\n1\n")), "bad_property");
}

TEST_F(SdfReaderTest, AtomThatIsAQueryIsRefused) {
  const std::string list = absl::StrReplaceAll(kV3000, {{"2 N 0 0", "2 [N,P] 0 0"}});
  EXPECT_EQ(RefusalOf(list), "query_atom");
}

TEST_F(SdfReaderTest, LimitsHold) {
  EXPECT_EQ(Read(kV2000, {}, {.max_atoms = 2})[0].refused, "too_many_atoms");
  const std::string line = std::string(550, 'x') + "\n";
  const std::string large = absl::StrCat(kV2000, "> <a>\n", line, line, line);
  const std::vector<MoleculeRecord> records =
      Read(absl::StrCat(large, "$$$$\n", kV2000), {}, {.max_line_bytes = 600, .max_atoms = 3});
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[0].refused, "record_too_long");
  EXPECT_EQ(records[1].refused, "");
}

TEST_F(SdfReaderTest, WholeFilesHaveTheCountsOfAnotherProgram) {
  const char* data = std::getenv("PACKTRAIN_DATA");
  if (data == nullptr) GTEST_SKIP() << "$PACKTRAIN_DATA is unset";
  const std::string folder = absl::StrCat(data, "/qm9/sdf/");
  EXPECT_EQ(CountMolecules("sdf", folder + "gdb1k.sdf.gz"), (MoleculeCounts{1'000, 14'138, 27'362, 9, 0}));
  EXPECT_EQ(CountMolecules("sdf", folder + "qm9_mini.sdf"), (MoleculeCounts{21, 149, 260, 0, 0}));
}

}  // namespace
}  // namespace packtrain::ingest
