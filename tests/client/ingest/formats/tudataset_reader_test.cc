#include "client/ingest/formats/tudataset_reader.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "client/ingest/formats/format_table.h"
#include "tests/client/ingest/formats/folder_graphs.h"
#include "tests/client/ingest/formats/read_file.h"
#include "tests/client/ingest/refused.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"
#include "tests/testing/test_data.h"

namespace packtrain::ingest {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using testing::FolderGraphs;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::Refused;
using testing::TestData;

FolderGraphs Read(const std::string& path, const ReadLimits& limits = {}) {
  ReadOptions options;
  options.limits = limits;
  return testing::ReadFolder(OpenTudataset, path, ".txt", options);
}

TEST(TudatasetReaderTest, CompoundsHaveTheirAtomsBondsAndClass) {
  FolderGraphs read = Read(TestData("tudataset/MUTAG"));
  EXPECT_THAT(read.opened, IsOk());
  EXPECT_THAT(read.statuses, Each(IsOk()));
  EXPECT_THAT(read.NodeCounts(), ElementsAre(17, 13, 13, 19, 11, 28));
  EXPECT_THAT(read.EdgeCounts(), ElementsAre(38, 28, 28, 44, 22, 62));
  EXPECT_EQ(read.LabelNamed(0, "label"), "1");
  EXPECT_EQ(read.LabelNamed(1, "label"), "-1");
  EXPECT_THAT(read.Values<std::int32_t>(0, "node_label"),
              ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2));
  EXPECT_EQ(read.Values<std::uint8_t>(0, "edge_type").size(), 38u);
  // Nodes are counted from 0 in their graph.
  const SourceGraph& second = read.graphs[1];
  EXPECT_THAT(std::vector(second.senders.begin(), second.senders.begin() + 3), ElementsAre(1, 0, 2));
  EXPECT_THAT(std::vector(second.receivers.begin(), second.receivers.begin() + 3), ElementsAre(0, 1, 1));
  EXPECT_EQ(second.record, 2u);
  EXPECT_EQ(second.line, 18u);
  EXPECT_TRUE(read.layout.labels_are_cells);
}

TEST(TudatasetReaderTest, AttributesOfNodesAreVectors) {
  FolderGraphs read = Read(TestData("tudataset/ENZYMES"));
  EXPECT_THAT(read.statuses, Each(IsOk()));
  EXPECT_THAT(read.NodeCounts(), ElementsAre(37, 23, 25));
  EXPECT_THAT(read.EdgeCounts(), ElementsAre(168, 102, 92));
  const std::vector<float>& x = read.Values<float>(1, "x");
  EXPECT_EQ(x.size(), 23u * 18);
  EXPECT_THAT(std::vector(x.begin(), x.begin() + 4), ElementsAre(8.0f, 10.842158f, 35.56f, 0.01f));
  EXPECT_THAT(read.layout.fields[read.FieldNamed("x")].dims, ElementsAre(18u));
}

class SmallTudatasetTest : public ::testing::Test {
 protected:
  // Two graphs: 1-2-3 and a single node.
  SmallTudatasetTest() {
    Write("A", "1, 2\n2, 1\n2, 3\n");
    Write("graph_indicator", "1\n1\n1\n2\n");
    Write("graph_labels", "0\n1\n");
  }
  void Write(const std::string& part, std::string_view content) {
    folder_.Write("DS_" + part + ".txt", content);
  }
  FolderGraphs Read(const ReadLimits& limits = {}) { return ingest::Read(folder_.PathOf(""), limits); }

  testing::TempFolder folder_;
};

TEST_F(SmallTudatasetTest, NodesWithoutEdgesAreCountedByTheTableOfNodes) {
  FolderGraphs read = Read();
  EXPECT_THAT(read.statuses, ElementsAre(IsOk(), IsOk()));
  EXPECT_THAT(read.NodeCounts(), ElementsAre(3, 1));
  EXPECT_THAT(read.EdgeCounts(), ElementsAre(3, 0));
}

TEST_F(SmallTudatasetTest, OtherFilesOfTheFolderArePassedOver) {
  folder_.Write("README.txt", "any text\n");
  EXPECT_THAT(Read().statuses, ElementsAre(IsOk(), IsOk()));
}

TEST_F(SmallTudatasetTest, AttributesOfGraphsAreLabels) {
  Write("graph_attributes", "0.5, nan\n-1, 2\n");
  FolderGraphs read = Read();
  EXPECT_EQ(read.LabelNamed(0, "attribute_0"), "0.5");
  EXPECT_EQ(read.LabelNamed(0, "attribute_1"), "nan");
  EXPECT_EQ(read.LabelNamed(1, "attribute_1"), "2");
}

TEST_F(SmallTudatasetTest, AttributesOfEdgesGoInStepWithEdges) {
  Write("edge_attributes", "0.5\n1.5\n2.5\n");
  Write("edge_labels", "1,2\n3,4\n5,6\n");
  FolderGraphs read = Read();
  EXPECT_THAT(read.Values<float>(0, "edge_attr"), ElementsAre(0.5f, 1.5f, 2.5f));
  EXPECT_THAT(read.Values<std::int32_t>(0, "edge_label"), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(SmallTudatasetTest, BadCellRefusesItsGraphAlone) {
  Write("node_attributes", "1\n2\nx\n4\n");
  FolderGraphs read = Read();
  EXPECT_THAT(read.Outcomes(), ElementsAre("not_a_number", "stored"));
  EXPECT_THAT(read.statuses[0], Refused("not_a_number", "DS_node_attributes.txt:3: graph 1: 'x'"));
  EXPECT_THAT(read.Values<float>(1, "x"), ElementsAre(4.0f));
}

TEST_F(SmallTudatasetTest, AttributesMustBeFinite) {
  Write("node_attributes", "1\n2\n3\nnan\n");
  EXPECT_THAT(Read().Outcomes(), ElementsAre("stored", "not_finite"));
}

TEST_F(SmallTudatasetTest, EdgeBetweenTwoGraphsIsRefusedWithTheFirst) {
  Write("A", "1, 2\n3, 4\n");
  FolderGraphs read = Read();
  EXPECT_THAT(read.Outcomes(), ElementsAre("edge_out_of_range", "stored"));
  EXPECT_THAT(read.statuses[0], Refused("edge_out_of_range", "DS_A.txt:2: graph 1"));
}

TEST_F(SmallTudatasetTest, EdgeOfANodeThatTheTableLacksMakesNoNode) {
  Write("A", "1, 2\n5, 5\n");
  FolderGraphs read = Read();
  EXPECT_THAT(read.Outcomes(), ElementsAre("stored", "stored", "long_file"));
  EXPECT_THAT(read.NodeCounts(), ElementsAre(3, 1, 0));
}

TEST_F(SmallTudatasetTest, FilesThatDoNotGoInStepAreRefused) {
  Write("node_labels", "0\n1\n2\n");
  EXPECT_THAT(Read().Outcomes(), ElementsAre("stored", "short_file"));
  Write("node_labels", "0\n1\n2\n3\n4\n");
  EXPECT_THAT(Read().Outcomes(), ElementsAre("stored", "stored", "long_file"));
  Write("node_labels", "0\n\n2\n3\n");
  EXPECT_THAT(Read().Outcomes(), ElementsAre("blank_row"));
}

TEST_F(SmallTudatasetTest, RefusalsNameTheFileAndLineThatIsWrong) {
  Write("graph_labels", "0\nx\n");
  ImportOptions options;
  options.skip_refused = true;
  options.targets = {"label"};
  options.paths = {folder_.PathOf("")};
  const Ledger named = testing::ReadBy(*FindFormat("tudataset"), options).ledger;
  ASSERT_EQ(named.refused().size(), 1u);
  EXPECT_EQ(named.refused()[0].origin, (Origin{folder_.PathOf("DS_graph_labels.txt"), "graph", 2, 2}));
  EXPECT_THAT(named.refused()[0].message, HasSubstr("DS_graph_labels.txt:2: graph 2 ("));
  Write("node_labels", "0\n1\n2\n");
  const Ledger short_file = testing::ReadBy(*FindFormat("tudataset"), options).ledger;
  EXPECT_THAT(short_file.unread(), ElementsAre(Origin{folder_.PathOf("DS_node_labels.txt"), "graph", 2, 3}));
  EXPECT_THAT(short_file.refused().back().message, HasSubstr("DS_node_labels.txt:3: graph 2 ("));
}

TEST_F(SmallTudatasetTest, GraphsMustFollowEachOther) {
  Write("graph_indicator", "1\n2\n1\n2\n");
  EXPECT_THAT(Read().Outcomes(), ElementsAre("edge_out_of_range", "not_in_order"));
}

TEST_F(SmallTudatasetTest, GraphWithoutNodesIsRefused) {
  Write("graph_indicator", "1\n1\n1\n3\n");
  Write("graph_labels", "0\n1\n0\n");
  EXPECT_THAT(Read().Outcomes(), ElementsAre("stored", "no_nodes", "stored"));
}

TEST_F(SmallTudatasetTest, LimitsNameTheirFlags) {
  EXPECT_THAT(Read({.max_atoms = 2}).statuses[0], Refused("too_many_atoms", "--max-atoms"));
  EXPECT_THAT(Read({.max_edges = 2}).statuses[0], Refused("too_many_edges", "--max-edges"));
}

TEST_F(SmallTudatasetTest, FolderWithoutTheTableOfNodesIsRefused) {
  std::filesystem::remove(folder_.PathOf("DS_graph_indicator.txt"));
  EXPECT_THAT(Read().opened, Refused("missing_file", "DS_graph_indicator.txt"));
}

TEST_F(SmallTudatasetTest, FolderOfSeveralDataSetsIsRefused) {
  folder_.Write("OTHER_A.txt", "1,2\n");
  EXPECT_THAT(Read().opened, Refused("several_data_sets", "OTHER"));
}

// The sums are those of statistics that were made with a separate program.
TEST(TudatasetFolders, WholeMutagHasItsNumbersOfAtomsAndBonds) {
  const char* data = std::getenv("PACKTRAIN_DATA");
  if (data == nullptr) GTEST_SKIP() << "$PACKTRAIN_DATA names no folder with tudataset/MUTAG";
  const FolderGraphs read = Read(std::string(data) + "/tudataset/MUTAG");
  const std::vector<std::size_t> nodes = read.NodeCounts(), edges = read.EdgeCounts();
  EXPECT_THAT(read.statuses, Each(IsOk()));
  EXPECT_EQ(nodes.size(), 188u);
  EXPECT_EQ(std::accumulate(nodes.begin(), nodes.end(), std::size_t{0}), 3371u);
  EXPECT_EQ(std::accumulate(edges.begin(), edges.end(), std::size_t{0}), 7442u);
}

}  // namespace
}  // namespace packtrain::ingest
