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

LabelTable Counted(const std::vector<Row>& graphs, bool allow_missing = false, bool cells = false) {
  LabelTable table(allow_missing);
  for (const Row& labels : graphs) {
    SourceGraph graph((GraphLayout()));
    graph.labels = labels;
    table.Read(graph, cells);
    table.Count();
  }
  return table;
}

TEST(LabelTableTest, NumbersInEveryGraphAreTargetsByName) {
  const LabelTable table =
      Counted({{{"b", "1"}, {"a", "-2e3"}, {"word", "x"}}, {{"a", "4"}, {"b", "inf"}, {"word", "1"}}});
  EXPECT_THAT(table.Targets(), ElementsAre("a", "b"));
  EXPECT_THAT(table.UseOf(2), (LabelUse{"word", 2, 2, false, "text"}));
}

TEST(LabelTableTest, ANumberInSomeGraphsIsATargetOnlyWhereTargetsMayBeMissing) {
  const std::vector<Row> graphs = {{}, {{"energy", "1"}, {"rare", "3"}}, {{"energy", "2"}, {"rare", "None"}}};
  EXPECT_THAT(Counted(graphs).Targets(), ElementsAre());
  EXPECT_THAT(Counted(graphs).UseOf(0), (LabelUse{"energy", 2, 3, false, "missing_in_some"}));
  EXPECT_THAT(Counted(graphs).UseOf(1), (LabelUse{"rare", 1, 3, false, "missing_in_some"}));
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
  EXPECT_THAT(table.UseOf(1), (LabelUse{"half", 2, 3, false, "text"}));
}

TEST(LabelTableTest, SomeWordsAreMissingValues) {
  for (const char* word : {"", " ", "-", "None", "N/A", "#N/A", "nan", "NaN", "NAN", "-nan"}) {
    EXPECT_EQ(ReadLabelText(word).kind, LabelText::Kind::kMissing) << word;
  }
  for (const char* word : {"null", "--", "1 2", "-76,417", "-76.417 Ha", "x"}) {
    EXPECT_EQ(ReadLabelText(word).kind, LabelText::Kind::kText) << word;
  }
  EXPECT_EQ(ReadLabelText(" -76.417 ").number, -76.417);
}

TEST(LabelTableTest, LabelsThatCanBeNoTargetsSayWhy) {
  const LabelTable table = Counted({{{"forces", "", false, true}, {"e\xff", "1"}, {"none", "-"}}});
  EXPECT_THAT(table.UseOf(0), (LabelUse{"forces", 1, 1, false, "per_node"}));
  EXPECT_THAT(table.UseOf(1), (LabelUse{"e?", 1, 1, false, "not_utf8"}));
  EXPECT_THAT(table.UseOf(2), (LabelUse{"none", 0, 1, false, "empty"}));
}

TEST(LabelTableTest, OfTwoLabelsOfOneNameTheFirstIsRead) {
  LabelTable table(false);
  SourceGraph graph((GraphLayout()));
  graph.labels = {{"e", "1"}, {"e", "2"}};
  ASSERT_EQ(table.Read(graph, false).size(), 1u);
  EXPECT_EQ(table.Read(graph, false)[0].text.number, 1);
}

TEST(LabelTableTest, DeclaredTargetIsOneWhereItIsMissingEverywhere) {
  const Row labels = {{.name = "empty", .text = ""}, {.name = "declared", .text = "", .is_target = true}};
  EXPECT_THAT(Counted({labels, labels}, true, /*cells=*/true).Targets(), ElementsAre("declared"));
}

}  // namespace
}  // namespace packtrain::ingest
