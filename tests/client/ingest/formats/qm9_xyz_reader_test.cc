#include "client/ingest/formats/qm9_xyz_reader.h"

#include <gmock/gmock.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/ingest/formats/format_table.h"
#include "client/ingest/import_pipeline.h"
#include "client/ingest/refusal.h"
#include "tests/client/ingest/formats/read_file.h"
#include "tests/client/ingest/refused.h"
#include "tests/testing/temp_file.h"
#include "tests/testing/test_data.h"

namespace packtrain::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using testing::NextNamed;
using testing::Refused;
using testing::TestData;

class Qm9XyzReaderTest : public ::testing::Test {
 protected:
  absl::StatusOr<bool> ReadFirst(const std::string& path) {
    ReadOptions options;
    reader_ = OpenQm9Xyz(ByteSource::Open(path, options.limits.max_unpacked_bytes).value(), options).value();
    molecule_.emplace(reader_->layout());
    return NextNamed(*reader_, &*molecule_);
  }
  absl::StatusOr<bool> ReadFirstOf(std::string_view text) { return ReadFirst(folder_.Write("m.xyz", text)); }

  std::vector<std::string> Labels() const {
    std::vector<std::string> labels;
    for (const Label& label : molecule_->labels) {
      std::string text(label.name);
      if (label.form == LabelForm::kWord) text += "=" + std::string(label.text);
      if (!label.unit.empty()) text += " " + std::string(label.unit);
      labels.push_back(text);
    }
    return labels;
  }

  testing::TempFolder folder_;
  std::unique_ptr<GraphReader> reader_;
  std::optional<SourceGraph> molecule_;
};

// A molecule of one atom, which has no frequencies.
constexpr char kHead[] = "gdb 7\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t11\t12\t13\t14\t15\t\n";
constexpr char kTail[] = "\nC\tC\t\nInChI=1S/CH4/h1H4\tInChI=1S/CH4/h1H4\n";

TEST_F(Qm9XyzReaderTest, RowTooManyRefusesItsMoleculeAlone) {
  const std::string row = "C 0 0 0 0.5\n", good = std::string("1\n") + kHead + row + kTail;
  ASSERT_THAT(ReadFirstOf(std::string("1\n") + kHead + row + row + kTail + good),
              Refused("count_too_low", "m.xyz:4: frame 1 (gdb_7): "));
  ASSERT_TRUE(reader_->Next(&*molecule_).value());
  EXPECT_EQ(molecule_->line, 8u);
  EXPECT_FALSE(reader_->Next(&*molecule_).value());
}

TEST_F(Qm9XyzReaderTest, PropertiesAreLabelsWithTheirUnits) {
  ASSERT_TRUE(ReadFirst(TestData("qm9/raw_xyz/dsgdb9nsd_000001.xyz")).value());
  EXPECT_EQ(molecule_->id, "");
  EXPECT_EQ(molecule_->title, "gdb_1");
  EXPECT_EQ(molecule_->n_node, 5u);
  EXPECT_THAT(molecule_->Values<std::uint8_t>(0), ElementsAre(6, 1, 1, 1, 1));
  EXPECT_EQ(molecule_->Values<float>(1).at(0), -0.0126981359f);
  EXPECT_EQ(molecule_->Values<float>(1).at(14), 0.9063972942f);
  EXPECT_THAT(Labels(), ElementsAreArray({"A=157.7118 GHz",
                                          "B=157.70997 GHz",
                                          "C=157.70699 GHz",
                                          "mu=0. debye",
                                          "alpha=13.21 bohr^3",
                                          "homo=-0.3877 hartree",
                                          "lumo=0.1171 hartree",
                                          "gap=0.5048 hartree",
                                          "r2=35.3641 bohr^2",
                                          "zpve=0.044749 hartree",
                                          "U0=-40.47893 hartree",
                                          "U=-40.476062 hartree",
                                          "H=-40.475117 hartree",
                                          "G=-40.498597 hartree",
                                          "Cv=6.469 cal/(mol K)",
                                          "smiles=C",
                                          "smiles_relaxed=C",
                                          "inchi=InChI=1S/CH4/h1H4",
                                          "inchi_relaxed=InChI=1S/CH4/h1H4",
                                          "mulliken_charge",
                                          "frequencies"}));
  EXPECT_FALSE(reader_->Next(&*molecule_).value());
}

TEST_F(Qm9XyzReaderTest, MathematicaExponentsAreRead) {
  ASSERT_TRUE(ReadFirst(TestData("awkward/dsgdb9nsd_005005.xyz")).value());
  EXPECT_EQ(molecule_->Values<float>(1).at(7 * 3 + 2), 7.9254e-6f);
  ASSERT_TRUE(ReadFirst(TestData("reports/raw/mol_000002.xyz")).value());
  EXPECT_EQ(molecule_->Values<float>(1).at(2), 1.25e-6f);
}

TEST_F(Qm9XyzReaderTest, RecordsMayFollowEachOther) {
  const std::string record = std::string("1\n") + kHead + "C 0 0 0 0.5\n" + kTail;
  ASSERT_TRUE(ReadFirstOf(record + record).value());
  ASSERT_TRUE(reader_->Next(&*molecule_).value());
  EXPECT_EQ(molecule_->record, 2u);
  EXPECT_EQ(molecule_->line, 7u);
  EXPECT_FALSE(reader_->Next(&*molecule_).value());
}

TEST_F(Qm9XyzReaderTest, FileIsRefusedByWhatItLacks) {
  EXPECT_THAT(ReadFirst(TestData("reports/raw/whole_number_line.xyz")),
              Refused("bad_properties", "whole_number_line.xyz:2: frame 1 (gdb_4): "));
  EXPECT_THAT(ReadFirst(TestData("reports/raw/whole_number_line.xyz")),
              Refused("bad_properties", "has 2 properties"));
  EXPECT_THAT(ReadFirst(TestData("awkward/acetate.xyz")), Refused("bad_properties", "no index"));
  EXPECT_THAT(ReadFirstOf(std::string("1\n") + kHead + "C 0 0 0\n" + kTail), Refused("short_row", "m.xyz:3"));
  const std::string atoms = std::string("1\n") + kHead + "C 0 0 0 0.5\n";
  EXPECT_THAT(ReadFirstOf(atoms), Refused("truncated_frame", "frequencies"));
  EXPECT_THAT(ReadFirstOf("0\n"),
              Refused("truncated_frame", "m.xyz:1: frame 1: the file ends without the line of"));
  EXPECT_THAT(ReadFirstOf(std::string("0\n") + kHead), Refused("no_nodes", "m.xyz:1: frame 1 (gdb_7)"));
  EXPECT_THAT(ReadFirstOf(atoms + "\n"), Refused("truncated_frame", "SMILES"));
  EXPECT_THAT(ReadFirstOf(atoms + "\nC\tC\n"), Refused("truncated_frame", "InChI"));
}

TEST_F(Qm9XyzReaderTest, CountThatIsTooLowOrTooHighIsRefused) {
  EXPECT_THAT(ReadFirstOf(std::string("1\n") + kHead + "C 0 0 0 0.5\nH 0 0 1 0.5\n" + kTail),
              Refused("count_too_low", "m.xyz:4: frame 1 (gdb_7)"));
  EXPECT_THAT(ReadFirstOf(std::string("2\n") + kHead + "C 0 0 0 0.5\n" + kTail),
              Refused("count_too_high", "m.xyz:4: frame 1 (gdb_7)"));
}

// Water, with a count that may be wrong.
std::string Water(const std::string& count) {
  return count + "\n" + kHead + "O 0 0 0 -0.5\nH 0 0 1 0.2\nH 0 1 0 0.3\n1671.4 3803.6 3907.7\nO\tO\n" +
         "InChI=1S/H2O/h1H2\tInChI=1S/H2O/h1H2\n";
}

TEST_F(Qm9XyzReaderTest, CountThatIsTooHighHidesNoOtherMolecule) {
  for (const char* const count : {"4", "5", "6", "7", "8", "1000"}) {
    for (const char* const end : {"", "\n"}) {
      ASSERT_THAT(ReadFirstOf(Water(count) + Water("3") + Water(count) + end),
                  Refused("count_too_high", "m.xyz:6: frame 1 (gdb_7): expected an atom, found '1671.4"));
      ASSERT_TRUE(reader_->Next(&*molecule_).value()) << count;
      EXPECT_EQ(molecule_->line, 9u) << count;
      const absl::StatusOr<bool> last = NextNamed(*reader_, &*molecule_);
      EXPECT_THAT(last, Refused("count_too_high", "m.xyz:22: frame 3 (gdb_7): ")) << count;
      EXPECT_FALSE(LeavesRest(last.status())) << count;
      EXPECT_FALSE(reader_->Next(&*molecule_).value()) << count;
    }
  }
}

TEST_F(Qm9XyzReaderTest, LinesBehindACountThatIsTooHighArePassedOverUpToTheNextCount) {
  const std::string bad = Water("4") + "stray\nlines\n";
  ASSERT_THAT(ReadFirstOf(bad + Water("3")), Refused("count_too_high", "m.xyz:6"));
  ASSERT_TRUE(reader_->Next(&*molecule_).value());
  EXPECT_EQ(molecule_->line, 11u);
  EXPECT_TRUE(LeavesRest(ReadFirstOf(bad).status()));
}

TEST_F(Qm9XyzReaderTest, AtomicNumberIsNoFrequency) {
  EXPECT_THAT(ReadFirstOf(std::string("1\n") + kHead + "6 0 0 0 0.5\n" + kTail),
              Refused("unknown_symbol", "unknown element '6'"));
}

TEST_F(Qm9XyzReaderTest, PropertyThatIsNoFiniteNumberIsRefused) {
  for (const auto& [word, reason] : {std::pair("x", "not_a_number"), std::pair("nan", "not_finite")}) {
    std::string head = kHead;
    head.replace(head.find("\t3\t"), 3, std::string("\t") + word + "\t");
    EXPECT_THAT(ReadFirstOf("1\n" + head + "C 0 0 0 0.5\n" + kTail), Refused(reason, "property C is"));
  }
}

TEST_F(Qm9XyzReaderTest, ImportNamesMoleculesByTheirFilesAndKeepsUnits) {
  ImportOptions options;
  for (const char* name : {"mol_000001", "mol_000002", "mol_000003"}) {
    options.paths.push_back(TestData(std::string("reports/raw/") + name + ".xyz"));
  }
  const Format& format = *FindFormat("qm9-xyz");
  EXPECT_THAT(testing::ReadBy(format, options).Ids(), ElementsAre("mol_000001", "mol_000002", "mol_000003"));
  const v1::ImportHeader header = OpenSource(format, options).value()->Begin().value();
  std::map<std::string, std::string> units;
  for (const v1::Target& target : header.schema().targets()) units[target.name()] = target.unit();
  EXPECT_EQ(units.size(), 15u);
  EXPECT_EQ(units["gap"], "hartree");
  EXPECT_EQ(units["Cv"], "cal/(mol K)");
}

}  // namespace
}  // namespace packtrain::ingest
