#include "client/ingest/formats/ogb_csv_reader.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/client/ingest/formats/folder_graphs.h"
#include "tests/client/ingest/refused.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"
#include "tests/testing/test_data.h"

namespace packtrain::ingest {
namespace {

using ::testing::ElementsAre;
using testing::FolderGraphs;
using testing::IsOk;
using testing::Refused;
using testing::TestData;

FolderGraphs Read(const std::string& path, const ReadOptions& options = {}) {
  return testing::ReadFolder(OpenOgbCsv, path, ".csv", options);
}

// Its 20 edges are invented: they are loops of nodes 0 to 19, but the table of nodes says 10.
TEST(OgbCsvReaderTest, NodesAreCountedByTheirTableAndNotByTheEdges) {
  FolderGraphs read = Read(TestData("ogb_csv"));
  EXPECT_THAT(read.NodeCounts(), ElementsAre(10));
  EXPECT_THAT(read.Outcomes(), ElementsAre("edge_out_of_range"));
  EXPECT_THAT(read.statuses[0],
              Refused("edge_out_of_range", "edge.csv.gz:11: graph 1: the edge joins node 10"));
  EXPECT_EQ(read.LabelNamed(0, "label"), "1");
}

class SmallOgbCsvTest : public ::testing::Test {
 protected:
  // Two graphs: 0-1 and a single node.
  SmallOgbCsvTest() {
    folder_.Write("num-node-list.csv", "2\n1\n");
    folder_.Write("num-edge-list.csv", "1\n0\n");
    folder_.Write("edge.csv", "0,1\n");
    folder_.Write("node-feat.csv", "1,2\n3,4\n5,6\n");
    folder_.Write("edge-feat.csv", "0.5,2\n");
    folder_.Write("graph-label.csv", "1,nan\n0,\n");
  }
  FolderGraphs Read(const ReadOptions& options = {}) { return ingest::Read(folder_.PathOf(""), options); }

  testing::TempFolder folder_;
};

TEST_F(SmallOgbCsvTest, WholeNumbersAreI32AndOthersF32) {
  FolderGraphs read = Read();
  ASSERT_THAT(read.statuses, ElementsAre(IsOk(), IsOk()));
  EXPECT_THAT(read.NodeCounts(), ElementsAre(2, 1));
  EXPECT_THAT(read.Values<std::int32_t>(0, "x"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(read.Values<float>(0, "edge_attr"), ElementsAre(0.5f, 2.0f));
  EXPECT_THAT(read.Values<std::int32_t>(1, "x"), ElementsAre(5, 6));
  EXPECT_EQ(read.LabelNamed(0, "label_0"), "1");
  EXPECT_EQ(read.LabelNamed(0, "label_1"), "nan");
  EXPECT_EQ(read.LabelNamed(1, "label_1"), "");
}

TEST_F(SmallOgbCsvTest, InverseEdgesAreAddedWhereAskedFor) {
  ReadOptions options;
  options.flags.emplace(kInverseEdgesFlag, "add");
  FolderGraphs read = Read(options);
  EXPECT_THAT(read.graphs[0].senders, ElementsAre(0, 1));
  EXPECT_THAT(read.graphs[0].receivers, ElementsAre(1, 0));
  EXPECT_THAT(read.Values<float>(0, "edge_attr"), ElementsAre(0.5f, 2.0f, 0.5f, 2.0f));
}

TEST_F(SmallOgbCsvTest, EndOutOfRangeMakesNoNode) {
  folder_.Write("edge.csv", "0,2\n");
  FolderGraphs read = Read();
  EXPECT_THAT(read.Outcomes(), ElementsAre("edge_out_of_range", "stored"));
  EXPECT_THAT(read.statuses[0], Refused("edge_out_of_range", "edge.csv:1: graph 1"));
}

TEST_F(SmallOgbCsvTest, FilesThatDoNotGoInStepAreRefused) {
  folder_.Write("node-feat.csv", "1,2\n3,4\n");
  EXPECT_THAT(Read().Outcomes(), ElementsAre("stored", "short_file"));
  folder_.Write("node-feat.csv", "1,2\n3,4\n5,6\n7,8\n");
  EXPECT_THAT(Read().Outcomes(), ElementsAre("stored", "stored", "long_file"));
}

TEST_F(SmallOgbCsvTest, SplitsComeWithTheGraphs) {
  folder_.Write("train.csv", "1\n");
  FolderGraphs read = Read();
  EXPECT_EQ(read.graphs[0].split, "");
  EXPECT_EQ(read.graphs[1].split, "train");
  folder_.Write("valid.csv", "0\n1\n");
  EXPECT_THAT(Read().opened, Refused("bad_split", "valid.csv:2"));
  folder_.Write("valid.csv", "0,1\n");
  EXPECT_THAT(Read().opened, Refused("bad_split", "valid.csv:1"));
}

TEST_F(SmallOgbCsvTest, SplitOfAGraphThatDoesNotExistIsRefused) {
  folder_.Write("test.csv", "1\n2\n");
  FolderGraphs read = Read();
  EXPECT_THAT(read.Outcomes(), ElementsAre("stored", "stored", "bad_split"));
  EXPECT_THAT(read.statuses[2],
              Refused("bad_split", "test.csv:2: the split 'test' lists graph 2, but the last one is 1"));
}

TEST_F(SmallOgbCsvTest, ColumnBehindTheEndsIsNotDropped) {
  folder_.Write("edge.csv", "0,1,9\n");
  EXPECT_THAT(Read().Outcomes(), ElementsAre("bad_row", "stored"));
}

TEST_F(SmallOgbCsvTest, RowOfAnotherWidthRefusesItsGraphAlone) {
  folder_.Write("node-feat.csv", "1,2\n3\n5,6\n");
  EXPECT_THAT(Read().Outcomes(), ElementsAre("bad_row", "stored"));
}

TEST_F(SmallOgbCsvTest, GraphWithoutNodesIsRefused) {
  folder_.Write("num-node-list.csv", "2\n0\n");
  folder_.Write("node-feat.csv", "1,2\n3,4\n");
  EXPECT_THAT(Read().Outcomes(), ElementsAre("stored", "no_nodes"));
}

TEST_F(SmallOgbCsvTest, LimitsNameTheirFlags) {
  ReadOptions options;
  options.limits.max_atoms = 1;
  EXPECT_THAT(Read(options).statuses[0], Refused("too_many_atoms", "--max-atoms"));
  options.limits = {.max_edges = 0};
  EXPECT_THAT(Read(options).statuses[0], Refused("too_many_edges", "--max-edges"));
}

TEST_F(SmallOgbCsvTest, MissingTableOfNodesIsRefused) {
  std::filesystem::remove(folder_.PathOf("num-node-list.csv"));
  EXPECT_THAT(Read().opened, Refused("missing_file", "num-node-list.csv"));
}

}  // namespace
}  // namespace packtrain::ingest
