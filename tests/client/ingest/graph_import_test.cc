#include "client/ingest/graph_import.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "proto/base/content_hash.h"
#include "tests/client/ingest/graph_import_testing.h"
#include "tests/client/ingest/gzip.h"
#include "tests/client/ingest/refused.h"
#include "tests/testing/test_data.h"

namespace packtrain::ingest {
namespace {

using ::testing::ElementsAre;
using testing::GraphImportTest;
using testing::Gzip;
using ::testing::HasSubstr;
using testing::Imported;
using testing::IsOk;
using ::testing::Pair;
using testing::Refused;
using testing::StatusIs;
using testing::TestData;

ImportOptions SkipRefused() {
  ImportOptions options;
  options.skip_refused = true;
  return options;
}

constexpr char kThree[] = "1\nid=a e=1.5\nC 1 2 3\n1\nid=b e=2.5\nH 1 2 3\n1\nid=c e=3\nO 1 2 3\n";

TEST_F(GraphImportTest, SampleOfQm9IsReadWhole) {
  ImportOptions options;
  options.paths = {TestData("qm9/qm9_sample.xyz.gz")};
  options.join = JoinOptions{TestData("qm9/qm9_sample_targets.csv.gz"), "name", {}};
  const Imported imported = Import(options).value();
  EXPECT_EQ(imported.Ids().size(), 2778u);
  EXPECT_EQ(imported.Ids().front(), "dsgdb9nsd_000004");
  EXPECT_EQ(imported.Column<std::uint8_t>("z").size(), 50356u);
  EXPECT_EQ(imported.Column<float>("pos").size(), 3u * 50356u);
  EXPECT_EQ(imported.Column<double>("y").size(), 6u * 2778u);
  EXPECT_EQ(imported.Column<double>("y").front(), -0.638103811108);
  EXPECT_EQ(ledger().read(), 2778u);
}

TEST_F(GraphImportTest, SchemaSaysWhatIsStored) {
  ImportOptions options;
  options.paths = {TestData("crystals/mp_sample.extxyz")};
  options.targets = {"band_gap"};
  const Imported imported = Import(options).value();
  std::vector<std::string> fields;
  for (const v1::Field& field : imported.header.schema().fields()) fields.push_back(field.name());
  EXPECT_THAT(fields, ElementsAre("z", "pos", "cell", "pbc", "y"));
  EXPECT_EQ(imported.header.schema().edge_rule(), v1::EDGE_RULE_FULL);
  EXPECT_EQ(imported.header.schema().edges(), "full");
  ASSERT_EQ(imported.header.schema().targets_size(), 1);
  EXPECT_EQ(imported.header.schema().targets(0).name(), "band_gap");
  EXPECT_EQ(imported.Column<float>("cell").size(), 9u * 6u);
  EXPECT_EQ(imported.Column<float>("cell").front(), 6.228505f);
  EXPECT_THAT(imported.Column<std::uint8_t>("pbc"), ::testing::Each(1));
}

TEST_F(GraphImportTest, OriginsNameFileLineAndFrame) {
  const Imported imported = ImportText(kThree).value();
  EXPECT_EQ(ParseOrigin(imported.blocks[0].origins(1)), (Origin{folder_.PathOf("m.xyz"), "frame", 2, 4}));
}

TEST_F(GraphImportTest, TextThatIsNotUtf8IsRefused) {
  constexpr char kBadId[] = "1\nid=a\nC 1 2 3\n1\nid=b\xff\nC 1 2 3\n1\nid=c\nC 1 2 3\n";
  EXPECT_THAT(ImportText(kBadId), Refused("not_utf8", "m.xyz:5: frame 2 (b\xff): the id"));
  EXPECT_THAT(ImportText(kBadId, SkipRefused()), IsOk());
  EXPECT_EQ(Reasons().at("not_utf8"), 1);
  EXPECT_THAT(ImportText("1\nid=a e\xff=1.5\nC 1 2 3\n").value().Targets(), ElementsAre());
  EXPECT_THAT(Labels(), ElementsAre("e? 1/1 not_utf8"));
  ImportOptions options;
  options.paths = {folder_.Write("m\xff.xyz", "1\nid=a\nC 1 2 3\n")};
  EXPECT_THAT(Import(options), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("UTF-8")));
}

TEST_F(GraphImportTest, SkippedGraphsStandInTheLedger) {
  const std::string text =
      "1\nid=bad\nXx 1 2 3\n1\nid=a\nC 1 2 3\n1\nid=worse\nC nan 2 3\n1\nid=b\nC 1 2 3\nrubbish\n";
  const Imported imported = ImportText(text, SkipRefused()).value();
  EXPECT_THAT(imported.Ids(), ElementsAre("a", "b"));
  EXPECT_EQ(ledger().read(), 5u);
  EXPECT_THAT(Reasons(), ElementsAre(Pair("bad_count", 1), Pair("not_finite", 1), Pair("unknown_symbol", 1)));
  EXPECT_EQ(ledger().refused()[1].id, "worse");
  EXPECT_EQ(ledger().refused()[1].origin, (Origin{folder_.PathOf("m.xyz"), "frame", 3, 9}));
  EXPECT_THAT(ledger().unread(), ElementsAre(Origin{folder_.PathOf("m.xyz"), "frame", 5, 13}));
}

TEST_F(GraphImportTest, FirstRefusalStopsAndStandsInTheLedger) {
  EXPECT_THAT(ImportText("1\nid=a\nC 1 2 3\n1\nid=bad\nC nan 2 3\n"),
              Refused("not_finite", "m.xyz:6: frame 2 (bad)"));
  EXPECT_THAT(Reasons(), ElementsAre(Pair("not_finite", 1)));
}

TEST_F(GraphImportTest, ARefusalNamesTheIdThatTheGraphWouldHaveHad) {
  EXPECT_THAT(ImportText("1\nmethane\nC nan 2 3\n"), Refused("not_finite", "m.xyz:3: frame 1 (m): "));
}

TEST_F(GraphImportTest, LayoutComesFromTheFirstGoodFrame) {
  const std::string text = "1\nid=bad e=1 Lattice=\"1 0 0 0 1 0 0 0 1\"\nXx 1 2 3\n1\nid=a f=2\nC 1 2 3\n";
  const Imported imported = ImportText(text, SkipRefused()).value();
  ASSERT_EQ(imported.header.schema().targets_size(), 1);
  EXPECT_EQ(imported.header.schema().targets(0).name(), "f");
  EXPECT_EQ(imported.header.schema().fields_size(), 3);
}

TEST_F(GraphImportTest, ImportWithoutAGoodGraphIsRefusedWithTheReasonOfTheFirst) {
  EXPECT_THAT(ImportText("1\nid=bad\nXx 1 2 3\n", SkipRefused()),
              Refused("no_graphs", "none of 1 graphs could be read; the first: "));
  EXPECT_THAT(ImportText("1\nid=bad\nXx 1 2 3\n", SkipRefused()), Refused("no_graphs", "frame 1 (bad): "));
}

TEST_F(GraphImportTest, BadFileIsSkippedAndTheNextOneRead) {
  const std::string cut = Gzip("1\nid=a\nC 1 2 3\n").substr(0, 20);
  ImportOptions options;
  options.paths = {folder_.Write("cut.gz", cut), folder_.Write("empty.xyz", ""),
                   folder_.Write("b.xyz", "1\n\nC 1 2 3\n")};
  EXPECT_THAT(Import(options), Refused("truncated_gzip", "cut.gz"));
  options.skip_refused = true;
  EXPECT_THAT(Import(options).value().Ids(), ElementsAre("b"));
  EXPECT_THAT(Reasons(), ElementsAre(Pair("empty_file", 1), Pair("truncated_gzip", 1)));
}

TEST_F(GraphImportTest, MissingFileIsAnErrorEvenWhereBadGraphsAreSkipped) {
  ImportOptions options;
  options.paths = {folder_.PathOf("none.xyz")};
  options.skip_refused = true;
  EXPECT_THAT(Import(options), StatusIs(absl::StatusCode::kNotFound, HasSubstr("none.xyz")));
}

TEST_F(GraphImportTest, SourcesAreHashedAsTheyLie) {
  const std::string packed = Gzip(kThree);
  ImportOptions options;
  options.paths = {folder_.Write("a.xyz.gz", packed), folder_.Write("b.xyz", "1\nid=z e=1\nC 1 2 3\n")};
  options.limit = 1;
  ASSERT_THAT(Import(options), IsOk());
  v1::SealDatasetRequest seal;
  import_->Describe(ledger(), &seal);
  ASSERT_EQ(seal.lineage().sources_size(), 1);
  EXPECT_EQ(seal.lineage().sources(0).name(), options.paths[0]);
  EXPECT_EQ(seal.lineage().sources(0).bytes(), packed.size());
  EXPECT_EQ(seal.lineage().sources(0).sha256(), base::HexSha256(packed));
}

TEST_F(GraphImportTest, ConsumedBytesReachTheTotal) {
  ImportOptions options;
  options.paths = {folder_.Write("a.xyz", "1\nid=a\nC 1 2 3\n"), folder_.Write("b.xyz", "1\nid=b\nC 1 2 3\n")};
  ASSERT_THAT(Import(options), IsOk());
  EXPECT_EQ(import_->consumed_bytes(), import_->total_bytes());
}

TEST_F(GraphImportTest, BlocksAreOfAboutAMebibyte) {
  std::string text;
  for (int frame = 0; frame < 100; ++frame) {
    text += "1000\nid=" + std::to_string(frame) + "\n";
    for (int atom = 0; atom < 1000; ++atom) text += "C 1 2 3\n";
  }
  const Imported imported = ImportText(text).value();
  ASSERT_EQ(imported.blocks.size(), 2u);
  EXPECT_NEAR(imported.blocks[0].ByteSizeLong(), 1 << 20, 20'000);
  EXPECT_EQ(imported.Ids().size(), 100u);
}

}  // namespace
}  // namespace packtrain::ingest
