#include "client/ingest/extxyz_import.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <map>

#include "client/ingest/block_feed.h"
#include "client/ingest/source_files.h"
#include "proto/base/content_hash.h"
#include "tests/client/ingest/gzip.h"
#include "tests/client/ingest/refused.h"
#include "tests/testing/temp_file.h"

namespace packtrain::ingest {
namespace {

using ::testing::ElementsAre;
using testing::Gzip;
using ::testing::HasSubstr;
using ::testing::IsNan;
using testing::IsOk;
using ::testing::Pair;
using testing::Refused;
using testing::StatusIs;

const std::string kData = PACKTRAIN_TEST_DATA;

template <typename T>
std::vector<T> Elements(const v1::Column& column) {
  std::vector<T> elements(column.data().size() / sizeof(T));
  std::memcpy(elements.data(), column.data().data(), column.data().size());
  return elements;
}

// All that an import gave.
struct Imported {
  v1::Schema schema;
  std::vector<v1::GraphBlock> blocks;

  std::vector<std::string> Ids() const {
    std::vector<std::string> ids;
    for (const v1::GraphBlock& block : blocks)
      ids.insert(ids.end(), block.source_ids().begin(), block.source_ids().end());
    return ids;
  }
  template <typename T>
  std::vector<T> Column(const std::string& field) const {
    std::vector<T> all;
    for (const v1::GraphBlock& block : blocks) {
      for (const v1::Column& column : block.columns()) {
        if (column.field() != field) continue;
        const std::vector<T> elements = Elements<T>(column);
        all.insert(all.end(), elements.begin(), elements.end());
      }
    }
    return all;
  }
};

class ExtxyzImportTest : public ::testing::Test {
 protected:
  absl::StatusOr<Imported> Import(ExtxyzImportOptions options) {
    absl::StatusOr<std::unique_ptr<ExtxyzImport>> import = ExtxyzImport::Create(std::move(options));
    if (!import.ok()) return import.status();
    import_ = *std::move(import);
    Imported imported;
    absl::StatusOr<v1::Schema> schema = import_->Begin();
    if (!schema.ok()) return schema.status();
    imported.schema = *std::move(schema);
    while (true) {
      v1::GraphBlock block;
      absl::StatusOr<bool> more = import_->Next(&block);
      if (!more.ok()) return more.status();
      if (!*more) return imported;
      imported.blocks.push_back(std::move(block));
    }
  }
  absl::StatusOr<Imported> ImportText(std::string_view text, ExtxyzImportOptions options = {}) {
    options.files = {folder_.Write("m.xyz", text)};
    return Import(std::move(options));
  }
  ExtxyzImportOptions Join(std::string_view csv) {
    ExtxyzImportOptions options;
    options.join = JoinOptions{folder_.Write("t.csv", csv), "", {}};
    return options;
  }
  const std::map<std::string, std::uint64_t>& Reasons() { return import_->ledger().refused_by_reason(); }

  testing::TempFolder folder_;
  std::unique_ptr<ExtxyzImport> import_;
};

ExtxyzImportOptions FirstTwo() {
  ExtxyzImportOptions options;
  options.limit = 2;
  return options;
}

ExtxyzImportOptions SkipRefused() {
  ExtxyzImportOptions options;
  options.skip_refused = true;
  return options;
}

constexpr char kThree[] = "1\nid=a e=1.5\nC 1 2 3\n1\nid=b e=2.5\nH 1 2 3\n1\nid=c e=x\nO 1 2 3\n";

TEST_F(ExtxyzImportTest, SampleOfQm9IsReadWhole) {
  ExtxyzImportOptions options;
  options.files = {kData + "/qm9/qm9_sample.xyz.gz"};
  options.join = JoinOptions{kData + "/qm9/qm9_sample_targets.csv.gz", "name", {}};
  const Imported imported = Import(options).value();
  EXPECT_EQ(imported.Ids().size(), 2778u);
  EXPECT_EQ(imported.Ids().front(), "dsgdb9nsd_000004");
  EXPECT_EQ(imported.Column<std::uint8_t>("z").size(), 50356u);
  EXPECT_EQ(imported.Column<float>("pos").size(), 3u * 50356u);
  EXPECT_EQ(imported.Column<double>("y").size(), 6u * 2778u);
  EXPECT_EQ(imported.Column<double>("y").front(), -0.638103811108);
  EXPECT_EQ(import_->ledger().read(), 2778u);
}

TEST_F(ExtxyzImportTest, SchemaSaysWhatIsStored) {
  ExtxyzImportOptions options;
  options.files = {kData + "/crystals/mp_sample.extxyz"};
  options.targets = {"band_gap"};
  const Imported imported = Import(options).value();
  std::vector<std::string> fields;
  for (const v1::Field& field : imported.schema.fields()) fields.push_back(field.name());
  EXPECT_THAT(fields, ElementsAre("z", "pos", "cell", "pbc", "y"));
  EXPECT_EQ(imported.schema.edge_rule(), v1::EDGE_RULE_FULL);
  EXPECT_EQ(imported.schema.edges(), "full");
  ASSERT_EQ(imported.schema.targets_size(), 1);
  EXPECT_EQ(imported.schema.targets(0).name(), "band_gap");
  EXPECT_EQ(imported.Column<float>("cell").size(), 9u * 6u);
  EXPECT_EQ(imported.Column<float>("cell").front(), 6.228505f);
  EXPECT_THAT(imported.Column<std::uint8_t>("pbc"), ::testing::Each(1));
}

TEST_F(ExtxyzImportTest, OriginsNameFileLineAndFrame) {
  const Imported imported = ImportText(kThree, FirstTwo()).value();
  EXPECT_EQ(ParseOrigin(imported.blocks[0].origins(1)), (Origin{folder_.PathOf("m.xyz"), 2, 4}));
}

TEST_F(ExtxyzImportTest, KeysWithNumbersInTheFirstFrameAreTheTargets) {
  const Imported imported = ImportText("1\nid=7 a=1 b=word c=-2e3 d=\"1 2\"\nC 1 2 3\n").value();
  EXPECT_THAT(imported.Column<double>("y"), ElementsAre(1, -2000));
}

TEST_F(ExtxyzImportTest, WithoutNumbersThereAreNoTargets) {
  const Imported imported = ImportText("1\nplain\nC 1 2 3\n").value();
  EXPECT_EQ(imported.schema.fields_size(), 2);
  EXPECT_EQ(imported.schema.targets_size(), 0);
}

TEST_F(ExtxyzImportTest, TargetThatIsNoNumberIsRefused) {
  EXPECT_THAT(ImportText(kThree), Refused("bad_target", "m.xyz:7: frame 3 (c): target 'e'"));
}

TEST_F(ExtxyzImportTest, TextThatIsNotUtf8IsRefused) {
  constexpr char kBadId[] = "1\nid=a\nC 1 2 3\n1\nid=b\xff\nC 1 2 3\n1\nid=c\nC 1 2 3\n";
  EXPECT_THAT(ImportText(kBadId), Refused("not_utf8", "m.xyz:4: frame 2 (b\xff): the id"));
  EXPECT_THAT(ImportText(kBadId, SkipRefused()), IsOk());
  EXPECT_EQ(Reasons().at("not_utf8"), 1);
  EXPECT_THAT(ImportText("1\nid=a e\xff=1.5\nC 1 2 3\n"), Refused("not_utf8", "the name of a target"));
  ExtxyzImportOptions options;
  options.files = {folder_.Write("m\xff.xyz", "1\nid=a\nC 1 2 3\n")};
  EXPECT_THAT(Import(options), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("UTF-8")));
}

TEST_F(ExtxyzImportTest, MoreTargetsThanASchemaHoldsAreRefused) {
  std::string comment = "id=a";
  for (int k = 0; k < 1025; ++k) comment += " t" + std::to_string(k) + "=1";
  EXPECT_THAT(ImportText("1\n" + comment + "\nH 0 0 0\n"), Refused("too_many_targets", "1025 targets"));
}

TEST_F(ExtxyzImportTest, MissingTargetIsRefusedOrNan) {
  ExtxyzImportOptions options;
  options.files = {kData + "/crystals/mp_sample.extxyz"};
  EXPECT_THAT(Import(options),
              Refused("missing_target", "(mp-1001605): target 'e_form' is missing (--missing-target"));
  options.missing_target_nan = true;
  EXPECT_THAT(Import(options).value().Column<double>("y")[2 * 2 + 1], IsNan());
}

TEST_F(ExtxyzImportTest, IdMissingInTheTableIsRefusedOrNan) {
  ExtxyzImportOptions options = Join("id,e\na,1\nc,3\n");
  EXPECT_THAT(ImportText(kThree, options), Refused("missing_target", "frame 2 (b): no row of"));
  options.missing_target_nan = true;
  EXPECT_THAT(ImportText(kThree, options).value().Column<double>("y"), ElementsAre(1, IsNan(), 3));
}

TEST_F(ExtxyzImportTest, NamedTargetsAreTakenFromTheTable) {
  ExtxyzImportOptions options = Join("id,e,f\na,1,4\nb,2,5\nc,3,6\n");
  options.targets = {"f"};
  EXPECT_THAT(ImportText(kThree, options).value().Column<double>("y"), ElementsAre(4, 5, 6));
}

TEST_F(ExtxyzImportTest, InfiniteTargetIsRefused) {
  EXPECT_THAT(ImportText("1\nid=a e=inf\nC 1 2 3\n"), Refused("not_finite", "target 'e'"));
}

TEST_F(ExtxyzImportTest, CellsAreInAllFramesOrInNone) {
  const std::string with = "1\nid=a Lattice=\"1 0 0 0 1 0 0 0 1\"\nC 1 2 3\n";
  const std::string without = "1\nid=b\nC 1 2 3\n";
  EXPECT_THAT(ImportText(with + without), Refused("cell_mismatch", "frame 2 (b): the frame has no Lattice"));
  EXPECT_THAT(ImportText(without + with), Refused("cell_mismatch", "frame 2 (a): the frame has a Lattice"));
}

TEST_F(ExtxyzImportTest, SkippedGraphsStandInTheLedger) {
  const std::string text =
      "1\nid=bad\nXx 1 2 3\n1\nid=a\nC 1 2 3\n1\nid=worse\nC nan 2 3\n1\nid=b\nC 1 2 3\nrubbish\n";
  const Imported imported = ImportText(text, SkipRefused()).value();
  EXPECT_THAT(imported.Ids(), ElementsAre("a", "b"));
  EXPECT_EQ(import_->ledger().read(), 5u);
  EXPECT_THAT(Reasons(), ElementsAre(Pair("bad_count", 1), Pair("not_finite", 1), Pair("unknown_symbol", 1)));
  EXPECT_EQ(import_->ledger().refused()[1].id, "worse");
  EXPECT_EQ(import_->ledger().refused()[1].origin, (Origin{folder_.PathOf("m.xyz"), 3, 7}));
}

TEST_F(ExtxyzImportTest, FirstRefusalStopsAndStandsInTheLedger) {
  EXPECT_THAT(ImportText("1\nid=a\nC 1 2 3\n1\nid=bad\nC nan 2 3\n"),
              Refused("not_finite", "m.xyz:6: frame 2 (bad)"));
  EXPECT_THAT(Reasons(), ElementsAre(Pair("not_finite", 1)));
}

TEST_F(ExtxyzImportTest, LayoutComesFromTheFirstGoodFrame) {
  const std::string text = "1\nid=bad e=1 Lattice=\"1 0 0 0 1 0 0 0 1\"\nXx 1 2 3\n1\nid=a f=2\nC 1 2 3\n";
  const Imported imported = ImportText(text, SkipRefused()).value();
  ASSERT_EQ(imported.schema.targets_size(), 1);
  EXPECT_EQ(imported.schema.targets(0).name(), "f");
  EXPECT_EQ(imported.schema.fields_size(), 3);
}

TEST_F(ExtxyzImportTest, ImportWithoutAGoodGraphIsRefused) {
  EXPECT_THAT(ImportText("1\nid=bad\nXx 1 2 3\n", SkipRefused()), Refused("no_graphs", "none of 1 graphs"));
}

TEST_F(ExtxyzImportTest, BadFileIsSkippedAndTheNextOneRead) {
  const std::string cut = Gzip("1\nid=a\nC 1 2 3\n").substr(0, 20);
  ExtxyzImportOptions options;
  options.files = {folder_.Write("cut.gz", cut), folder_.Write("empty.xyz", ""),
                   folder_.Write("b.xyz", "1\n\nC 1 2 3\n")};
  EXPECT_THAT(Import(options), Refused("truncated_gzip", "cut.gz"));
  options.skip_refused = true;
  EXPECT_THAT(Import(options).value().Ids(), ElementsAre("b"));
  EXPECT_THAT(Reasons(), ElementsAre(Pair("empty_file", 1), Pair("truncated_gzip", 1)));
}

TEST_F(ExtxyzImportTest, MissingFileIsAnErrorEvenWhereBadGraphsAreSkipped) {
  ExtxyzImportOptions options;
  options.files = {folder_.PathOf("none.xyz")};
  options.skip_refused = true;
  EXPECT_THAT(Import(options), StatusIs(absl::StatusCode::kNotFound, HasSubstr("none.xyz")));
}

TEST_F(ExtxyzImportTest, SourcesAreHashedAsTheyLie) {
  const std::string packed = Gzip(kThree);
  ExtxyzImportOptions options;
  options.files = {folder_.Write("a.xyz.gz", packed), folder_.Write("b.xyz", "1\nid=z e=1\nC 1 2 3\n")};
  options.limit = 1;
  ASSERT_THAT(Import(options), IsOk());
  ASSERT_EQ(import_->sources().size(), 1u);
  EXPECT_EQ(import_->sources()[0].name(), options.files[0]);
  EXPECT_EQ(import_->sources()[0].bytes(), packed.size());
  EXPECT_EQ(import_->sources()[0].sha256(), base::HexSha256(packed));
}

TEST_F(ExtxyzImportTest, ConsumedBytesReachTheTotal) {
  ExtxyzImportOptions options;
  options.files = {folder_.Write("a.xyz", "1\nid=a\nC 1 2 3\n"), folder_.Write("b.xyz", "1\nid=b\nC 1 2 3\n")};
  ASSERT_THAT(Import(options), IsOk());
  EXPECT_EQ(import_->consumed_bytes(), import_->total_bytes());
}

TEST_F(ExtxyzImportTest, BlocksAreOfAboutAMebibyte) {
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

TEST_F(ExtxyzImportTest, FeedGivesTheSameBlocksThenTheEnd) {
  ExtxyzImportOptions options;
  options.files = {kData + "/qm9/qm9_sample.xyz.gz"};
  auto import = ExtxyzImport::Create(options).value();
  ASSERT_THAT(import->Begin(), IsOk());
  BlockFeed feed(*import);
  const ReadBlock block = feed.Next().value().value();
  EXPECT_EQ(block.block.source_ids_size(), 2778);
  EXPECT_EQ(block.read, 2778u);
  EXPECT_EQ(block.consumed_bytes, import->total_bytes());
  for (int call = 0; call < 2; ++call) EXPECT_EQ(feed.Next().value(), std::nullopt);
}

TEST_F(ExtxyzImportTest, FeedEndsWithTheRefusal) {
  ExtxyzImportOptions options;
  options.files = {folder_.Write("m.xyz", kThree)};
  auto import = ExtxyzImport::Create(options).value();
  ASSERT_THAT(import->Begin(), IsOk());
  BlockFeed feed(*import);
  for (int call = 0; call < 2; ++call) EXPECT_THAT(feed.Next(), Refused("bad_target", "frame 3 (c)"));
}

TEST_F(ExtxyzImportTest, FeedMayBeLeftInTheMiddle) {
  std::string text;
  for (int frame = 0; frame < 1000; ++frame) {
    text += "1000\nid=" + std::to_string(frame) + "\n";
    for (int atom = 0; atom < 1000; ++atom) text += "C 1 2 3\n";
  }
  ExtxyzImportOptions options;
  options.files = {folder_.Write("m.xyz", text)};
  auto import = ExtxyzImport::Create(options).value();
  ASSERT_THAT(import->Begin(), IsOk());
  {
    BlockFeed feed(*import);
    ASSERT_TRUE(feed.Next().value().has_value());
  }
  EXPECT_LT(import->ledger().read(), 1000u);
}

TEST(SourceFilesTest, FolderStandsForItsXyzFilesByName) {
  const testing::TempFolder folder;
  folder.Write("b.extxyz.gz", "");
  folder.Write("a.xyz", "");
  folder.Write("notes.txt", "");
  EXPECT_THAT(FindXyzFiles({"given.dat", folder.PathOf("")}).value(),
              ElementsAre("given.dat", folder.PathOf("a.xyz"), folder.PathOf("b.extxyz.gz")));
}

TEST(SourceFilesTest, FolderWithoutXyzFilesIsAnError) {
  const testing::TempFolder folder;
  EXPECT_THAT(FindXyzFiles({folder.PathOf("")}), StatusIs(absl::StatusCode::kNotFound, HasSubstr("no *.xyz")));
}

}  // namespace
}  // namespace packtrain::ingest
