#include "client/ingest/formats/cif_reader.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "client/ingest/formats/cif_symmetry.h"
#include "tests/client/ingest/formats/read_crystals.h"
#include "tests/client/ingest/refused.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/test_data.h"

namespace packtrain::ingest {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::FloatNear;
using testing::IsOk;
using ::testing::Pointwise;
using testing::Refused;
using testing::TestData;

// A block in P 1 with a cubic cell of 4 angstrom.
std::string Block(const std::string& sites,
                  const std::string& cell = "_cell_length_a 4\n_cell_length_b 4\n_cell_length_c 4\n",
                  const std::string& symmetry = "_symmetry_Int_Tables_number 1\n") {
  return "data_x\n" + cell + symmetry +
         "loop_\n_atom_site_label\n_atom_site_fract_x\n_atom_site_fract_y\n_atom_site_fract_z\n"
         "_atom_site_occupancy\n" +
         sites;
}

class CifReaderTest : public testing::CrystalReaderTest {
 protected:
  CifReaderTest() : CrystalReaderTest("cif", "x.cif", /*max_atoms=*/1000) {}

  // The shortest distance between atoms of these elements, of the atoms as they are listed.
  double Nearest(std::uint8_t a, std::uint8_t b) {
    double nearest = 1e9;
    for (std::size_t i = 0; i < Z().size(); ++i) {
      for (std::size_t j = 0; j < Z().size(); ++j) {
        if (Z()[i] == a && Z()[j] == b && i != j) nearest = std::min(nearest, ToNearestImage(i, j));
      }
    }
    return nearest;
  }
  double ToNearestImage(std::size_t i, std::size_t j) {
    const std::vector<float> pos = Pos(), cell = Cell();
    double nearest = 1e9;
    for (int image = 0; image < 125; ++image) {
      const std::array<int, 3> shift = {image % 5 - 2, image / 5 % 5 - 2, image / 25 - 2};
      std::array<double, 3> way = {};
      for (std::size_t k = 0; k < 3; ++k) {
        way[k] = pos[3 * j + k] - pos[3 * i + k];
        for (std::size_t v = 0; v < 3; ++v) way[k] += shift[v] * cell[3 * v + k];
      }
      nearest = std::min(nearest, std::hypot(way[0], way[1], way[2]));
    }
    return nearest;
  }
};

TEST_F(CifReaderTest, ACellOfTheMaterialsProjectIsReadAsItIs) {
  ASSERT_THAT(ReadFile(TestData("cif/mp-66.cif")), IsOk());
  EXPECT_EQ(graph_.title, "C");
  EXPECT_EQ(graph_.id, "");
  EXPECT_EQ(graph_.line, 2u);
  EXPECT_THAT(Z(), ElementsAre(6, 6));
  const float a = 2.52699457f;
  const std::vector<float> cell = {
      a, 0, 0, a / 2, a * std::sqrt(0.75f), 0, a / 2, a / 2 / std::sqrt(3.0f), a * std::sqrt(2.0f / 3)};
  EXPECT_THAT(Cell(), Pointwise(FloatNear(1e-6f), cell));
  EXPECT_THAT(Pbc(), ElementsAre(1, 1, 1));
  EXPECT_NEAR(Nearest(6, 6), 1.547462, 1e-5);
  EXPECT_TRUE(IsAtEnd());
}

struct Expected {
  const char* title;
  std::size_t a, b;                // atoms of the two elements
  std::array<std::uint8_t, 2> of;  // which these are
  double nearest;                  // distance between the two
};

// Counts and distances of ASE (tests/data/cif/README.md).
TEST_F(CifReaderTest, AtomsAreMultipliedByTheSymmetryHoweverItIsStated) {
  Open(TestData("cif/symmetry.cif"));
  for (const Expected& expected : {Expected{"rutile", 2, 4, {22, 8}, 1.946538},
                                   {"halite", 4, 4, {11, 17}, 2.82},
                                   {"quartz", 3, 6, {14, 8}, 1.605952},
                                   {"diamond", 8, 8, {6, 6}, 1.544556},
                                   {"heavy_ice", 1, 2, {8, 1}, 0.636396}}) {
    ASSERT_THAT(ReadNext(), IsOk());
    EXPECT_EQ(graph_.title, expected.title);
    const std::vector<std::uint8_t> z = Z();
    EXPECT_EQ(std::ranges::count(z, expected.of[0]), expected.a) << expected.title;
    EXPECT_EQ(std::ranges::count(z, expected.of[1]), expected.b) << expected.title;
    EXPECT_NEAR(Nearest(expected.of[0], expected.of[1]), expected.nearest, 1e-4) << expected.title;
  }
  EXPECT_TRUE(IsAtEnd());
}

TEST_F(CifReaderTest, PairsAreLabelsAndThoseOfTheDictionariesDescriptive) {
  Open(TestData("cif/symmetry.cif"));
  ASSERT_THAT(ReadNext(), IsOk());
  const auto label = [](const char* name, const char* text, bool structural, bool descriptive) {
    return AllOf(Field(&Label::name, name), Field(&Label::text, text), Field(&Label::structural, structural),
                 Field(&Label::descriptive, descriptive));
  };
  EXPECT_THAT(graph_.labels, Contains(label("_gap", "3.0", false, false)));
  EXPECT_THAT(graph_.labels, Contains(label("_exptl_crystal_density_diffrn", "4.25", false, true)));
  EXPECT_THAT(graph_.labels, Contains(label("_cell_length_a", "4.594", true, true)));
  ASSERT_THAT(ReadNext(), IsOk());
  EXPECT_THAT(graph_.labels, Contains(label("_symmetry_space_group_name_H-M", "F m -3 m", false, true)));
}

TEST_F(CifReaderTest, ABlockWithoutSymmetryIsRefused) {
  EXPECT_THAT(Read(Block("C1 0 0 0 1\n", "_cell_length_a 4\n_cell_length_b 4\n_cell_length_c 4\n", "")),
              Refused("no_symmetry", "x.cif:1: block 1 (x): "));
  EXPECT_THAT(Read(Block("C1 0 0 0 1\n", "_cell_length_a 4\n_cell_length_b 4\n_cell_length_c 4\n",
                         "_symmetry_space_group_name_H-M 'P nonsense'\n")),
              Refused("bad_symmetry", "'P nonsense'"));
  EXPECT_THAT(Read(Block("C1 0 0 0 1\n", "_cell_length_a 4\n_cell_length_b 4\n_cell_length_c 4\n",
                         "_symmetry_equiv_pos_as_xyz 'x, y'\n")),
              Refused("bad_symmetry", "'x, y'"));
}

TEST_F(CifReaderTest, AnUnknownNameBesideANumberIsOfThatNumber) {
  ASSERT_THAT(Read(Block("C1 0.1 0.2 0.3 1\n", "_cell_length_a 4\n_cell_length_b 4\n_cell_length_c 4\n",
                         "_symmetry_space_group_name_H-M 'P nonsense'\n_symmetry_Int_Tables_number 2\n")),
              IsOk());
  EXPECT_EQ(Z().size(), 2u);
}

TEST_F(CifReaderTest, SitesThatAreNoWholeAtomAreRefusedByName) {
  EXPECT_THAT(Read(Block("Fe1 0 0 0 0.5(2)\nNi1 0 0 0 0.5\n")), Refused("partial_occupancy", "'Fe1'"));
  EXPECT_THAT(Read(Block("C1 0 0 0 0\n")), Refused("partial_occupancy", "'C1'"));
  EXPECT_THAT(Read(Block("C1 0 0 0 1.5\n")), Refused("partial_occupancy", "1.5"));
  EXPECT_THAT(Read(Block("C1 0 0 0 1.0000\nC2 0.5 0.5 0.5 .\nC3 0.5 0 0 ?\n")), IsOk());
}

TEST_F(CifReaderTest, CoordinatesThatAreUnknownOrNoNumberAreRefusedByName) {
  EXPECT_THAT(Read(Block("C1 0 ? 0 1\n")), Refused("unknown_coordinate", "'C1'"));
  EXPECT_THAT(Read(Block("C1 0 . 0 1\n")), Refused("unknown_coordinate", "'C1'"));
  EXPECT_THAT(Read(Block("C1 0 zero 0 1\n")), Refused("not_a_number", "'zero'"));
  EXPECT_THAT(Read(Block("C1 0 nan 0 1\n")), Refused("not_a_number", "'nan'"));
}

TEST_F(CifReaderTest, ElementsThatNobodyKnowsAreRefusedByName) {
  for (const char* const site : {"X1", "Wat1", "OW1", "CA1", "1C", "Va"}) {
    EXPECT_THAT(Read(Block(std::string(site) + " 0 0 0 1\n")), Refused("unknown_symbol", site)) << site;
  }
}

TEST_F(CifReaderTest, CellsThatAreNoneAreRefused) {
  EXPECT_THAT(Read(Block("C1 0 0 0 1\n", "")), Refused("no_cell", "_cell_length_a"));
  EXPECT_THAT(Read(Block("C1 0 0 0 1\n", "_cell_length_a ?\n_cell_length_b 4\n_cell_length_c 4\n")),
              Refused("no_cell", "_cell_length_a"));
  EXPECT_THAT(Read(Block("C1 0 0 0 1\n", "_cell_length_a 4\n_cell_length_b 0\n_cell_length_c 4\n")),
              Refused("bad_cell", "_cell_length_b"));
  const std::string lengths = "_cell_length_a 4\n_cell_length_b 4\n_cell_length_c 4\n";
  EXPECT_THAT(Read(Block("C1 0 0 0 1\n", lengths + "_cell_angle_beta 180\n")),
              Refused("bad_cell", "_cell_angle_beta"));
  EXPECT_THAT(Read(Block("C1 0 0 0 1\n", lengths + "_cell_angle_alpha 30\n_cell_angle_beta 30\n")),
              Refused("bad_cell", "30, 30 and 90"));
}

TEST_F(CifReaderTest, BlocksWithoutAtomsAreRefused) {
  EXPECT_THAT(Read("data_x\n_cell_length_a 4\n_cell_length_b 4\n_cell_length_c 4\n"),
              Refused("no_nodes", "no atoms"));
  EXPECT_THAT(Read(Block("C1 0 0 0 1\n") + "data_1ABC\n_cell_length_a 4\n"), IsOk());
  EXPECT_THAT(ReadNext(), Refused("no_cell", "block 2 (1ABC)"));
}

TEST_F(CifReaderTest, WhatIsNoCifIsRefused) {
  EXPECT_THAT(Read(",material_id,cif\n0,mp-1,\"data_x\n\"\n"),
              Refused("not_cif", "x.cif:1: block 1: expected data_"));
  EXPECT_THAT(Read("# nothing\n\n"), Refused("empty_file", "x.cif"));
  EXPECT_THAT(Read("# x\ndata_x\nloop_\n_a\n_b\n1 2 3\n"),
              Refused("bad_cif", "x.cif:6: block 1 (x): Wrong number of values in the loop"));
  EXPECT_THAT(Read("# x\ndata_x\n_a 1\n_A 2\n"), Refused("bad_cif", "x.cif:4: block 1 (x): duplicate tag _A"));
}

TEST_F(CifReaderTest, RefusalsNameTheLineOfWhatIsWrong) {
  const std::string good =
      "data_x\n_cell_length_a 4\n_cell_length_b 4\n_cell_length_c 4\nloop_\n_symmetry_equiv_pos_as_xyz\n  'x, "
      "y, z'\n"
      "_note\n;two\nlines\n;\nloop_\n_atom_site_label\n_atom_site_fract_x\n_atom_site_fract_y\n_atom_site_"
      "fract_z\n"
      "_atom_site_occupancy # of C\nC1 0 0 0 1\n# C2\nC2 0 0.5 0 1\nC3 0.5 0 0 1\n";
  const struct {
    std::string from, to;
    const char* reason;
    const char* place;
  } kWrong[] = {{"_cell_length_b 4", "_cell_length_b abc", "bad_cell", "x.cif:25: "},
                {"_cell_length_c 4", "_cell_length_c 4 _cell_angle_beta\n200", "bad_cell", "x.cif:27: "},
                {"'x, y, z'", "'x, y, q'", "bad_symmetry", "x.cif:29: "},
                {"'x, y, z'", "?\n_symmetry_space_group_name_H-M 'P nonsense'", "bad_symmetry", "x.cif:30: "},
                {"C2 0 0.5", "C2 0 zz", "not_a_number", "x.cif:42: "},
                {"C2 0 0.5", "C2 0 ?", "unknown_coordinate", "x.cif:42: "},
                {"C2 0 0.5", "Qq2 0 0.5", "unknown_symbol", "x.cif:42: "},
                {"C2 0 0.5 0 1", "C2 0 0.5 0 0.5", "partial_occupancy", "x.cif:42: "},
                {"C3 0.5 0 0 1", "C3 0.5 0\n0 0.5", "partial_occupancy", "x.cif:43: "},
                {"C2 0 0.5 0 1", "C2 0 0.5 0", "bad_cif", "x.cif:42: "},
                {"C2 0 0.5 0 1", "C2 0 0.5 0 1 'a b'", "bad_cif", "x.cif:42: "},
                {"C2 0 0.5 0 1\nC3 0.5 0 0 1", "C2 0 0.5 0\nC3 0.5 0 0", "bad_cif", "x.cif:34: "}};
  for (const auto& [from, to, reason, place] : kWrong) {
    std::string bad = good;
    ASSERT_NE(bad.find(from), bad.npos) << from;
    bad.replace(bad.find(from), from.size(), to);
    ASSERT_THAT(Read(good + "\n" + bad + good), IsOk());
    EXPECT_THAT(ReadNext(), Refused(reason, place)) << to;
    EXPECT_THAT(ReadNext(), IsOk()) << to;
  }
}

TEST_F(CifReaderTest, BlocksBehindOtherTextAreRead) {
  EXPECT_THAT(Read("a table\nof crystals\n" + Block("C1 0 0 0 1\n")),
              Refused("not_cif",
                      "x.cif:1: block 1: expected data_ and the name of a block, found 'a table'; the next "
                      "block is read from line 3 on"));
  EXPECT_THAT(ReadNext(), IsOk());
}

TEST_F(CifReaderTest, TextFieldWithoutAnEndLeavesTheRest) {
  const absl::Status read = Read("data_x\n_a\n;never ends\n" + Block("C1 0 0 0 1\n"));
  EXPECT_TRUE(LeavesRest(read));
  EXPECT_THAT(read, Refused("bad_cif",
                            "x.cif:3: block 1: the text field that begins here, in block 'x', has no end; "
                            "nothing is read from there on"));
}

TEST_F(CifReaderTest, MoreAtomsThanAllowedAreRefused) {
  std::string sites;
  for (int k = 0; k < 501; ++k) sites += "C" + std::to_string(k) + " 0.1 0.2 0.3 1\n";
  EXPECT_THAT(Read(Block(sites)), IsOk());
  EXPECT_THAT(Read(Block(sites, "_cell_length_a 4\n_cell_length_b 4\n_cell_length_c 4\n",
                         "_symmetry_Int_Tables_number 2\n")),
              Refused("too_many_atoms", "--max-atoms"));
}

TEST(CifSymmetryTest, OperationsAreReadInAllTheirForms) {
  const SymmetryOperation expected{{Vector{0, -1, 0}, {1, -1, 0}, {0, 0, 1}}, {0, 0.5, 1.0 / 3}};
  for (const char* const text : {"-y,x-y+1/2,z+1/3", " -Y , 1/2+X-Y , 1/3+Z ", "-1*y,+0.5+x-y,z+1/3"}) {
    const absl::StatusOr<SymmetryOperation> read = ParseOperation(text);
    ASSERT_THAT(read, IsOk()) << text;
    EXPECT_EQ(read->rotation, expected.rotation) << text;
    EXPECT_EQ(read->translation, expected.translation) << text;
  }
}

TEST(CifSymmetryTest, WhatIsNoOperationIsRefused) {
  for (const char* const text : {"", "x,y", "x,y,z,", "x,y,z,x", "x,y,", "x,y,x", "x,y,2*z", "x,y,z+1/0",
                                 "x,y,zz", "x,y,q", "x,y,+", "x y z", "x,y,z+1/2/3", "x,y,z+.", "x,y,1e9"}) {
    EXPECT_THAT(ParseOperation(text), Refused("bad_symmetry", "")) << text;
  }
}

}  // namespace
}  // namespace packtrain::ingest
