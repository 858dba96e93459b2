// Which labels and columns become the targets of an import.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/ingest/graph_import.h"
#include "tests/client/ingest/graph_import_testing.h"
#include "tests/client/ingest/refused.h"
#include "tests/testing/test_data.h"

namespace packtrain::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Imported;
using ::testing::IsNan;
using testing::Refused;
using testing::StatusIs;
using testing::TestData;

class ImportTargetsTest : public testing::GraphImportTest {
 protected:
  absl::StatusOr<Imported> ImportLines(std::string_view lines, bool skip_refused = true) {
    ImportOptions options;
    options.paths = {folder_.Write("m.jsonl", lines)};
    options.skip_refused = skip_refused;
    return Import(std::move(options), "jsonl");
  }
  ImportOptions Join(std::string_view csv) {
    ImportOptions options;
    options.join = JoinOptions{folder_.Write("t.csv", csv), "", {}};
    return options;
  }
};

constexpr char kThree[] = "1\nid=a e=1.5\nC 1 2 3\n1\nid=b e=2.5\nH 1 2 3\n1\nid=c e=x\nO 1 2 3\n";

TEST_F(ImportTargetsTest, KeysWithNumbersInEveryFrameAreTheTargets) {
  const Imported imported = ImportText("1\nid=7 c=-2e3 b=word a=1 d=\"1 2\"\nC 1 2 3\n").value();
  EXPECT_THAT(imported.Targets(), ElementsAre("a", "c"));
  EXPECT_THAT(imported.Column<double>("y"), ElementsAre(1, -2000));
  EXPECT_THAT(Labels(), ElementsAre("a 1/1", "c 1/1", "b 1/1 text", "d 1/1 array"));
}

TEST_F(ImportTargetsTest, AKeyThatTheFirstFrameLacksIsATargetOnlyWhereTargetsMayBeMissing) {
  constexpr char kLate[] = "1\nid=a\nC 1 2 3\n1\nid=b energy=-1\nC 1 2 3\n1\nid=c energy=-2\nC 1 2 3\n";
  EXPECT_THAT(ImportText(kLate).value().Targets(), ElementsAre());
  EXPECT_THAT(Labels(), ElementsAre("energy 2/3 missing_in_some"));
  ImportOptions options;
  options.missing_target_nan = true;
  EXPECT_THAT(ImportText(kLate, options).value().Column<double>("y"), ElementsAre(IsNan(), -1, -2));
  EXPECT_THAT(Labels(), ElementsAre("energy 2/3"));
}

TEST_F(ImportTargetsTest, WhatMerelyLooksLikeANumberRefusesNoGraph) {
  EXPECT_THAT(ImportText(kThree).value().Targets(), ElementsAre());
  EXPECT_THAT(Labels(), ElementsAre("e 3/3 text"));
  EXPECT_EQ(readings_, 1);
}

// Frames by their comments.
std::string Frames(int count, const std::string& comment, const std::string& last) {
  std::string text;
  for (int frame = 1; frame < count; ++frame) {
    text += absl::StrCat("1\nid=", frame, " ", comment, "\nC 1 2 3\n");
  }
  return absl::StrCat(text, "1\nid=last ", last, "\nC 1 2 3\n");
}

TEST_F(ImportTargetsTest, EverythingIsReadAgainWhereALateFrameShowsOtherTargets) {
  EXPECT_THAT(ImportText(Frames(2000, "e=1 f=2", "e=1 f=2")).value().Targets(), ElementsAre("e", "f"));
  EXPECT_EQ(readings_, 1);
  const Imported lacks = ImportText(Frames(2000, "e=1 f=2", "f=2")).value();
  EXPECT_THAT(lacks.Targets(), ElementsAre("f"));
  EXPECT_EQ(lacks.Ids().size(), 2000u);
  EXPECT_THAT(lacks.Column<double>("y"), ::testing::Each(2));
  EXPECT_EQ(readings_, 2);
  EXPECT_EQ(ledger().read(), 2000u);
  EXPECT_THAT(Labels(), ElementsAre("f 2000/2000", "e 1999/2000 missing_in_some"));
  EXPECT_THAT(ImportText(Frames(2000, "e=1 f=2", "e=x f=2")).value().Targets(), ElementsAre("f"));
  ImportOptions options;
  options.missing_target_nan = true;
  EXPECT_THAT(ImportText(Frames(2000, "f=2", "f=2 e=1"), options).value().Targets(), ElementsAre("f", "e"));
  EXPECT_EQ(readings_, 2);
}

TEST_F(ImportTargetsTest, TheSameGraphsInAnotherOrderHaveTheSameTargets) {
  const std::string many = Frames(1500, "a=1 b=2", "b=2");
  const std::string one = "1\nid=first b=2 c=3\nC 1 2 3\n";
  EXPECT_EQ(ImportText(one + many).value().Targets(), ImportText(many + one).value().Targets());
  ImportOptions options;
  options.missing_target_nan = true;
  EXPECT_THAT(ImportText(one + many, options).value().Targets(), ElementsAre("b", "a", "c"));
  EXPECT_THAT(ImportText(many + one, options).value().Targets(), ElementsAre("b", "a", "c"));
}

TEST_F(ImportTargetsTest, APipeNeedsNamedTargetsOnlyWhereTheyCannotBeTold) {
  const std::string pipe = folder_.PathOf("pipe");
  const auto import = [&](const std::string& text, ImportOptions options) {
    EXPECT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << text; });
    options.paths = {pipe};
    absl::StatusOr<Imported> imported = Import(std::move(options));
    writer.join();
    std::filesystem::remove(pipe);
    return imported;
  };
  EXPECT_THAT(import(Frames(2000, "e=1", "e=2"), {}).value().Targets(), ElementsAre("e"));
  EXPECT_THAT(import(Frames(2000, "e=1", ""), {}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--targets names the targets")));
  ImportOptions options;
  options.targets = {"e"};
  options.missing_target_nan = true;
  EXPECT_THAT(import(Frames(2000, "e=1", ""), options).value().Targets(), ElementsAre("e"));
}

TEST_F(ImportTargetsTest, WithoutNumbersThereAreNoTargets) {
  const Imported imported = ImportText("1\nplain\nC 1 2 3\n").value();
  EXPECT_EQ(imported.header.schema().fields_size(), 2);
  EXPECT_EQ(imported.header.schema().targets_size(), 0);
}

TEST_F(ImportTargetsTest, TargetThatIsNoNumberIsRefused) {
  ImportOptions options;
  options.targets = {"e"};
  EXPECT_THAT(ImportText(kThree, options), Refused("bad_target", "m.xyz:8: frame 3 (c): target 'e'"));
}

TEST_F(ImportTargetsTest, MoreTargetsThanASchemaHoldsAreRefused) {
  std::string comment = "id=a";
  for (int k = 0; k < 1025; ++k) comment += " t" + std::to_string(k) + "=1";
  EXPECT_THAT(ImportText("1\n" + comment + "\nH 0 0 0\n"), Refused("too_many_targets", "1025 targets"));
}

TEST_F(ImportTargetsTest, MissingTargetIsRefusedOrNan) {
  ImportOptions options;
  options.paths = {TestData("crystals/mp_sample.extxyz")};
  options.targets = {"band_gap", "e_form"};
  EXPECT_THAT(Import(options),
              Refused("missing_target", "(mp-1001605): target 'e_form' is missing (--missing-target"));
  options.missing_target_nan = true;
  EXPECT_THAT(Import(options).value().Column<double>("y")[2 * 2 + 1], IsNan());
}

TEST_F(ImportTargetsTest, IdMissingInTheTableIsRefusedOrNan) {
  ImportOptions options = Join("id,e\na,1\nc,3\n");
  EXPECT_THAT(ImportText(kThree, options), Refused("missing_target", "frame 2 (b): no row of"));
  options.missing_target_nan = true;
  EXPECT_THAT(ImportText(kThree, options).value().Column<double>("y"), ElementsAre(1, IsNan(), 3));
}

TEST_F(ImportTargetsTest, CellMissingInTheTableIsNamedByItsLine) {
  EXPECT_THAT(ImportText(kThree, Join("id,e\na,1\nc,3\nb,N/A\n")),
              Refused("missing_target", "m.xyz:4: frame 2 (b): " + folder_.PathOf("t.csv") +
                                            ":4: target 'e' is missing (--missing-target"));
}

TEST_F(ImportTargetsTest, TargetThatIsWrongIsNamedByItsLine) {
  ImportOptions options;
  options.targets = {"e"};
  EXPECT_THAT(ImportText(kThree, options), Refused("bad_target", "m.xyz:8: frame 3 (c): target 'e'"));
  EXPECT_THAT(ImportText("1\nid=a e=1\nC 1 2 3\n1\nid=b e=None\nC 1 2 3\n", options),
              Refused("missing_target", "m.xyz:5: frame 2 (b): target 'e'"));
}

TEST_F(ImportTargetsTest, WhatHasTheFormOfAPairIsToldOf) {
  ASSERT_THAT(ImportText("1\nid=a e: 1 xtb: 6.6.1 g norm= 0.5\nC 1 2 3\n"), testing::IsOk());
  EXPECT_THAT(Labels(), ElementsAre("e 1/1", "xtb 1/1 text", "g norm 1/1 ambiguous"));
  ImportOptions options;
  options.targets = {"g norm"};
  EXPECT_THAT(ImportText("1\nid=a e: 1 g norm= 0.5\nC 1 2 3\n", options).value().Column<double>("y"),
              ElementsAre(0.5));
}

TEST_F(ImportTargetsTest, KeyThatIsAmbiguousInAnyGraphIsNoTargetWhicheverComesFirst) {
  const std::string clear = "1\nid=a energy=1\nC 1 2 3\n", ambiguous = "1\nb energy:2\nC 1 2 3\n";
  for (const std::string& text : {clear + ambiguous, ambiguous + clear}) {
    EXPECT_THAT(ImportText(text).value().Targets(), ElementsAre());
    EXPECT_THAT(Labels(), ElementsAre("energy 2/2 ambiguous"));
  }
}

TEST_F(ImportTargetsTest, JoinedTargetsAreCountedInGraphs) {
  ImportOptions options = Join("id,e,note\na,1,x\nc,3,2\nz,,y\ny,4,\n");
  options.missing_target_nan = true;
  ASSERT_THAT(ImportText(kThree, options), testing::IsOk());
  EXPECT_THAT(Labels(), ElementsAre("e 2/3", "note 2/3 text", "e 3/3 joined"));
  const JoinUse& join = *ledger().join();
  EXPECT_EQ(join.graphs, 3u);
  EXPECT_EQ(join.graphs_without_row, 1u);
  EXPECT_THAT(join.first_graphs, ElementsAre("b"));
  EXPECT_EQ(join.rows, 4u);
  EXPECT_EQ(join.rows_without_graph, 2u);
  EXPECT_THAT(join.first_rows, ElementsAre("z", "y"));
  options.limit = 1;
  ASSERT_THAT(ImportText(kThree, options), testing::IsOk());
  EXPECT_THAT(Labels(), ElementsAre("e 1/1", "note 1/1 text", "e 1/1 joined"));
  EXPECT_EQ(ledger().join()->rows_without_graph, 3u);
  options.targets = {"e"};
  ASSERT_THAT(ImportText(kThree, options), testing::IsOk());
  EXPECT_THAT(Labels(), ElementsAre("e 1/1", "note 1/1 not_named", "e 1/1 joined"));
}

TEST_F(ImportTargetsTest, ARowOfARefusedGraphHasAGraph) {
  ImportOptions options = Join("id,e\na,1\nb,2\n");
  options.skip_refused = true;
  ASSERT_THAT(ImportText("1\nid=a\nC 1 2 3\n1\nid=b\nC nan 2 3\n", options), testing::IsOk());
  EXPECT_THAT(Labels(), ElementsAre("e 1/1"));
  EXPECT_EQ(ledger().join()->rows_without_graph, 0u);
}

TEST_F(ImportTargetsTest, ATableOfOtherGraphsIsRefusedButForAPart) {
  ImportOptions options = Join("name,e\nm1,1\nm2,3\n");
  EXPECT_THAT(
      ImportText(kThree, options),
      Refused("missing_target", "no row of " + folder_.PathOf("t.csv") +
                                    " has this id; its column 'name' has 'm1', 'm2' (--missing-target"));
  options.missing_target_nan = true;
  EXPECT_THAT(ImportText(kThree, options),
              Refused("no_row",
                      "is of any of the 3 graphs: its column 'name' has 'm1', 'm2', and the ids of the "
                      "graphs are a, b, c (--key"));
  options.is_part = true;
  ASSERT_THAT(ImportText(kThree, options), testing::IsOk());
  EXPECT_THAT(Labels(), ElementsAre("e 0/3", "e 3/3 joined"));
}

TEST_F(ImportTargetsTest, ATargetThatNoGraphHasIsRefusedButForAPart) {
  ImportOptions options;
  options.targets = {"gap", "U_0"};
  const std::string two = "1\nid=a gap=1 U0=2\nC 1 2 3\n1\nid=b gap=1 U0=2 T=x\nC 1 2 3\n";
  EXPECT_THAT(ImportText(two, options),
              Refused("missing_target",
                      "frame 1 (a): target 'U_0' is missing, as in every graph read so far "
                      "(--targets); numbers are: gap, U0"));
  options.missing_target_nan = true;
  EXPECT_THAT(ImportText(two, options),
              Refused("no_such_target", "no graph has target 'U_0' (--targets); numbers are: gap, U0"));
  options.is_part = true;
  ASSERT_THAT(ImportText(two, options), testing::IsOk());
  EXPECT_THAT(Labels(), ElementsAre("gap 2/2", "U_0 0/2", "U0 2/2 not_named", "T 1/2 not_named"));
  ImportOptions joined = Join("id,e,f\na,,1\nb,,2\n");
  joined.targets = {"e"};
  joined.missing_target_nan = true;
  EXPECT_THAT(ImportText(two, joined), Refused("no_such_target", "numbers are: f"));
}

TEST_F(ImportTargetsTest, LabelsAreCountedInGraphsThatAreStored) {
  ImportOptions options;
  options.skip_refused = true;
  ASSERT_THAT(
      ImportText("1\nid=a e=1 f=x\nC 1 2 3\n1\nid=b e=2 f=3\nC nan 2 3\n1\nid=c e=3 f=4\nC 1 2 3\n", options),
      testing::IsOk());
  EXPECT_THAT(Labels(), ElementsAre("e 2/2", "f 2/2 text"));
  const std::vector<LabelUse> uses = import_->Labels(std::vector<std::uint64_t>{0}).value();
  EXPECT_EQ(uses[0].found, 1u);
  EXPECT_EQ(uses[0].graphs, 1u);
  EXPECT_EQ(uses[1].no_numbers, 0u);
}

TEST_F(ImportTargetsTest, TheFirstTextAmongNumbersIsToldByFileLineAndGraph) {
  ASSERT_THAT(ImportText(kThree), testing::IsOk());
  const std::vector<LabelUse> uses = import_->Labels({}).value();
  EXPECT_EQ(uses[0].no_numbers, 1u);
  EXPECT_EQ(uses[0].first_no_number, folder_.PathOf("m.xyz") + ":8: frame 3 (c): 'x'");
}

TEST_F(ImportTargetsTest, TruthsAreTargets) {
  const Imported imported = ImportText("1\nid=a stable=T\nC 1 2 3\n1\nid=b stable=False\nC 1 2 3\n").value();
  EXPECT_THAT(imported.Targets(), ElementsAre("stable"));
  EXPECT_THAT(imported.Column<double>("y"), ElementsAre(1, 0));
}

TEST_F(ImportTargetsTest, AnArrayThatIsNamedIsRefusedAsOne) {
  ImportOptions options;
  options.targets = {"dipole"};
  EXPECT_THAT(ImportText("1\nid=a dipole=\"0 0 1\"\nC 1 2 3\n", options),
              Refused("bad_target", "target 'dipole' is an array, and not a number"));
}

TEST_F(ImportTargetsTest, NamedTargetsAreTakenFromTheTable) {
  ImportOptions options = Join("id,e,f\na,1,4\nb,2,5\nc,3,6\n");
  options.targets = {"f"};
  EXPECT_THAT(ImportText(kThree, options).value().Column<double>("y"), ElementsAre(4, 5, 6));
}

TEST_F(ImportTargetsTest, AKeyWithTwoValuesIsToldOfAndRefusedWhereItIsNamed) {
  constexpr char kTwice[] = "1\nid=a energy: -1.2 energy= 3 gap=1 gap=1\nC 1 2 3\n";
  EXPECT_THAT(ImportText(kTwice).value().Targets(), ElementsAre("gap"));
  EXPECT_THAT(Labels(), ElementsAre("gap 1/1", "energy 1/1 several"));
  ImportOptions options;
  options.targets = {"energy"};
  EXPECT_THAT(
      ImportText(kTwice, options),
      Refused("bad_target", "m.xyz:2: frame 1 (a): target 'energy' has several values: '-1.2' and '3'"));
}

TEST_F(ImportTargetsTest, ALineOfJsonWithoutItsTargetIsRefusedAndNoOther) {
  for (const auto& [y, reason] : std::vector<std::pair<std::string, std::string>>{
           {"", "missing_target"}, {",\"y\":null", "missing_target"}, {",\"y\":\"q\"", "bad_target"}}) {
    const std::string lines =
        absl::StrCat("{\"n_node\":2,\"edges\":[[0,1]],\"y\":1}\n", "{\"n_node\":2,\"edges\":[[0,1]]", y, "}\n");
    EXPECT_THAT(ImportLines(lines).value().Column<double>("y"), ElementsAre(1)) << y;
    EXPECT_EQ(Reasons().at(reason), 1) << y;
    EXPECT_THAT(ImportLines(lines, /*skip_refused=*/false), Refused(reason, "m.jsonl:2: record 2")) << y;
  }
}

TEST_F(ImportTargetsTest, AGraphHasAFieldOrATarget) {
  constexpr char kBare[] = "{\"n_node\":2,\"edges\":[[0,1]]}\n{\"n_node\":2,\"edges\":[[1,0]]}\n";
  EXPECT_THAT(ImportLines(kBare, /*skip_refused=*/false),
              Refused("no_fields", "m.jsonl:1: record 1 (m:1): the graph has neither a field"));
  EXPECT_THAT(ImportLines(kBare),
              Refused("no_graphs", "m.jsonl:1: record 1 (m:1): the graph has neither a field"));
}

TEST_F(ImportTargetsTest, ANameThatNoTargetCanHaveEndsNoImport) {
  const std::string too_long(300, 'k'), cut = std::string(40, 'k') + "...";
  const std::string frame = absl::StrCat("1\nid=a = 5 ", too_long, "=5 energy=1\nC 1 2 3\n");
  EXPECT_THAT(ImportText(frame).value().Targets(), ElementsAre("energy"));
  EXPECT_THAT(Labels(), ElementsAre("energy 1/1", " 1/1 no_name", cut + " 1/1 long_name"));
  ImportOptions options;
  options.targets = {"energie"};
  EXPECT_THAT(ImportText(frame, options), Refused("missing_target", "numbers are: energy"));
  EXPECT_EQ(ImportText("1\nid=a = 5\nC 1 2 3\n").value().header.schema().targets_size(), 0);
}

TEST_F(ImportTargetsTest, AColumnWithoutANameIsNoTargetOfATable) {
  EXPECT_THAT(ImportText(kThree, Join("id,,f\na,1,4\nb,2,5\nc,3,6\n")).value().Targets(), ElementsAre("f"));
  EXPECT_THAT(Labels(), ElementsAre("f 3/3", " 3/3 no_name", "e 3/3 joined"));
}

TEST_F(ImportTargetsTest, InfiniteTargetIsRefused) {
  EXPECT_THAT(ImportText("1\nid=a e=inf\nC 1 2 3\n"), Refused("not_finite", "target 'e'"));
}

}  // namespace
}  // namespace packtrain::ingest
