// Splits that the files of an import bring themselves.
#include <gmock/gmock.h>

#include <cstdint>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/ingest/block_sink.h"
#include "client/ingest/formats/format_table.h"
#include "client/ingest/import_pipeline.h"
#include "client/ingest/seal_description.h"
#include "tests/client/ingest/gzip.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_file.h"

namespace packtrain::ingest {
namespace {

using ::testing::ElementsAre;
using testing::Gzip;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::StatusIs;

// Takes graphs as a server does, and refuses those at some positions.
class RefusingSink : public BlockSink {
 public:
  explicit RefusingSink(std::set<std::uint64_t> positions) : positions_(std::move(positions)) {}

  absl::Status Begin(const v1::ImportHeader&) override {
    response_.Clear();
    return absl::OkStatus();
  }
  absl::Status Write(Block block) override {
    for (const std::string& id : std::get<v1::GraphBlock>(block).source_ids()) Take(id);
    return absl::OkStatus();
  }
  absl::StatusOr<v1::ImportGraphsResponse> Finish() override { return response_; }

  // Counts what is refused, and lists nothing.
  void HideRefused() { hides_ = true; }

 private:
  void Take(const std::string& id) {
    const std::uint64_t position = response_.received();
    response_.set_received(position + 1);
    if (!positions_.contains(position)) return;
    ++(*response_.mutable_refused_by_reason())["duplicate_id"];
    if (hides_) return;
    v1::RefusedGraph& refused = *response_.add_refused();
    refused.set_position(position);
    refused.set_source_id(id);
    refused.set_reason("duplicate_id");
  }

  const std::set<std::uint64_t> positions_;
  bool hides_ = false;
  v1::ImportGraphsResponse response_;
};

class OwnSplitsTest : public ::testing::Test {
 protected:
  // A data set of four graphs of one node in the layout of the benchmark, with its splits packed in a folder.
  OwnSplitsTest() {
    std::filesystem::create_directories(folder_.PathOf("set/raw"));
    std::filesystem::create_directories(folder_.PathOf("set/split/scaffold"));
    folder_.Write("set/raw/num-node-list.csv", "1\n1\n1\n1\n");
    folder_.Write("set/raw/num-edge-list.csv", "0\n0\n0\n0\n");
    folder_.Write("set/raw/edge.csv", "");
    folder_.Write("set/raw/node-feat.csv", "1\n2\n3\n4\n");
    WriteSplit("train", "3\n1\n");
    WriteSplit("valid", "0\n");
    WriteSplit("test", "2\n");
  }

  void WriteSplit(const std::string& name, const std::string& graphs) {
    folder_.Write(absl::StrCat("set/split/scaffold/", name, ".csv.gz"), Gzip(graphs));
  }

  absl::StatusOr<v1::SealDatasetRequest> Import(RefusingSink sink, ImportOptions options = {},
                                                std::string_view format = "ogb-csv") {
    if (options.paths.empty()) options.paths = {folder_.PathOf("set")};
    options.skip_refused = true;
    ImportPipeline pipeline(*FindFormat(format), std::move(options));
    std::ostringstream progress;
    const absl::StatusOr<v1::ImportGraphsResponse> staged = pipeline.Run(sink, {progress});
    if (!staged.ok()) return staged.status();
    return pipeline.SealRequest(*staged, "set");
  }

  testing::TempFolder folder_;
};

TEST_F(OwnSplitsTest, FilesOfABenchmarkFolderAreTheSplits) {
  const v1::SealDatasetRequest seal = Import(RefusingSink({})).value();
  EXPECT_THAT(seal.by_index().train(), ElementsAre(1, 3));
  EXPECT_THAT(seal.by_index().val(), ElementsAre(0));
  EXPECT_THAT(seal.by_index().test(), ElementsAre(2));
}

TEST_F(OwnSplitsTest, GraphsInNoSplitAreInNone) {
  WriteSplit("train", "3\n");
  const v1::SealDatasetRequest seal = Import(RefusingSink({})).value();
  EXPECT_THAT(seal.by_index().train(), ElementsAre(3));
  EXPECT_THAT(seal.by_index().val(), ElementsAre(0));
}

TEST_F(OwnSplitsTest, GraphsThatAreRefusedHaveNoPosition) {
  folder_.Write("set/raw/node-feat.csv", "1\nbad\n3\n4\n");
  v1::SealDatasetRequest seal = Import(RefusingSink({})).value();
  EXPECT_THAT(seal.by_index().train(), ElementsAre(2));
  EXPECT_THAT(seal.by_index().val(), ElementsAre(0));
  EXPECT_THAT(seal.by_index().test(), ElementsAre(1));
  // Of the three that are sent, the first one.
  seal = Import(RefusingSink({0})).value();
  EXPECT_THAT(seal.by_index().train(), ElementsAre(1));
  EXPECT_THAT(seal.by_index().val(), IsEmpty());
  EXPECT_THAT(seal.by_index().test(), ElementsAre(0));
}

TEST_F(OwnSplitsTest, SplitThatIsAskedForComesFirst) {
  ImportOptions options;
  options.random_split = RandomSplit{{800, 100, 100}, 7};
  EXPECT_EQ(Import(RefusingSink({}), options)->split_case(), v1::SealDatasetRequest::kFractions);
  options.random_split.reset();
  options.split_file = folder_.Write("ids", "train nothing\n");
  EXPECT_THAT(Import(RefusingSink({}), options)->by_ids().train(), ElementsAre("nothing"));
}

TEST_F(OwnSplitsTest, WithoutSplitsNoneAreSealed) {
  std::filesystem::remove_all(folder_.PathOf("set/split"));
  EXPECT_EQ(Import(RefusingSink({}))->split_case(), v1::SealDatasetRequest::SPLIT_NOT_SET);
}

TEST_F(OwnSplitsTest, LimitOfRecordsCutsTheSplitsToo) {
  ImportOptions options;
  options.limit = 2;
  const v1::SealDatasetRequest seal = Import(RefusingSink({}), options).value();
  EXPECT_THAT(seal.by_index().train(), ElementsAre(1));
  EXPECT_THAT(seal.by_index().val(), ElementsAre(0));
  EXPECT_THAT(seal.by_index().test(), IsEmpty());
}

TEST_F(OwnSplitsTest, SecondReadingCountsNothingTwice) {
  // The key `e` turns out to be no target behind what targets are assumed from.
  std::string text;
  for (int k = 0; k < 1200; ++k) {
    absl::StrAppend(&text, "{\"id\":\"g", k, "\",\"n_node\":1,\"z\":[6],\"split\":\"",
                    k % 2 == 0 ? "train" : "test", "\",\"e\":", k < 1100 ? "1.5" : "\"text\"", "}\n");
  }
  ImportOptions options;
  options.paths = {folder_.Write("m.jsonl", text)};
  const v1::SealDatasetRequest seal = Import(RefusingSink({}), options, "jsonl").value();
  EXPECT_EQ(seal.by_index().train_size(), 600);
  EXPECT_EQ(seal.by_index().test_size(), 600);
  EXPECT_EQ(seal.by_index().test(599), 1199u);
}

TEST_F(OwnSplitsTest, TheFirstOfGraphsWithOneIdKeepsItsSplit) {
  const auto graph = [](const std::string& id, const std::string& split) {
    return absl::StrCat("{\"id\":\"", id, "\",\"z\":[6],\"split\":\"", split, "\"}\n");
  };
  ImportOptions options;
  options.paths = {folder_.Write("m.jsonl", graph("a", "train") + graph("a", "test") + graph("b", "val"))};
  const v1::SealDatasetRequest seal = Import(RefusingSink({1}), options, "jsonl").value();
  EXPECT_THAT(seal.by_index().train(), ElementsAre(0));
  EXPECT_THAT(seal.by_index().test(), IsEmpty());
  EXPECT_THAT(seal.by_index().val(), ElementsAre(1));
}

TEST_F(OwnSplitsTest, EveryFormOfJsonLinesMayNameSplits) {
  const std::string bonds = R"({"id":"b","node_features":[[1,2]],"graph":[],"targets":[1],"split":"val"})";
  const std::string tokens =
      R"({"id":"t","source_tokens":["a"],"edges":[],"has_bug":false,"repair_targets":[],"split":"val"})";
  const std::string none = R"({"id":"n","z":[6],"split":null})";
  for (const std::string& line : {bonds, tokens}) {
    ImportOptions options;
    options.paths = {folder_.Write("m.jsonl", line + "\n")};
    EXPECT_THAT(Import(RefusingSink({}), options, "jsonl").value().by_index().val(), ElementsAre(0)) << line;
  }
  ImportOptions options;
  options.paths = {folder_.Write("m.jsonl", none + "\n")};
  EXPECT_EQ(Import(RefusingSink({}), options, "jsonl")->split_case(), v1::SealDatasetRequest::SPLIT_NOT_SET);
}

TEST_F(OwnSplitsTest, AnUnknownSplitIsRefusedUnlessAnotherIsAskedFor) {
  ImportOptions options;
  options.paths = {folder_.Write("m.jsonl",
                                 "{\"id\":\"a\",\"z\":[6],\"split\":\"train\"}\n"
                                 "{\"id\":\"b\",\"z\":[6],\"split\":\"dev\"}\n")};
  ImportPipeline pipeline(*FindFormat("jsonl"), options);
  std::ostringstream progress;
  RefusingSink sink({});
  EXPECT_THAT(
      pipeline.Run(sink, {progress}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("m.jsonl:2: record 2 (b): the split 'dev' is none of 'train', 'val' and 'test'")));
  options.random_split = RandomSplit{{800, 100, 100}, 7};
  EXPECT_EQ(Import(RefusingSink({}), options, "jsonl")->split_case(), v1::SealDatasetRequest::kFractions);
}

TEST_F(OwnSplitsTest, RefusedGraphsThatAreNotListedEndTheImport) {
  RefusingSink sink({1});
  sink.HideRefused();
  EXPECT_THAT(Import(sink), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--split-file")));
  std::filesystem::remove_all(folder_.PathOf("set/split"));
  EXPECT_THAT(Import(sink), IsOk());
}

TEST(AddPositionsLeftTest, PositionsCountWhatIsLeft) {
  google::protobuf::RepeatedField<std::uint32_t> graphs, positions;
  for (const std::uint32_t graph : {0u, 1u, 2u, 5u, 9u}) graphs.Add(graph);
  AddPositionsLeft(graphs, std::vector<std::uint64_t>{1, 3, 5}, 100, &positions);
  EXPECT_THAT(positions, ElementsAre(100, 101, 106));
}

}  // namespace
}  // namespace packtrain::ingest
