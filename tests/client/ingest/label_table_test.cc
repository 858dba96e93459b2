#include "client/ingest/label_table.h"

#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace packtrain::ingest {

namespace {

using ::testing::ElementsAre;
using Row = std::vector<Label>;

// Graphs of three nodes, at places "1", "2" and so on.
LabelTable Counted(const std::vector<Row>& graphs, bool allow_missing = false, bool cells = false) {
  LabelTable table(allow_missing);
  int place = 0;
  for (const Row& labels : graphs) {
    SourceGraph graph((GraphLayout()));
    graph.n_node = 3;
    graph.labels = labels;
    table.Read(graph, cells);
    ++place;
    table.Count([place](const LabelTable::Reading&) { return std::to_string(place); });
  }
  return table;
}

// "NAME REASON", of a target "NAME".
std::string Judged(const LabelTable& table, std::size_t label) {
  const LabelUse use = table.UseOf(label, {}, 0);
  EXPECT_EQ(use.used, use.reason.empty());
  return use.name + (use.used ? "" : " ") + use.reason;
}

TEST(LabelTableTest, NumbersInEveryGraphAreTargetsByName) {
  const LabelTable table =
      Counted({{{"b", "1"}, {"a", "-2e3"}, {"word", "x"}}, {{"a", "4"}, {"b", "inf"}, {"word", "1"}}});
  EXPECT_THAT(table.Targets(), ElementsAre("a", "b"));
  EXPECT_EQ(Judged(table, 2), "word text");
}

TEST(LabelTableTest, ANumberInSomeGraphsIsATargetOnlyWhereTargetsMayBeMissing) {
  const std::vector<Row> graphs = {{}, {{"energy", "1"}, {"rare", "3"}}, {{"energy", "2"}, {"rare", "None"}}};
  EXPECT_THAT(Counted(graphs).Targets(), ElementsAre());
  EXPECT_EQ(Judged(Counted(graphs), 0), "energy missing_in_some");
  EXPECT_EQ(Judged(Counted(graphs), 1), "rare missing_in_some");
  EXPECT_THAT(Counted(graphs, true).Targets(), ElementsAre("energy", "rare"));
}

TEST(LabelTableTest, KeysGoByTheNumberOfGraphsThatHaveThemThenByName) {
  EXPECT_THAT(Counted({{{"z", "1"}, {"c", "1"}}, {{"z", "1"}, {"b", "1"}}}, true).Targets(),
              ElementsAre("z", "b", "c"));
}

TEST(LabelTableTest, TextInOneGraphMakesAKeyNoTarget) {
  EXPECT_THAT(Counted({{{"e", "1"}}, {{"e", "x"}}, {{"e", "2"}}}, true).Targets(), ElementsAre());
}

TEST(LabelTableTest, ColumnsWithMoreNumbersThanWordsAreTargetsInTheirOrder) {
  const LabelTable table = Counted({{{"z", "1"}, {"half", "1"}, {"a", ""}},
                                    {{"z", "oops"}, {"half", "x"}, {"a", "2"}},
                                    {{"z", "3"}, {"half", "-"}, {"a", "N/A"}}},
                                   false, /*cells=*/true);
  EXPECT_THAT(table.Targets(), ElementsAre("z", "a"));
  EXPECT_EQ(Judged(table, 1), "half text");
}

TEST(LabelTableTest, SomeWordsAreMissingValues) {
  for (const char* word : {"", " ", "-", "None", "N/A", "#N/A", "nan", "NaN", "NAN", "-nan"}) {
    EXPECT_EQ(ReadLabelText(word).kind, LabelText::Kind::kMissing) << word;
  }
  for (const char* word : {"null", "--", "t", "-76,417", "-76.417 Ha", "1 x", "[a]", "(1", "x"}) {
    EXPECT_EQ(ReadLabelText(word).kind, LabelText::Kind::kText) << word;
  }
  EXPECT_EQ(ReadLabelText(" -76.417 ").number, -76.417);
}

TEST(LabelTableTest, TruthsAreOneAndZero) {
  for (const char* word : {"T", "true", "True", "TRUE", " T "})
    EXPECT_EQ(ReadLabelText(word).number, 1) << word;
  for (const char* word : {"F", "false", "False", "FALSE"}) {
    EXPECT_EQ(ReadLabelText(word).kind, LabelText::Kind::kNumber) << word;
    EXPECT_EQ(ReadLabelText(word).number, 0) << word;
  }
}

TEST(LabelTableTest, SeveralNumbersAreAnArray) {
  for (const char* text :
       {"1 2", "0.5 -1e3 2", "T F T", "[1, 2, 3]", "[[1,2],[3,4]]", "{1 2}", "(1,2)", "[1]"}) {
    EXPECT_EQ(ReadLabelText(text).kind, LabelText::Kind::kArray) << text;
  }
  EXPECT_EQ(Judged(Counted({{{"dipole", "1 2 3"}}, {{"dipole", "2 3 4"}}}), 0), "dipole array");
}

TEST(LabelTableTest, OneTextAmongNumbersIsToldByItsPlace) {
  const LabelTable table = Counted({{{"e", "1"}}, {{"e", "x"}}, {{"e", "y"}}, {{"e", "2"}}});
  const LabelUse use = table.UseOf(0, {.found = 4, .numbers = 2}, 5);
  EXPECT_EQ(use, (LabelUse{"e", 4, 5, false, "text", 2, "2: 'x'"}));
}

TEST(LabelTableTest, AListIsOfNodesWhereItIsAsLongAsTheyAreManyInEveryGraph) {
  const auto list = [](std::uint64_t rows) {
    return Label{.name = "q", .text = "", .form = LabelForm::kArray, .rows = rows};
  };
  EXPECT_EQ(Judged(Counted({{list(3)}, {list(3)}}), 0), "q per_node");
  EXPECT_EQ(Judged(Counted({{list(3)}, {list(2)}}), 0), "q array");
  EXPECT_EQ(Judged(Counted({{{.name = "o", .text = "", .form = LabelForm::kObject}}}), 0), "o object");
}

TEST(LabelTableTest, WhatDescribesTheRecordIsNoTargetUnlessItIsNamed) {
  EXPECT_EQ(Judged(Counted({{{.name = "r", .text = "1", .descriptive = true}}}), 0), "r descriptive");
  EXPECT_EQ(Judged(Counted({{{.name = "r", .text = "x", .descriptive = true}}}), 0), "r text");
  EXPECT_EQ(Judged(Counted({{{.name = "r", .text = "1"}}, {{.name = "r", .text = "1", .ambiguous = true}}}), 0),
            "r ambiguous");
  EXPECT_EQ(Judged(Counted({{{.name = "r", .text = "1"}}, {{.name = "r", .text = "-", .ambiguous = true}}}), 0),
            "r missing_in_some");
}

TEST(LabelTableTest, DigitsInNamesAreOrderedAsNumbers) {
  EXPECT_THAT(Counted({{{"t_10", "1"}, {"t_9", "1"}, {"t_1", "1"}, {"s_11", "1"}}}).Targets(),
              ElementsAre("s_11", "t_1", "t_9", "t_10"));
}

TEST(LabelTableTest, LabelsThatCanBeNoTargetsSayWhy) {
  const LabelTable table =
      Counted({{{"forces", "", false, LabelForm::kPerNode}, {"e\xff", "1"}, {"none", "-"}}});
  EXPECT_EQ(Judged(table, 0), "forces per_node");
  EXPECT_EQ(Judged(table, 1), "e? not_utf8");
  EXPECT_EQ(Judged(table, 2), "none empty");
}

TEST(LabelTableTest, NamesThatNoTargetCanHaveAreTold) {
  const std::string longest(256, 'k'), too_long(257, 'k'),
      umlauts = std::string(39, 'k') + std::string(300, '\xc3');
  const LabelTable table = Counted({{{longest, "1"}, {too_long, "1"}, {"", "1"}, {umlauts, "x"}}});
  EXPECT_THAT(table.Targets(), ElementsAre(longest));
  EXPECT_EQ(Judged(table, 1), std::string(40, 'k') + "... long_name");
  EXPECT_EQ(Judged(table, 2), " no_name");
  EXPECT_EQ(Judged(table, 3), std::string(39, 'k') + "?... long_name");
}

TEST(LabelTableTest, ANameIsCutBetweenItsCharacters) {
  std::string name(39, 'k');
  for (int k = 0; k < 150; ++k) name += "\xc3\xa4";
  EXPECT_EQ(ShownName(name), std::string(39, 'k') + "...");
}

TEST(LabelTableTest, ANameThatAGraphHasTwiceWithDifferentValuesIsNoTarget) {
  const LabelTable table =
      Counted({{{"e", "1"}, {"f", "1"}}, {{"e", "1"}, {"f", "2"}, {"e", "2"}, {"f", "2.0"}}});
  EXPECT_THAT(table.Targets(), ElementsAre("f"));
  EXPECT_EQ(table.UseOf(0, {.found = 2, .numbers = 1}, 2),
            (LabelUse{"e", 2, 2, false, "several", 1, "2: '1' and '2'"}));
}

TEST(LabelTableTest, OfTextsOfOneNameTheFirstTwoThatDifferAreTold) {
  const LabelTable table = Counted({{{"e", "x"}, {"e", " x"}, {"e", "y"}, {"e", "z"}}});
  EXPECT_EQ(table.UseOf(0, {.found = 1}, 1), (LabelUse{"e", 1, 1, false, "several", 1, "1: 'x' and 'y'"}));
}

TEST(LabelTableTest, AValueOfTheGraphMayHaveTheNameOfValuesOfItsNodes) {
  const Label per_node = {.name = "charge", .text = "", .form = LabelForm::kPerNode};
  EXPECT_THAT(Counted({{{"charge", "0"}, per_node}}).Targets(), ElementsAre("charge"));
}

TEST(LabelTableTest, DeclaredTargetIsOneWhereItIsMissingEverywhere) {
  const Row labels = {{.name = "empty", .text = ""}, {.name = "declared", .text = "", .is_target = true}};
  EXPECT_THAT(Counted({labels, labels}, true, /*cells=*/true).Targets(), ElementsAre("declared"));
}

TEST(LabelTableTest, DeclaredTargetIsOneWhereItIsNoNumberOrMissingInSome) {
  const Label number = {.name = "y", .text = "1", .is_target = true}, text = {.name = "y", .text = "q"};
  EXPECT_THAT(Counted({{number}, {text}}).Targets(), ElementsAre("y"));
  EXPECT_THAT(Counted({{text}, {number}}).Targets(), ElementsAre("y"));
  EXPECT_THAT(Counted({{}, {number}}).Targets(), ElementsAre("y"));
}

}  // namespace
}  // namespace packtrain::ingest
