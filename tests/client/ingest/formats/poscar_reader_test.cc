#include "client/ingest/formats/poscar_reader.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/client/ingest/formats/read_crystals.h"
#include "tests/client/ingest/refused.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/test_data.h"

namespace packtrain::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::IsEmpty;
using testing::IsOk;
using ::testing::Pointwise;
using testing::Refused;
using testing::TestData;

const std::string kVectors = "4 0 0\n0 5 0\n0 0 2\n";

class PoscarReaderTest : public testing::CrystalReaderTest {
 protected:
  PoscarReaderTest() : CrystalReaderTest("poscar", "x.vasp", /*max_atoms=*/100) {}
};

// Numbers of ase.io.read (ASE 3.29).
TEST_F(PoscarReaderTest, FilesOfJarvisAreRead) {
  ASSERT_THAT(ReadFile(TestData("poscar/POSCAR-JVASP-1996.vasp")), IsOk());
  EXPECT_EQ(graph_.title, "System");
  EXPECT_EQ(graph_.record, 1u);
  EXPECT_EQ(graph_.line, 1u);
  EXPECT_THAT(Z(), ElementsAre(11, 53));
  EXPECT_THAT(Cell(), Pointwise(FloatNear(1e-5f), std::vector<float>{3.937125f, 0, 2.2731f, 1.312375f,
                                                                     3.711957f, 2.2731f, 0, 0, 4.546201f}));
  EXPECT_THAT(Pos(), Pointwise(FloatNear(1e-5f), std::vector<float>{0, 0, 0, 2.62475f, 1.855979f, 4.546201f}));
  EXPECT_THAT(Pbc(), ElementsAre(1, 1, 1));
  EXPECT_THAT(graph_.labels, IsEmpty());
  EXPECT_TRUE(IsAtEnd());
  ASSERT_THAT(ReadFile(TestData("poscar/POSCAR-JVASP-76312.vasp")), IsOk());
  EXPECT_THAT(Z(), ElementsAre(29, 29, 35, 35));
}

TEST_F(PoscarReaderTest, ScaleMultipliesCellAndCartesianPlaces) {
  ASSERT_THAT(Read("x\n2\n" + kVectors + "C\n1\nCartesian\n1 2 0.5\n"), IsOk());
  EXPECT_THAT(Cell(), ElementsAre(8, 0, 0, 0, 10, 0, 0, 0, 4));
  EXPECT_THAT(Pos(), ElementsAre(2, 4, 1));
  ASSERT_THAT(Read("x\n2\n" + kVectors + "C\n1\nDirect\n0.25 0.5 0.5\n"), IsOk());
  EXPECT_THAT(Pos(), ElementsAre(2, 5, 2));
  ASSERT_THAT(Read("x\n1 2 3\n" + kVectors + "C\n1\nkartesisch\n1 1 1\n"), IsOk());
  EXPECT_THAT(Cell(), ElementsAre(4, 0, 0, 0, 10, 0, 0, 0, 6));
  EXPECT_THAT(Pos(), ElementsAre(1, 2, 3));
}

// The vectors span 40 cubic angstrom; 320 are wanted.
TEST_F(PoscarReaderTest, ScaleBelowZeroIsTheVolume) {
  ASSERT_THAT(Read("x\n-320\n" + kVectors + "C\n1\nc\n1 1 1\n"), IsOk());
  EXPECT_THAT(Cell(), Pointwise(FloatNear(1e-6f), std::vector<float>{8, 0, 0, 0, 10, 0, 0, 0, 4}));
  EXPECT_THAT(Pos(), Pointwise(FloatNear(1e-6f), std::vector<float>{2, 2, 2}));
}

TEST_F(PoscarReaderTest, SelectiveDynamicsLeaveTheAtomsAsTheyAre) {
  ASSERT_THAT(
      Read("x\n1\n" + kVectors + "C F\n1 1\nSelective dynamics\nDirect\n0 0 0 F F F C\n0.5 0.5 0.5 T T F\n"),
      IsOk());
  EXPECT_THAT(Z(), ElementsAre(6, 9));
  EXPECT_THAT(Pos(), ElementsAre(0, 0, 0, 2, 2.5f, 1));
}

TEST_F(PoscarReaderTest, FilesOfVasp4NameElementsInTheCommentOrBehindTheAtoms) {
  ASSERT_THAT(Read("Na Cl\n1\n" + kVectors + "1 2\ndirect\n0 0 0\n0 0 0.5\n0 0.5 0\n"), IsOk());
  EXPECT_THAT(Z(), ElementsAre(11, 17, 17));
  ASSERT_THAT(Read("Na1 Cl2\n1.0\n" + kVectors + "1 2\ndirect\n0 0 0 Na\n0 0 0.5 Cl\n0 0.5 0 Cl\n"), IsOk());
  EXPECT_THAT(Z(), ElementsAre(11, 17, 17));
  EXPECT_THAT(Read("salt\n1\n" + kVectors + "1 2\ndirect\n0 0 0\n0 0 0.5\n0 0.5 0\n"),
              Refused("no_species", "(salt)"));
}

TEST_F(PoscarReaderTest, SymbolsMayNameTheirPotential) {
  ASSERT_THAT(Read("x\n1\n" + kVectors + "Fe_pv O/5e0f1 N.5\n1 1 1\nd\n0 0 0\n0 0 0.5\n0.5 0 0\n"), IsOk());
  EXPECT_THAT(Z(), ElementsAre(26, 8, 7));
}

TEST_F(PoscarReaderTest, StructuresMayFollowEachOther) {
  const std::string one = "first\n1\n" + kVectors + "C\n2\nDirect\n0 0 0\n0.5 0.5 0.5\n";
  const std::string other = "other\n1\n" + kVectors + "O\n1\nDirect\n0 0 0\n";
  for (const char* const between : {"", "\n", "\n\n \n"}) {
    ASSERT_THAT(Read(one + between + other), IsOk());
    EXPECT_EQ(graph_.title, "first");
    ASSERT_THAT(ReadNext(), IsOk());
    EXPECT_EQ(graph_.title, "other");
    EXPECT_EQ(graph_.record, 2u);
    EXPECT_THAT(Z(), ElementsAre(8));
    EXPECT_TRUE(IsAtEnd());
  }
}

TEST_F(PoscarReaderTest, VelocitiesAreToldAndNotStored) {
  const std::string structure = "x\n1\n" + kVectors + "C\n2\nDirect\n0 0 0\n0.5 0.5 0.5\n";
  for (const char* const tail : {"\n0 0 0\n0 0 0\n", "\nCartesian\n1e-3 0 0\n0 0 0\n\n1\n0.5\n0 0 0 0\n",
                                 "Lattice velocities and vectors\n1\n0 0 0\n0 0 0\n0 0 0\n"}) {
    ASSERT_THAT(Read(structure + tail), IsOk());
    ASSERT_EQ(graph_.labels.size(), 1u);
    EXPECT_EQ(graph_.labels[0].name, "velocities");
    EXPECT_EQ(graph_.labels[0].form, LabelForm::kPerNode);
    EXPECT_TRUE(IsAtEnd());
  }
}

TEST_F(PoscarReaderTest, WhatTheHeadDoesNotCountIsRefused) {
  const std::string head = "x\n1\n" + kVectors + "C\n1\nDirect\n";
  EXPECT_THAT(Read(head + "0 0 0\n0.5 0.5 0.5\n"), Refused("extra_rows", "x.vasp:10: structure 1 (x)"));
  EXPECT_THAT(Read(head + "0 0 0\n\nsome words\n"), Refused("unknown_tail", "'some words'"));
  EXPECT_THAT(Read(head), Refused("truncated_file", "0 of 1 atoms"));
  EXPECT_THAT(Read("x\n1\n4 0 0\n"), Refused("truncated_file", "3 lines"));
  EXPECT_THAT(Read("x\n1\n" + kVectors + "C\n0\nDirect\n"), Refused("no_nodes", "no atoms"));
}

TEST_F(PoscarReaderTest, StructureBehindOneThatIsRefusedIsRead) {
  const std::string good = "y\n1\n" + kVectors + "O\n1\nDirect\n0 0 0\n";
  EXPECT_THAT(Read("x\n1\n" + kVectors + "C\n1\nDirect\n0 0 0\n0.5 0.5 0.5\n" + good),
              Refused("extra_rows", "x.vasp:10: structure 1 (x)"));
  EXPECT_THAT(ReadNext(), IsOk());
  EXPECT_THAT(Read("x\none\n" + kVectors + "C\n1\nDirect\n0 0 0\n" + good), Refused("bad_scale", "'one'"));
  EXPECT_THAT(ReadNext(), IsOk());
}

TEST_F(PoscarReaderTest, HeadThatCannotBeReadBeforeNoOtherLeavesTheRest) {
  const std::string bad = "x\none\n" + kVectors + "C\n1\nDirect\n0 0 0\n";
  EXPECT_TRUE(LeavesRest(Read(bad + "0 0 0.5\n")));
}

TEST_F(PoscarReaderTest, HeadThatCannotBeReadIsRefusedAloneAtItsLine) {
  const std::string first = "first\n1\n" + kVectors + "C\n2\nDirect\n0 0 0\n0.5 0.5 0.5\n";
  const std::string last = "last\n1\n" + kVectors + "O\n1\nDirect\n0 0 0\n";
  const std::string rows = "Direct\n0 0 0\n0 0 0.5\n";
  const struct {
    std::string head;
    const char* reason;
    const char* place;
  } kBroken[] = {{"bad\nabc\n" + kVectors + "Na I\n1 1\n", "bad_scale", ":12: "},
                 {"bad\n1\n4 0 0\n0 5\n0 0 2\nNa I\n1 1\n", "bad_cell", ":14: "},
                 {"bad\n1\n" + kVectors + "Qq\n1 1\n", "unknown_symbol", ":16: "},
                 {"bad\n1\n" + kVectors + "Na I\nx\n", "bad_count", ":17: "},
                 {"bad\n1\n" + kVectors + "Na I\n1 1\n0 0 0\n", "bad_mode", ":18: "}};
  for (const auto& [head, reason, place] : kBroken) {
    for (const char* const between : {"", "\n0 0 0\n0 0 0\n"}) {
      const bool has_velocities = *between != '\0';
      ASSERT_THAT(Read(first + between + head + rows + head + rows + last), IsOk()) << reason;
      EXPECT_THAT(Z(), ElementsAre(6, 6));
      EXPECT_THAT(ReadNext(), Refused(reason, has_velocities ? "structure 2 (bad)" : place)) << reason;
      EXPECT_THAT(ReadNext(), Refused(reason, "structure 3 (bad)")) << reason;
      ASSERT_THAT(ReadNext(), IsOk()) << reason;
      EXPECT_EQ(graph_.title, "last");
      EXPECT_TRUE(IsAtEnd());
    }
  }
}

TEST_F(PoscarReaderTest, HeadThatIsCutOffLeavesTheStructureInFrontOfIt) {
  const std::string first = "first\n1\n" + kVectors + "C\n1\nDirect\n0 0 0\n";
  for (const std::string& cut :
       {std::string("cut\n1\n"), "cut\n1\n" + kVectors, "cut\n1\n" + kVectors + "C\n1\n"}) {
    ASSERT_THAT(Read(first + cut), IsOk());
    EXPECT_THAT(ReadNext(), Refused("truncated_file", "structure 2 (cut)"));
    EXPECT_TRUE(IsAtEnd());
  }
  ASSERT_THAT(Read(first + "cut\n1\n" + kVectors), IsOk());
  EXPECT_THAT(ReadNext(), Refused("truncated_file", "x.vasp:14: "));
  ASSERT_THAT(Read(first + "cut\n1\n" + kVectors + first), IsOk());
  EXPECT_THAT(ReadNext(),
              Refused("truncated_file", "x.vasp:14: structure 2 (cut): the head ends after 5 lines"));
  ASSERT_THAT(ReadNext(), IsOk());
  EXPECT_TRUE(IsAtEnd());
}

TEST_F(PoscarReaderTest, CountThatIsTooHighHidesNoOtherStructure) {
  const std::string other = "other\n1\n" + kVectors + "O\n1\nDirect\n0 0 0\n";
  EXPECT_THAT(Read("x\n1\n" + kVectors + "C\n3\nDirect\n0 0 0\n0.5 0.5 0.5\n" + other),
              Refused("truncated_file", "x.vasp:10: structure 1 (x): the structure ends after 2 of 3 atoms"));
  ASSERT_THAT(ReadNext(), IsOk());
  EXPECT_EQ(graph_.title, "other");
  EXPECT_TRUE(IsAtEnd());
}

TEST_F(PoscarReaderTest, ElementsThatContradictEachOtherAreRefused) {
  EXPECT_THAT(Read("x\n1\n" + kVectors + "C\n1\nDirect\n0 0 0 Si\n"), Refused("contradiction", "element 14"));
  EXPECT_THAT(Read("x\n1\n" + kVectors + "C Xx\n1 1\nDirect\n0 0 0\n0 0 0\n"),
              Refused("unknown_symbol", "'C Xx'"));
}

TEST_F(PoscarReaderTest, LinesThatAreNoneOfTheFormatAreRefused) {
  const std::string rest = "C\n1\nDirect\n0 0 0\n";
  EXPECT_THAT(Read("x\n0\n" + kVectors + rest), Refused("bad_scale", "'0'"));
  EXPECT_THAT(Read("x\n1 -1 1\n" + kVectors + rest), Refused("bad_scale", "above 0"));
  EXPECT_THAT(Read("x\none\n" + kVectors + rest), Refused("bad_scale", "'one'"));
  EXPECT_THAT(Read("x\n1\n4 0 0\n0 5\n0 0 2\n" + rest), Refused("bad_cell", "'0 5'"));
  EXPECT_THAT(Read("x\n-40\n4 0 0\n4 0 0\n0 0 2\n" + rest), Refused("bad_cell", "no volume"));
  EXPECT_THAT(Read("x\n1\n4 0 0\n8 0 0\n0 0 2\n" + rest), Refused("bad_cell", "no volume"));
  EXPECT_THAT(Read("x\n1\n" + kVectors + "C\n1 1\nDirect\n0 0 0\n0 0 0\n"), Refused("bad_count", "'1 1'"));
  EXPECT_THAT(Read("x\n1\n" + kVectors + "C\n1\n0 0 0\n"), Refused("bad_mode", "'0 0 0'"));
  EXPECT_THAT(Read("x\n1\n" + kVectors + "C\n1\nDirect\n0 0\n"), Refused("short_row", "'0 0'"));
  EXPECT_THAT(Read("x\n1\n" + kVectors + "C\n1\nDirect\n0 0 zero\n"), Refused("not_a_number", "'zero'"));
  EXPECT_THAT(Read("id,energy,poscar\na,1.5,\"C\n"), Refused("truncated_file", "2 lines"));
}

TEST_F(PoscarReaderTest, AStructureAboveTheLimitLeavesTheNextOneAlone) {
  const std::string many = "many\n1\n" + kVectors + "C\n101\nDirect\n";
  std::string rows;
  for (int row = 0; row < 101; ++row) rows += "0 0 0\n";
  EXPECT_THAT(Read(many + rows + "next\n1\n" + kVectors + "O\n1\nDirect\n0 0 0\n"),
              Refused("too_many_atoms", "--max-atoms"));
  ASSERT_THAT(ReadNext(), IsOk());
  EXPECT_EQ(graph_.title, "next");
}

}  // namespace
}  // namespace packtrain::ingest
