#include "client/ingest/block_feed.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <variant>

#include "client/ingest/formats/format_table.h"
#include "client/ingest/graph_import.h"
#include "tests/client/ingest/refused.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"
#include "tests/testing/test_data.h"

namespace packtrain::ingest {
namespace {

using testing::IsOk;
using testing::Refused;
using testing::TestData;

class BlockFeedTest : public ::testing::Test {
 protected:
  // An import of extended xyz that has begun.
  static std::unique_ptr<GraphImport> Begun(const ImportOptions& options) {
    std::unique_ptr<GraphImport> import = GraphImport::Create(*FindFormat("extxyz"), options).value();
    EXPECT_THAT(import->Begin(), IsOk());
    return import;
  }

  testing::TempFolder folder_;
};

TEST_F(BlockFeedTest, GivesTheSameBlocksThenTheEnd) {
  ImportOptions options;
  options.paths = {TestData("qm9/qm9_sample.xyz.gz")};
  const std::unique_ptr<GraphImport> import = Begun(options);
  BlockFeed feed(*import);
  const ReadBlock block = feed.Next().value().value();
  EXPECT_EQ(std::get<v1::GraphBlock>(block.block).source_ids_size(), 2778);
  EXPECT_EQ(block.read, 2778u);
  EXPECT_EQ(block.consumed_bytes, import->total_bytes());
  for (int call = 0; call < 2; ++call) EXPECT_FALSE(feed.Next().value().has_value());
}

TEST_F(BlockFeedTest, EndsWithTheRefusal) {
  ImportOptions options;
  options.paths = {folder_.Write("m.xyz", "1\nid=a e=1\nC 1 2 3\n1\nid=b e=x\nH 1 2 3\n")};
  options.targets = {"e"};
  const std::unique_ptr<GraphImport> import = Begun(options);
  BlockFeed feed(*import);
  for (int call = 0; call < 2; ++call) EXPECT_THAT(feed.Next(), Refused("bad_target", "frame 2 (b)"));
}

TEST_F(BlockFeedTest, MayBeLeftInTheMiddle) {
  std::string text;
  for (int frame = 0; frame < 1000; ++frame) {
    text += "1000\nid=" + std::to_string(frame) + "\n";
    for (int atom = 0; atom < 1000; ++atom) text += "C 1 2 3\n";
  }
  ImportOptions options;
  options.paths = {folder_.Write("m.xyz", text)};
  const std::unique_ptr<GraphImport> import = Begun(options);
  {
    BlockFeed feed(*import);
    ASSERT_TRUE(feed.Next().value().has_value());
  }
  EXPECT_LT(import->ledger().read(), 1000u);
}

}  // namespace
}  // namespace packtrain::ingest
