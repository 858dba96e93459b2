#include "client/ingest/formats/extxyz_reader.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/client/ingest/gzip.h"
#include "tests/client/ingest/refused.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"
#include "tests/testing/test_data.h"

namespace packtrain::ingest {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::Gzip;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::NextNamed;
using testing::Refused;
using testing::StatusIs;
using testing::TestData;

constexpr std::uint64_t kMaxAtoms = 1000;

std::unique_ptr<GraphReader> Open(const std::string& path, const FormatFlagValues& flags = {}) {
  ReadOptions options;
  options.limits.max_atoms = kMaxAtoms;
  options.flags = flags;
  return OpenExtxyz(ByteSource::Open(path, options.limits.max_unpacked_bytes).value(), options).value();
}

// The frame's id, else its title.
std::string NameOf(const SourceGraph& frame) { return frame.id.empty() ? frame.title : frame.id; }

// What a file gives, frame after frame: its name, or the reason of a refusal.
std::vector<std::string> Outcomes(const std::string& path) {
  const std::unique_ptr<GraphReader> reader = Open(path);
  std::vector<std::string> outcomes;
  SourceGraph frame(reader->layout());
  while (true) {
    const absl::StatusOr<bool> more = reader->Next(&frame);
    if (more.ok() && !*more) return outcomes;
    outcomes.push_back(more.ok() ? NameOf(frame) : ReasonOf(more.status()));
  }
}

class ExtxyzReaderTest : public ::testing::Test {
 protected:
  // Reads the first frame of `text`.
  absl::StatusOr<bool> ReadFirst(std::string_view text) {
    return OpenAndReadFirst(folder_.Write("mol.xyz", text));
  }
  absl::StatusOr<bool> OpenAndReadFirst(const std::string& path, const FormatFlagValues& flags = {}) {
    reader_ = Open(path, flags);
    frame_ = SourceGraph(reader_->layout());
    return NextNamed(*reader_, &frame_);
  }
  std::vector<std::string> OutcomesOf(std::string_view text) {
    return Outcomes(folder_.Write("mol.xyz", text));
  }

  std::vector<std::uint8_t> Z() { return frame_.Values<std::uint8_t>(FieldNamed("z")); }
  std::vector<float> Pos() { return frame_.Values<float>(FieldNamed("pos")); }
  std::vector<float> Cell() { return frame_.Values<float>(FieldNamed("cell")); }
  std::vector<std::uint8_t> Pbc() { return frame_.Values<std::uint8_t>(FieldNamed("pbc")); }
  std::vector<std::string> Labels() const {
    std::vector<std::string> labels;
    for (const Label& label : frame_.labels) {
      std::string text(label.name);
      if (label.form == LabelForm::kPerNode) {
        EXPECT_EQ(label.text, "");
        text += " per node";
      } else {
        text += "=" + std::string(label.text) + (label.structural ? " structural" : "") +
                (label.descriptive ? " descriptive" : "") + (label.ambiguous ? " ambiguous" : "");
        EXPECT_EQ(label.line, frame_.line + 1);
      }
      labels.push_back(text);
    }
    return labels;
  }
  std::size_t FieldNamed(std::string_view name) {
    const std::vector<GraphField>& fields = reader_->layout().fields;
    const auto field = std::find_if(fields.begin(), fields.end(),
                                    [&](const GraphField& candidate) { return candidate.name == name; });
    return static_cast<std::size_t>(field - fields.begin());
  }

  testing::TempFolder folder_;
  std::unique_ptr<GraphReader> reader_;
  SourceGraph frame_ = SourceGraph(GraphLayout());
};

std::string Awkward(const std::string& name) { return TestData("awkward/" + name); }
std::string Report(const std::string& name) { return TestData("reports/" + name); }

TEST_F(ExtxyzReaderTest, PlainFramesAreRead) {
  ASSERT_TRUE(ReadFirst("2\nwater-ish\nO 0.0 -1.5 2e-1\nH\t1 2\t 3\n1\nnext\nHe 0 0 0\n").value());
  EXPECT_EQ(frame_.id, "");
  EXPECT_EQ(frame_.title, "water-ish");
  EXPECT_EQ(frame_.record, 1u);
  EXPECT_EQ(frame_.line, 1u);
  EXPECT_THAT(Z(), ElementsAre(8, 1));
  EXPECT_THAT(Pos(), ElementsAre(0.0f, -1.5f, 0.2f, 1, 2, 3));
  EXPECT_THAT(Cell(), IsEmpty());
  EXPECT_THAT(Pbc(), IsEmpty());
  ASSERT_TRUE(reader_->Next(&frame_).value());
  EXPECT_EQ(frame_.title, "next");
  EXPECT_EQ(frame_.record, 2u);
  EXPECT_EQ(frame_.line, 5u);
  EXPECT_THAT(Z(), ElementsAre(2));
  EXPECT_FALSE(reader_->Next(&frame_).value());
}

TEST_F(ExtxyzReaderTest, ColumnsBehindThePositionAreSkipped) {
  ASSERT_TRUE(ReadFirst("1\nx\nC 1 2 3 -0.5 any words\n").value());
  EXPECT_THAT(Pos(), ElementsAre(1, 2, 3));
}

TEST_F(ExtxyzReaderTest, PropertiesMoveTheColumns) {
  ASSERT_TRUE(ReadFirst("1\nid=a Properties=tag:I:1:pos:R:3:note:S:1:species:S:1\n7 1 2 3 word Cl\n").value());
  EXPECT_THAT(Z(), ElementsAre(17));
  EXPECT_THAT(Pos(), ElementsAre(1, 2, 3));
}

TEST_F(ExtxyzReaderTest, PropertiesHoldForTheirFrameOnly) {
  EXPECT_THAT(OutcomesOf("1\nid=a Properties=pos:R:3:species:S:1\n1 2 3 C\n1\nid=b\nC 1 2 3\n"),
              ElementsAre("a", "b"));
}

TEST_F(ExtxyzReaderTest, AtomicNumbersStandForSymbolsWhereTheFlagOrTheirColumnSaysSo) {
  const std::string path = folder_.Write("mol.xyz", "1\nx\n17 1 2 3\n");
  ASSERT_TRUE(OpenAndReadFirst(path, {{"--species-are-numbers", ""}}).value());
  EXPECT_THAT(Z(), ElementsAre(17));
  EXPECT_THAT(OpenAndReadFirst(path), Refused("unknown_symbol", "--species-are-numbers"));
  for (const char* column : {"Z:I:1", "numbers:I:1", "species:I:1"}) {
    ASSERT_TRUE(ReadFirst(std::string("1\nProperties=") + column + ":pos:R:3\n17 1 2 3\n").value()) << column;
    EXPECT_THAT(Z(), ElementsAre(17));
  }
}

TEST_F(ExtxyzReaderTest, LatticeMakesACell) {
  ASSERT_TRUE(ReadFirst("1\nLattice=\"4 0 0 0 5 0 0 0 6\" pbc=\"T T F\" id=c\nC 1 2 3\n").value());
  EXPECT_THAT(Cell(), ElementsAre(4, 0, 0, 0, 5, 0, 0, 0, 6));
  EXPECT_THAT(Pbc(), ElementsAre(1, 1, 0));
}

TEST_F(ExtxyzReaderTest, WindowsTextIsRead) {
  EXPECT_THAT(OutcomesOf("\xef\xbb\xbf"
                         "1\r\nid=a\r\nC 1 2 3\r\n1\r\nid=b\r\nC 1 2 3"),
              ElementsAre("a", "b"));
}

TEST_F(ExtxyzReaderTest, BlankLinesMayStandBetweenFrames) {
  EXPECT_THAT(OutcomesOf("\n1\na\nC 1 2 3\n\n \t\n1\nb\nC 1 2 3\n\n"), ElementsAre("a", "b"));
}

TEST_F(ExtxyzReaderTest, IdKeyNamesAFrame) {
  ASSERT_TRUE(ReadFirst("1\nword id=x-1 e=3\nC 1 2 3\n").value());
  EXPECT_EQ(frame_.id, "x-1");
  EXPECT_EQ(frame_.title, "word");
}

TEST_F(ExtxyzReaderTest, FirstWordIsTheTitleUnlessItIsAPair) {
  EXPECT_THAT(OutcomesOf("1\none e=3\nC 1 2 3\n1\n 12 e=4\nC 1 2 3\n1\ne=3 word\nC 1 2 3\n1\n\nC 1 2 3\n"),
              ElementsAre("one", "12", "", ""));
}

TEST_F(ExtxyzReaderTest, SoundAwkwardFilesAreRead) {
  for (const auto& [name, atoms] : {std::pair("acetate.xyz", 7u), std::pair("ethane.xyz", 8u)}) {
    ASSERT_TRUE(OpenAndReadFirst(Awkward(name)).value());
    EXPECT_EQ(frame_.n_node, atoms);
    EXPECT_FALSE(reader_->Next(&frame_).value());
  }
}

TEST_F(ExtxyzReaderTest, MathematicaExponentOfQm9IsRead) {
  ASSERT_TRUE(OpenAndReadFirst(Awkward("dsgdb9nsd_005005.xyz")).value());
  ASSERT_EQ(Z().size(), 13u);
  EXPECT_EQ(Pos()[7 * 3 + 2], 7.9254e-6f);
}

TEST_F(ExtxyzReaderTest, FileOfQm9EndsTheImportNamingItsFormat) {
  for (const std::string& path : {Awkward("dsgdb9nsd_005005.xyz"), Report("raw/mol_000001.xyz"),
                                  Report("raw/mol_000002.xyz"), Report("raw/whole_number_line.xyz")}) {
    ASSERT_TRUE(OpenAndReadFirst(path).value());
    const absl::StatusOr<bool> more = reader_->Next(&frame_);
    EXPECT_THAT(more, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("qm9-xyz"))) << path;
    EXPECT_FALSE(IsRefusal(more.status()));
    EXPECT_FALSE(reader_->Next(&frame_).value());
  }
  EXPECT_THAT(OutcomesOf("1\ngdb 1\t1.5\nC 1 2 3\n1\ngdb 2\t1.5\nC 1 2 3\n"), ElementsAre("gdb", "gdb"));
}

TEST_F(ExtxyzReaderTest, FilesWithoutFramesAreRefused) {
  for (const char* name : {"empty.xyz", "line_ends_only.xyz"}) {
    EXPECT_THAT(OpenAndReadFirst(Awkward(name)), Refused("empty_file", name));
    EXPECT_FALSE(reader_->Next(&frame_).value());
  }
}

TEST_F(ExtxyzReaderTest, FrameOfNoAtomsIsRefused) {
  EXPECT_THAT(Outcomes(Awkward("nonexistant.xyz")), ElementsAre("no_nodes"));
  EXPECT_THAT(OutcomesOf("0\na\n1\nb\nC 1 2 3\n"), ElementsAre("no_nodes", "b"));
}

TEST_F(ExtxyzReaderTest, CountThatIsNoNumberIsRefused) {
  for (const char* count : {"x", "-1", "1.0", "3 4", "C 1 2 3"}) {
    EXPECT_THAT(ReadFirst(std::string(count) + "\na\nC 1 2 3\n"), Refused("bad_count", "mol.xyz:1: frame 1"))
        << count;
    EXPECT_FALSE(reader_->Next(&frame_).value());
  }
}

TEST_F(ExtxyzReaderTest, RowBehindThoseThatAreCountedRefusesTheFrameAlone) {
  constexpr char kText[] = "1\na\nC 1 2 3\nC 4 5 6\n\n1\nb\nC 1 2 3\n1\nc\nC 1 2 3\n";
  EXPECT_THAT(OutcomesOf(kText), ElementsAre("count_too_low", "b", "c"));
  EXPECT_THAT(ReadFirst(kText),
              Refused("count_too_low",
                      "mol.xyz:4: frame 1: the count is 1, and one more row follows: 'C 4 5 6'; "
                      "the next frame is read from line 6 on"));
}

TEST_F(ExtxyzReaderTest, FileIsReadOnBehindACountThatIsNone) {
  constexpr char kBad[] = "1 atoms\na\nC 1 2 3\n";
  constexpr char kGood[] = "1\nb\nC 1 2 3\n";
  EXPECT_THAT(OutcomesOf(std::string(kGood) + kBad + kGood + kGood), ElementsAre("b", "bad_count", "b", "b"));
  EXPECT_THAT(ReadFirst(std::string(kBad) + kGood),
              Refused("bad_count", "found '1 atoms'; the next frame is read from line 4 on"));
}

TEST_F(ExtxyzReaderTest, WholeNumberAsACommentIsNoCountToReadOnFrom) {
  constexpr char kBad[] = "2 atoms\n2\nC 1 2 3\nC 4 5 6\nC 7 8 9\n";
  EXPECT_THAT(OutcomesOf(std::string(kBad) + "1\nb\nC 1 2 3\n"), ElementsAre("bad_count", "b"));
}

TEST_F(ExtxyzReaderTest, RestWithoutAFrameIsLeft) {
  const absl::StatusOr<bool> read = ReadFirst("x\na\nC 1 2 3\n");
  EXPECT_TRUE(LeavesRest(read.status()));
  EXPECT_THAT(read, Refused("bad_count",
                            "mol.xyz:1: frame 1: expected the number of atoms, found 'x'; nothing is "
                            "read from there on"));
}

TEST_F(ExtxyzReaderTest, OneRowTooManyAmongTwentyFramesCostsOneFrame) {
  std::string text;
  for (int k = 0; k < 20; ++k) {
    text += "2\nf" + std::to_string(k) + "\nC 1 2 3\nH 1 2 4\n" + (k == 4 ? "H 1 2 5\n" : "");
  }
  const std::vector<std::string> outcomes = OutcomesOf(text);
  ASSERT_EQ(outcomes.size(), 20u);
  for (int k = 0; k < 20; ++k) EXPECT_EQ(outcomes[k], k == 4 ? "count_too_low" : "f" + std::to_string(k));
}

TEST_F(ExtxyzReaderTest, CountTooHighIsSeenAtTheNextCount) {
  EXPECT_THAT(ReadFirst("3\na\nC 1 2 3\nC 1 2 3\n1\nb\nC 1 2 3\n"),
              Refused("count_too_high", "mol.xyz:5: frame 1 (a)"));
  ASSERT_TRUE(reader_->Next(&frame_).value());
  EXPECT_EQ(frame_.title, "b");
  EXPECT_EQ(frame_.line, 5u);
}

TEST_F(ExtxyzReaderTest, CountTooHighAtTheEndIsATruncatedFrame) {
  EXPECT_THAT(ReadFirst("3\na\nC 1 2 3\nC 1 2 3\n"), Refused("truncated_frame", "after 2 of 3 atoms"));
  EXPECT_FALSE(reader_->Next(&frame_).value());
}

TEST_F(ExtxyzReaderTest, CountAboveTheLimitIsRefusedWithoutReadingItIn) {
  EXPECT_THAT(ReadFirst("18446744073709551615\na\nC 1 2 3\n"), Refused("too_many_atoms", "--max-atoms"));
  std::string text = "1001\na\n";
  for (int atom = 0; atom < 1001; ++atom) text += "C 1 2 3\n";
  EXPECT_THAT(OutcomesOf(text + "1\nb\nC 1 2 3\n"), ElementsAre("too_many_atoms", "b"));
}

TEST_F(ExtxyzReaderTest, BadAtomsAreRefusedByNameAndReadingGoesOn) {
  const std::vector<std::vector<std::string>> cases = {
      {"Xq 1 2 3", "unknown_symbol", "'Xq'"}, {"CL 1 2 3", "unknown_symbol", "'CL'"},
      {"C nan 2 3", "not_finite", "'nan'"},   {"C 1 -inf 3", "not_finite", "'-inf'"},
      {"C 1 2 1e40", "not_finite", "'1e40'"}, {"C 1 2 x", "not_a_number", "'x'"},
      {"C 1,0 2 3", "not_a_number", "'1,0'"}, {"C 1 2", "short_row", "has 3 columns, 4 are needed"},
      {"", "short_row", "has 0 columns"},
  };
  for (const std::vector<std::string>& bad : cases) {
    const std::string text = "3\nm-1\nC 1 2 3\n" + bad[0] + "\nC 1 2 3\n1\nm-2\nC 1 2 3\n";
    EXPECT_THAT(ReadFirst(text), Refused(bad[1], "mol.xyz:4: frame 1 (m-1)")) << bad[0];
    EXPECT_THAT(ReadFirst(text), Refused(bad[1], bad[2]));
    ASSERT_TRUE(reader_->Next(&frame_).value()) << bad[0];
    EXPECT_EQ(frame_.title, "m-2");
  }
}

TEST_F(ExtxyzReaderTest, BadHeadsAreRefusedAndReadingGoesOn) {
  EXPECT_THAT(OutcomesOf("1\nid=\"a\nC 1 2 3\n"
                         "1\nProperties=pos:R:3\nC 1 2 3\n"
                         "1\nLattice=\"1 2 3\"\nC 1 2 3\n"
                         "1\nLattice=\"1 0 0 0 1 0 0 0 1\" pbc=\"X\"\nC 1 2 3\n"
                         "1\nid=b\nC 1 2 3\n"),
              ElementsAre("bad_comment", "bad_properties", "bad_lattice", "bad_pbc", "b"));
}

TEST_F(ExtxyzReaderTest, TruncatedGzipEndsTheFileNamingIt) {
  std::string text;
  for (int frame = 0; frame < 1000; ++frame) text += "1\nf" + std::to_string(frame) + "\nC 1 2 3\n";
  const std::string packed = Gzip(text);
  const std::string path = folder_.Write("cut.xyz.gz", packed.substr(0, packed.size() - 20));
  EXPECT_EQ(Outcomes(path).back(), "truncated_gzip");
  absl::StatusOr<bool> more = OpenAndReadFirst(path);
  while (more.ok()) more = reader_->Next(&frame_);
  EXPECT_THAT(more, Refused("truncated_gzip", "cut.xyz.gz"));
}

TEST_F(ExtxyzReaderTest, RefusalsNameTheLineThatIsWrong) {
  EXPECT_THAT(ReadFirst("0"), Refused("no_nodes", "mol.xyz:1: frame 1"));
  EXPECT_THAT(ReadFirst("\n1001\nid=a\n"), Refused("too_many_atoms", "mol.xyz:2: frame 1 (a)"));
  EXPECT_THAT(ReadFirst("1\n"), Refused("truncated_frame", "mol.xyz:1: frame 1"));
  EXPECT_THAT(ReadFirst("1\na pbc=\"T T T\"\nC 1 2 3\n"), Refused("bad_pbc", "mol.xyz:2: frame 1"));
  EXPECT_THAT(ReadFirst("1\na\nC 1 2 3\nVEC1 1 0 0\nVEC2 0 1\nVEC3 0 0 1\n"),
              Refused("bad_lattice", "mol.xyz:5: frame 1"));
}

TEST_F(ExtxyzReaderTest, LineAboveTheLimitEndsTheFile) {
  EXPECT_THAT(OutcomesOf("1\na\nC 1 2 3\n1\n" + std::string(2 << 20, 'x') + "\nC 1 2 3\n"),
              ElementsAre("a", "line_too_long"));
}

TEST_F(ExtxyzReaderTest, LongTextIsShortenedInMessages) {
  EXPECT_THAT(std::string(ReadFirst("1\na\n" + std::string(500, 'x') + " 1 2 3\n").status().message()),
              HasSubstr("xxx...'"));
}

TEST_F(ExtxyzReaderTest, RefusedFrameIsStillNamed) {
  ASSERT_FALSE(ReadFirst("1\nid=bad e=1\nC nan 2 3\n").ok());
  EXPECT_EQ(frame_.id, "bad");
  EXPECT_EQ(frame_.record, 1u);
  EXPECT_EQ(frame_.line, 1u);
}

TEST_F(ExtxyzReaderTest, RefusedFrameHasTheTitleOfASoundOne) {
  for (const char* atoms : {"C nan 2 3\nC 1 2 3\n", "C 1 2 3\n", "C nan 2 3\n"}) {
    ASSERT_FALSE(ReadFirst(std::string("2\nword e=1\n") + atoms).ok());
    EXPECT_EQ(frame_.title, "word") << atoms;
    EXPECT_FALSE(reader_->Next(&frame_).value());
  }
  EXPECT_THAT(ReadFirst("1\nword Properties=pos:R:3\nC 1 2 3\n\n"),
              Refused("bad_properties", "mol.xyz:2: frame 1 (word)"));
  EXPECT_THAT(ReadFirst("1\nword e=1\nC nan 2 3\n\n1\nnext\nC 1 2 3\n"),
              Refused("not_finite", "mol.xyz:3: frame 1 (word)"));
  ASSERT_TRUE(reader_->Next(&frame_).value());
  EXPECT_EQ(frame_.line, 5u);
}

TEST_F(ExtxyzReaderTest, PairsAreLabelsAndColumnsThatAreNotStoredAreLabelsWithoutText) {
  ASSERT_TRUE(ReadFirst("1\nid=a energy=-1.5 Properties=species:S:1:pos:R:3:forces:R:3:tag:I:1 source=\"x y\"\n"
                        "C 1 2 3 4 5 6 7\n")
                  .value());
  EXPECT_THAT(Labels(), ElementsAre("id=a structural", "energy=-1.5",
                                    "Properties=species:S:1:pos:R:3:forces:R:3:tag:I:1 structural",
                                    "source=x y", "forces per node", "tag per node"));
}

TEST_F(ExtxyzReaderTest, CommentThatIsOneNumberIsTheEnergy) {
  ASSERT_TRUE(OpenAndReadFirst(Report("ensemble/crest.xyz")).value());
  EXPECT_THAT(Labels(), ElementsAre("energy=-5.0705444"));
  ASSERT_TRUE(ReadFirst("1\n12 13\nC 1 2 3\n").value());
  EXPECT_THAT(Labels(), IsEmpty());
}

TEST_F(ExtxyzReaderTest, NumbersBehindAWordAreLabels) {
  ASSERT_TRUE(OpenAndReadFirst(Report("ensemble/etot.xyz")).value());
  EXPECT_THAT(Labels(), ElementsAre("Etot=-76.400", ::testing::StartsWith("g norm=")));
  EXPECT_THAT(Labels()[1], ::testing::EndsWith(" ambiguous"));
  ASSERT_TRUE(OpenAndReadFirst(Report("ensemble/xtbopt.xyz")).value());
  EXPECT_THAT(Labels(), ElementsAre("energy=-5.07054444061", "gnorm=0.000057", "xtb=6.6.1 ambiguous"));
  ASSERT_TRUE(OpenAndReadFirst(Report("ensemble/titled.xyz")).value());
  EXPECT_THAT(Labels(), IsEmpty());
  EXPECT_EQ(frame_.title, "Frame");
}

TEST_F(ExtxyzReaderTest, KeysOfTheCellCountInAnyCase) {
  ASSERT_TRUE(OpenAndReadFirst(Report("case/lower_all.xyz")).value());
  EXPECT_THAT(Cell(), ElementsAre(5.43f, 0, 0, 0, 5.43f, 0, 0, 0, 5.43f));
  EXPECT_THAT(Pbc(), ElementsAre(1, 1, 1));
  ASSERT_TRUE(OpenAndReadFirst(Report("case/upper_pbc.xyz")).value());
  EXPECT_THAT(Cell(), ElementsAre(5.43f, 0, 0, 0, 5.43f, 0, 0, 0, 5.43f));
  EXPECT_THAT(Pbc(), ElementsAre(0, 0, 0));
  ASSERT_TRUE(OpenAndReadFirst(Report("case/lower_properties_moves_columns.xyz")).value());
  EXPECT_THAT(Pos(), ElementsAre(0, 0, 0, 1.36f, 1.36f, 1.36f));
  ASSERT_TRUE(OpenAndReadFirst(Report("case/numbers_column.xyz")).value());
  EXPECT_THAT(Z(), ElementsAre(14, 14));
}

TEST_F(ExtxyzReaderTest, ArraysOfTheSpecificationAreRead) {
  for (const char* name : {"bool_upper", "lattice_3x3", "lattice_braces", "lattice_vector"}) {
    ASSERT_TRUE(OpenAndReadFirst(Report(std::string("forms/") + name + ".xyz")).value()) << name;
    EXPECT_EQ(frame_.id, name);
    EXPECT_THAT(Cell(), ElementsAre(5.43f, 0, 0, 0, 5.43f, 0, 0, 0, 5.43f)) << name;
    EXPECT_THAT(Pbc(), ElementsAre(1, 1, 0)) << name;
    EXPECT_THAT(Labels(), Contains("energy=-10.5")) << name;
  }
  ASSERT_TRUE(OpenAndReadFirst(Report("forms/energy_one_element.xyz")).value());
  EXPECT_THAT(Cell(), IsEmpty());
  EXPECT_THAT(Labels(), Contains("energy=-10.5"));
  ASSERT_TRUE(reader_->Next(&frame_).value());
  EXPECT_THAT(Labels(), Contains("energy=-11.5"));
}

TEST_F(ExtxyzReaderTest, CommasInALatticeMeanNothing) {
  ASSERT_TRUE(OpenAndReadFirst(Report("commas/lattice.xyz")).value());
  EXPECT_THAT(Cell(), ElementsAre(1.9f, -0.3f, 5.6f, -2.1f, -5.5f, 0.3f, 5.2f, -2.1f, -1.9f));
}

TEST_F(ExtxyzReaderTest, FortranExponentsAreRead) {
  ASSERT_TRUE(OpenAndReadFirst(Report("fortran/positions.xyz")).value());
  EXPECT_THAT(Pos(), ElementsAre(0, 0, -0.37f, 0, 0, 0.37f));
}

TEST_F(ExtxyzReaderTest, SpeciesAndNumberThatDisagreeAreRefused) {
  EXPECT_THAT(OpenAndReadFirst(Report("contradiction/species_and_z.xyz")),
              Refused("contradiction", "element 'C' and atomic number '5'"));
  EXPECT_TRUE(ReadFirst("1\nProperties=species:S:1:pos:R:3:Z:I:1\nC 0 0 0 6\n").value());
}

TEST_F(ExtxyzReaderTest, TypesOfASimulationAreNoElements) {
  EXPECT_THAT(Outcomes(Report("types/dump.xyz")), ElementsAre("unknown_symbol", "unknown_symbol"));
  ASSERT_TRUE(OpenAndReadFirst(Report("types/numbers.xyz")).value());
  EXPECT_THAT(Z(), ElementsAre(6, 8));
}

TEST_F(ExtxyzReaderTest, CellAndUnitsOfIpiAreRead) {
  ASSERT_TRUE(OpenAndReadFirst(Report("ipi/positions_angstrom.xyz")).value());
  EXPECT_THAT(Cell(), ElementsAre(10, 0, 0, 0, 10, 0, 0, 0, 10));
  EXPECT_THAT(Pbc(), ElementsAre(1, 1, 1));
  EXPECT_THAT(Pos(), ElementsAre(0, 0, 0, 0, 0, 0.96f));
  ASSERT_TRUE(OpenAndReadFirst(Report("ipi/positions_bohr.xyz")).value());
  EXPECT_FLOAT_EQ(Cell().at(0), 35 * 0.529177210903f);
  EXPECT_FLOAT_EQ(Pos().at(5), 1.81f * 0.529177210903f);
}

TEST_F(ExtxyzReaderTest, RowsOfIpiThatAreNoPositionsAreRefused) {
  EXPECT_THAT(OpenAndReadFirst(Report("ipi/forces.xyz")), Refused("not_positions", "'forces{atomic_unit}'"));
  const std::string frame = "\nC 1 2 3\n";
  EXPECT_THAT(ReadFirst("1\n# CELL(abcABC): 1 1 1 90 90 90 Step: 3" + frame), Refused("not_positions", "UNIT"));
  EXPECT_THAT(ReadFirst("1\n# CELL(abcABC): 1 1 1 90 90 90 positions{parsec}" + frame),
              Refused("unknown_unit", "parsec"));
  EXPECT_THAT(ReadFirst("1\n# CELL(H): 1 1 1 90 90 90 positions{angstrom}" + frame),
              Refused("bad_cell", "CELL(H)"));
  for (const char* cell :
       {"1 1 1 90 90", "0 1 1 90 90 90", "1 1 1 10 10 170", "1 1 1 90 90 180", "nan 1 1 90 90 90"}) {
    EXPECT_THAT(ReadFirst("1\n# CELL(abcABC): " + std::string(cell) + " positions{angstrom}" + frame),
                Refused("bad_cell", "CELL(abcABC)"))
        << cell;
  }
}

TEST_F(ExtxyzReaderTest, VectorsBehindTheAtomsMakeACell) {
  ASSERT_TRUE(OpenAndReadFirst(Report("vectors_after/cell.xyz")).value());
  EXPECT_EQ(frame_.n_node, 2u);
  EXPECT_THAT(Cell(), ElementsAre(12.4f, 0, 0, 0, 12.4f, 0, 0, 0, 12.4f));
  EXPECT_THAT(Pbc(), ElementsAre(1, 1, 1));
  EXPECT_THAT(OutcomesOf("1\na\nC 1 2 3\nVEC1 1 0 0\nVEC2 0 1 0\n1\nb\nC 1 2 3\n"),
              ElementsAre("bad_lattice", "b"));
  EXPECT_THAT(OutcomesOf("1\na\nC 1 2 3\nVEC1 1 0 0\nVEC3 0 1 0\nVEC2 0 0 1\n1\nb\nC 1 2 3\n"),
              ElementsAre("bad_lattice", "b"));
}

TEST_F(ExtxyzReaderTest, PeriodicFrameWithoutACellIsRefused) {
  EXPECT_THAT(ReadFirst("1\nid=a pbc=\"T T T\"\nC 1 2 3\n"), Refused("bad_pbc", "no Lattice"));
  EXPECT_TRUE(ReadFirst("1\nid=a pbc=\"F F F\"\nC 1 2 3\n").value());
}

TEST_F(ExtxyzReaderTest, RowsThatAreTooLongTogetherAreRefusedAndReadingGoesOn) {
  std::string text = "3\na\n";
  for (int atom = 0; atom < 3; ++atom) text += "C 1 2 3 " + std::string(1 << 20, 'x').substr(10) + "\n";
  EXPECT_THAT(OutcomesOf(text + "1\nb\nC 1 2 3\n"), ElementsAre("frame_too_long", "b"));
}

}  // namespace
}  // namespace packtrain::ingest
