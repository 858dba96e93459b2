#include "client/ingest/graph_import.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>
#include <variant>

#include "absl/strings/str_cat.h"
#include "client/ingest/block_feed.h"
#include "client/ingest/formats/format_table.h"
#include "proto/base/content_hash.h"
#include "proto/base/status_macros.h"
#include "tests/client/ingest/bond_reader.h"
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

const Format& Extxyz() { return *FindFormat("extxyz"); }

// All that an import gave.
struct Imported {
  v1::ImportHeader header;
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

class GraphImportTest : public ::testing::Test {
 protected:
  absl::StatusOr<Imported> Import(ImportOptions options) {
    absl::StatusOr<std::unique_ptr<GraphImport>> import = GraphImport::Create(Extxyz(), std::move(options));
    if (!import.ok()) return import.status();
    import_ = *std::move(import);
    absl::StatusOr<Imported> imported;
    readings_ = 0;
    do {
      imported = ReadOnce();
      ++readings_;
    } while (imported.ok() && !import_->WhyBeginAgain().empty());
    return imported;
  }
  absl::StatusOr<Imported> ReadOnce() {
    Imported imported;
    ABSL_ASSIGN_OR_RETURN(imported.header, import_->Begin());
    while (true) {
      Block block;
      ABSL_ASSIGN_OR_RETURN(const bool more, import_->Next(&block));
      if (!more) return imported;
      imported.blocks.push_back(std::get<v1::GraphBlock>(std::move(block)));
    }
  }
  absl::StatusOr<Imported> ImportText(std::string_view text, ImportOptions options = {}) {
    options.paths = {folder_.Write("m.xyz", text)};
    return Import(std::move(options));
  }
  ImportOptions Join(std::string_view csv) {
    ImportOptions options;
    options.join = JoinOptions{folder_.Write("t.csv", csv), "", {}};
    return options;
  }
  static std::vector<std::string> Targets(const Imported& imported) {
    std::vector<std::string> names;
    for (const v1::Target& target : imported.header.schema().targets()) names.push_back(target.name());
    return names;
  }
  const std::map<std::string, std::uint64_t>& Reasons() { return import_->ledger().refused_by_reason(); }

  // "energy 2/3 missing_in_some" of each label, without the reason where it is a target.
  std::vector<std::string> Labels() {
    std::vector<std::string> labels;
    for (const LabelUse& use : import_->ledger().labels()) {
      labels.push_back(
          absl::StrCat(use.name, " ", use.found, "/", use.graphs, use.used ? "" : " ", use.reason));
    }
    return labels;
  }

  testing::TempFolder folder_;
  std::unique_ptr<GraphImport> import_;
  int readings_ = 0;
};

ImportOptions FirstTwo() {
  ImportOptions options;
  options.limit = 2;
  return options;
}

ImportOptions SkipRefused() {
  ImportOptions options;
  options.skip_refused = true;
  return options;
}

constexpr char kThree[] = "1\nid=a e=1.5\nC 1 2 3\n1\nid=b e=2.5\nH 1 2 3\n1\nid=c e=x\nO 1 2 3\n";

TEST_F(GraphImportTest, SampleOfQm9IsReadWhole) {
  ImportOptions options;
  options.paths = {kData + "/qm9/qm9_sample.xyz.gz"};
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

TEST_F(GraphImportTest, SchemaSaysWhatIsStored) {
  ImportOptions options;
  options.paths = {kData + "/crystals/mp_sample.extxyz"};
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
  const Imported imported = ImportText(kThree, FirstTwo()).value();
  EXPECT_EQ(ParseOrigin(imported.blocks[0].origins(1)), (Origin{folder_.PathOf("m.xyz"), "frame", 2, 4}));
}

TEST_F(GraphImportTest, KeysWithNumbersInEveryFrameAreTheTargets) {
  const Imported imported = ImportText("1\nid=7 c=-2e3 b=word a=1 d=\"1 2\"\nC 1 2 3\n").value();
  EXPECT_THAT(Targets(imported), ElementsAre("a", "c"));
  EXPECT_THAT(imported.Column<double>("y"), ElementsAre(1, -2000));
  EXPECT_THAT(Labels(), ElementsAre("a 1/1", "c 1/1", "b 1/1 text", "d 1/1 text"));
}

TEST_F(GraphImportTest, AKeyThatTheFirstFrameLacksIsATargetOnlyWhereTargetsMayBeMissing) {
  constexpr char kLate[] = "1\nid=a\nC 1 2 3\n1\nid=b energy=-1\nC 1 2 3\n1\nid=c energy=-2\nC 1 2 3\n";
  EXPECT_THAT(Targets(ImportText(kLate).value()), ElementsAre());
  EXPECT_THAT(Labels(), ElementsAre("energy 2/3 missing_in_some"));
  ImportOptions options;
  options.missing_target_nan = true;
  EXPECT_THAT(ImportText(kLate, options).value().Column<double>("y"), ElementsAre(IsNan(), -1, -2));
  EXPECT_THAT(Labels(), ElementsAre("energy 2/3"));
}

TEST_F(GraphImportTest, WhatMerelyLooksLikeANumberRefusesNoGraph) {
  EXPECT_THAT(Targets(ImportText(kThree).value()), ElementsAre());
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

TEST_F(GraphImportTest, EverythingIsReadAgainWhereALateFrameShowsOtherTargets) {
  EXPECT_THAT(Targets(ImportText(Frames(2000, "e=1 f=2", "e=1 f=2")).value()), ElementsAre("e", "f"));
  EXPECT_EQ(readings_, 1);
  const Imported lacks = ImportText(Frames(2000, "e=1 f=2", "f=2")).value();
  EXPECT_THAT(Targets(lacks), ElementsAre("f"));
  EXPECT_EQ(lacks.Ids().size(), 2000u);
  EXPECT_THAT(lacks.Column<double>("y"), ::testing::Each(2));
  EXPECT_EQ(readings_, 2);
  EXPECT_EQ(import_->ledger().read(), 2000u);
  EXPECT_THAT(Labels(), ElementsAre("f 2000/2000", "e 1999/2000 missing_in_some"));
  EXPECT_THAT(Targets(ImportText(Frames(2000, "e=1 f=2", "e=x f=2")).value()), ElementsAre("f"));
  ImportOptions options;
  options.missing_target_nan = true;
  EXPECT_THAT(Targets(ImportText(Frames(2000, "f=2", "f=2 e=1"), options).value()), ElementsAre("f", "e"));
  EXPECT_EQ(readings_, 2);
}

TEST_F(GraphImportTest, TheSameGraphsInAnotherOrderHaveTheSameTargets) {
  const std::string many = Frames(1500, "a=1 b=2", "b=2");
  const std::string one = "1\nid=first b=2 c=3\nC 1 2 3\n";
  EXPECT_EQ(Targets(ImportText(one + many).value()), Targets(ImportText(many + one).value()));
  ImportOptions options;
  options.missing_target_nan = true;
  EXPECT_THAT(Targets(ImportText(one + many, options).value()), ElementsAre("b", "a", "c"));
  EXPECT_THAT(Targets(ImportText(many + one, options).value()), ElementsAre("b", "a", "c"));
}

TEST_F(GraphImportTest, APipeNeedsNamedTargetsOnlyWhereTheyCannotBeTold) {
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
  EXPECT_THAT(Targets(import(Frames(2000, "e=1", "e=2"), {}).value()), ElementsAre("e"));
  EXPECT_THAT(import(Frames(2000, "e=1", ""), {}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--targets names the targets")));
  ImportOptions options;
  options.targets = {"e"};
  options.missing_target_nan = true;
  EXPECT_THAT(Targets(import(Frames(2000, "e=1", ""), options).value()), ElementsAre("e"));
}

TEST_F(GraphImportTest, WithoutNumbersThereAreNoTargets) {
  const Imported imported = ImportText("1\nplain\nC 1 2 3\n").value();
  EXPECT_EQ(imported.header.schema().fields_size(), 2);
  EXPECT_EQ(imported.header.schema().targets_size(), 0);
}

TEST_F(GraphImportTest, TargetThatIsNoNumberIsRefused) {
  ImportOptions options;
  options.targets = {"e"};
  EXPECT_THAT(ImportText(kThree, options), Refused("bad_target", "m.xyz:7: frame 3 (c): target 'e'"));
}

TEST_F(GraphImportTest, TextThatIsNotUtf8IsRefused) {
  constexpr char kBadId[] = "1\nid=a\nC 1 2 3\n1\nid=b\xff\nC 1 2 3\n1\nid=c\nC 1 2 3\n";
  EXPECT_THAT(ImportText(kBadId), Refused("not_utf8", "m.xyz:4: frame 2 (b\xff): the id"));
  EXPECT_THAT(ImportText(kBadId, SkipRefused()), IsOk());
  EXPECT_EQ(Reasons().at("not_utf8"), 1);
  EXPECT_THAT(Targets(ImportText("1\nid=a e\xff=1.5\nC 1 2 3\n").value()), ElementsAre());
  EXPECT_THAT(Labels(), ElementsAre("e? 1/1 not_utf8"));
  ImportOptions options;
  options.paths = {folder_.Write("m\xff.xyz", "1\nid=a\nC 1 2 3\n")};
  EXPECT_THAT(Import(options), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("UTF-8")));
}

TEST_F(GraphImportTest, MoreTargetsThanASchemaHoldsAreRefused) {
  std::string comment = "id=a";
  for (int k = 0; k < 1025; ++k) comment += " t" + std::to_string(k) + "=1";
  EXPECT_THAT(ImportText("1\n" + comment + "\nH 0 0 0\n"), Refused("too_many_targets", "1025 targets"));
}

TEST_F(GraphImportTest, MissingTargetIsRefusedOrNan) {
  ImportOptions options;
  options.paths = {kData + "/crystals/mp_sample.extxyz"};
  options.targets = {"band_gap", "e_form"};
  EXPECT_THAT(Import(options),
              Refused("missing_target", "(mp-1001605): target 'e_form' is missing (--missing-target"));
  options.missing_target_nan = true;
  EXPECT_THAT(Import(options).value().Column<double>("y")[2 * 2 + 1], IsNan());
}

TEST_F(GraphImportTest, IdMissingInTheTableIsRefusedOrNan) {
  ImportOptions options = Join("id,e\na,1\nc,3\n");
  EXPECT_THAT(ImportText(kThree, options), Refused("missing_target", "frame 2 (b): no row of"));
  options.missing_target_nan = true;
  EXPECT_THAT(ImportText(kThree, options).value().Column<double>("y"), ElementsAre(1, IsNan(), 3));
}

TEST_F(GraphImportTest, NamedTargetsAreTakenFromTheTable) {
  ImportOptions options = Join("id,e,f\na,1,4\nb,2,5\nc,3,6\n");
  options.targets = {"f"};
  EXPECT_THAT(ImportText(kThree, options).value().Column<double>("y"), ElementsAre(4, 5, 6));
}

TEST_F(GraphImportTest, InfiniteTargetIsRefused) {
  EXPECT_THAT(ImportText("1\nid=a e=inf\nC 1 2 3\n"), Refused("not_finite", "target 'e'"));
}

TEST_F(GraphImportTest, SkippedGraphsStandInTheLedger) {
  const std::string text =
      "1\nid=bad\nXx 1 2 3\n1\nid=a\nC 1 2 3\n1\nid=worse\nC nan 2 3\n1\nid=b\nC 1 2 3\nrubbish\n";
  const Imported imported = ImportText(text, SkipRefused()).value();
  EXPECT_THAT(imported.Ids(), ElementsAre("a", "b"));
  EXPECT_EQ(import_->ledger().read(), 5u);
  EXPECT_THAT(Reasons(), ElementsAre(Pair("bad_count", 1), Pair("not_finite", 1), Pair("unknown_symbol", 1)));
  EXPECT_EQ(import_->ledger().refused()[1].id, "worse");
  EXPECT_EQ(import_->ledger().refused()[1].origin, (Origin{folder_.PathOf("m.xyz"), "frame", 3, 7}));
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
  import_->Describe(import_->ledger(), &seal);
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

TEST_F(GraphImportTest, FeedGivesTheSameBlocksThenTheEnd) {
  ImportOptions options;
  options.paths = {kData + "/qm9/qm9_sample.xyz.gz"};
  auto import = GraphImport::Create(Extxyz(), options).value();
  ASSERT_THAT(import->Begin(), IsOk());
  BlockFeed feed(*import);
  const ReadBlock block = feed.Next().value().value();
  EXPECT_EQ(std::get<v1::GraphBlock>(block.block).source_ids_size(), 2778);
  EXPECT_EQ(block.read, 2778u);
  EXPECT_EQ(block.consumed_bytes, import->total_bytes());
  for (int call = 0; call < 2; ++call) EXPECT_FALSE(feed.Next().value().has_value());
}

TEST_F(GraphImportTest, FeedEndsWithTheRefusal) {
  ImportOptions options;
  options.paths = {folder_.Write("m.xyz", kThree)};
  options.targets = {"e"};
  auto import = GraphImport::Create(Extxyz(), options).value();
  ASSERT_THAT(import->Begin(), IsOk());
  BlockFeed feed(*import);
  for (int call = 0; call < 2; ++call) EXPECT_THAT(feed.Next(), Refused("bad_target", "frame 3 (c)"));
}

TEST_F(GraphImportTest, FeedMayBeLeftInTheMiddle) {
  std::string text;
  for (int frame = 0; frame < 1000; ++frame) {
    text += "1000\nid=" + std::to_string(frame) + "\n";
    for (int atom = 0; atom < 1000; ++atom) text += "C 1 2 3\n";
  }
  ImportOptions options;
  options.paths = {folder_.Write("m.xyz", text)};
  auto import = GraphImport::Create(Extxyz(), options).value();
  ASSERT_THAT(import->Begin(), IsOk());
  {
    BlockFeed feed(*import);
    ASSERT_TRUE(feed.Next().value().has_value());
  }
  EXPECT_LT(import->ledger().read(), 1000u);
}

class BondImportTest : public ::testing::Test {
 protected:
  absl::Status Read(std::string_view text, ImportOptions options = {}) {
    if (options.paths.empty()) options.paths = {folder_.Write("m.bonds", text)};
    import_ = GraphImport::Create(testing::kBondFormat, std::move(options)).value();
    do {
      ABSL_RETURN_IF_ERROR(ReadOnce());
    } while (!import_->WhyBeginAgain().empty());
    return absl::OkStatus();
  }
  absl::Status ReadOnce() {
    ABSL_ASSIGN_OR_RETURN(header_, import_->Begin());
    block_.Clear();
    while (true) {
      Block block;
      ABSL_ASSIGN_OR_RETURN(const bool more, import_->Next(&block));
      if (!more) return absl::OkStatus();
      if (block_.source_ids().empty()) block_ = std::get<v1::GraphBlock>(std::move(block));
    }
  }
  std::vector<std::string> Fields() const {
    std::vector<std::string> names;
    for (const v1::Field& field : header_.schema().fields()) names.push_back(field.name());
    return names;
  }

  testing::TempFolder folder_;
  std::unique_ptr<GraphImport> import_;
  v1::ImportHeader header_;
  v1::GraphBlock block_;  // the first
};

constexpr char kBonds[] = "ethene C,C 0-1:2,1-0:2 gap=7.5\nmethane C - gap=9\n";

TEST_F(BondImportTest, EdgesOfTheRecordsAreSentWithTheirFields) {
  ASSERT_THAT(Read(kBonds), IsOk());
  EXPECT_EQ(header_.schema().edge_rule(), v1::EDGE_RULE_STORED);
  EXPECT_EQ(header_.schema().edges(), "bonds");
  EXPECT_FALSE(header_.build_edges());
  EXPECT_THAT(Fields(), ElementsAre("z", "edge_type", "y"));
  EXPECT_THAT(block_.n_edge(), ElementsAre(2, 0));
  EXPECT_THAT(block_.senders(), ElementsAre(0, 1));
  EXPECT_THAT(block_.receivers(), ElementsAre(1, 0));
  EXPECT_THAT(Elements<std::int32_t>(block_.columns(1)), ElementsAre(2, 2));
  EXPECT_THAT(Elements<double>(block_.columns(2)), ElementsAre(7.5, 9));
}

TEST_F(BondImportTest, OwnEdgesMayBeAskedForByName) {
  ImportOptions options;
  options.edges = "bonds";
  ASSERT_THAT(Read(kBonds, options), IsOk());
  EXPECT_FALSE(header_.build_edges());
}

TEST_F(BondImportTest, OtherEdgesTakeThePlaceOfTheRecordsOwn) {
  ImportOptions options;
  options.edges = "full";
  ASSERT_THAT(Read(kBonds, options), IsOk());
  EXPECT_EQ(header_.schema().edge_rule(), v1::EDGE_RULE_FULL);
  EXPECT_TRUE(header_.build_edges());
  EXPECT_THAT(Fields(), ElementsAre("z", "y"));
  EXPECT_THAT(block_.n_edge(), ElementsAre());
  EXPECT_THAT(block_.senders(), ElementsAre());
}

TEST_F(BondImportTest, OptionalFieldIsInAllGraphsOrInNone) {
  EXPECT_THAT(
      Read("a C - charge=1\nb C -\n"),
      Refused("charge_mismatch", "m.bonds:2: molecule 2 (b): the molecule has no charge, but the first"));
  EXPECT_THAT(Read("a C -\nb C - charge=1\n"),
              Refused("charge_mismatch", "the molecule has a charge, but the first molecule has none"));
  ASSERT_THAT(Read("a C - charge=1\nb C - charge=0\n"), IsOk());
  EXPECT_THAT(Fields(), ElementsAre("z", "edge_type", "charge"));
}

TEST_F(BondImportTest, FieldThatMeansZerosWhereItIsAbsentIsStoredInEitherOrder) {
  for (const char* text : {"a C -\nb C - field=1\n", "b C - field=1\na C -\n"}) {
    ASSERT_THAT(Read(text), IsOk());
    EXPECT_THAT(Fields(), ElementsAre("z", "edge_type", "field"));
    const bool a_is_first = block_.source_ids(0) == "a";
    EXPECT_THAT(Elements<float>(block_.columns(2)),
                a_is_first ? ElementsAre(0, 0, 1, 1) : ElementsAre(1, 1, 0, 0));
  }
  std::string late;
  for (int k = 0; k < 1500; ++k) late += absl::StrCat("m", k, " C -\n");
  ASSERT_THAT(Read(late + "b C - field=1\n"), IsOk());
  EXPECT_THAT(Fields(), ElementsAre("z", "edge_type", "field"));
  EXPECT_EQ(Elements<float>(block_.columns(2)).size(), 2u * 1501u);
}

TEST_F(BondImportTest, GraphsWithoutIdsAreNamedByTitleOrFile) {
  ASSERT_THAT(Read("~apex C -\n~Frame C -\n~Frame C -\nid7 C -\n~-76.4 C -\n"), IsOk());
  EXPECT_THAT(block_.source_ids(), ElementsAre("apex", "m:2", "m:3", "id7", "m:5"));
  ASSERT_THAT(Read("~apex C -\n"), IsOk());
  EXPECT_THAT(block_.source_ids(), ElementsAre("m"));
}

TEST_F(BondImportTest, ATitleThatRepeatsLateRenamesItsFirstGraph) {
  std::string text;
  for (int k = 0; k < 1500; ++k) text += absl::StrCat("~t", k, " C -\n");
  ASSERT_THAT(Read(text + "~t0 C -\n"), IsOk());
  ASSERT_EQ(block_.source_ids_size(), 1501);
  EXPECT_EQ(block_.source_ids(0), "m:1");
  EXPECT_EQ(block_.source_ids(1), "t1");
  EXPECT_EQ(block_.source_ids(1500), "m:1501");
}

TEST_F(BondImportTest, AnOddCellInAColumnOfNumbersRefusesItsRow) {
  ImportOptions options;
  options.read.flags["--cells"] = "";
  EXPECT_THAT(Read("a C - e=1\nb C - e=2\nc C - e=-76,4\n", options),
              Refused("bad_target", "m.bonds:3: molecule 3 (c): target 'e' is not a number: '-76,4'"));
  ASSERT_THAT(Read("a C - e=1\nb C - e=x\nc C - e=y\n", options), IsOk());
  EXPECT_EQ(header_.schema().targets_size(), 0);
  options.skip_refused = true;
  ASSERT_THAT(Read("a C - e=1\nb C - e=2\nc C - e=-76,4\n", options), IsOk());
  EXPECT_THAT(block_.source_ids(), ElementsAre("a", "b"));
}

TEST_F(BondImportTest, AColumnOfFirstNumbersThatTurnsOutToBeTextRefusesNoRow) {
  ImportOptions options;
  options.read.flags["--cells"] = "";
  std::string text;
  for (int k = 0; k < 1500; ++k) text += absl::StrCat("n", k, " C - e=1\n");
  for (int k = 0; k < 1500; ++k) text += absl::StrCat("w", k, " C - e=x\n");
  ASSERT_THAT(Read(text, options), IsOk());
  EXPECT_EQ(header_.schema().targets_size(), 0);
  EXPECT_EQ(block_.source_ids_size(), 3000);
}

TEST_F(BondImportTest, FilesOfOtherFieldsAreRefused) {
  ImportOptions options;
  options.paths = {folder_.Write("a.bonds", "a C -\n"), folder_.Write("other.bonds", "b C -\nc C -\n"),
                   folder_.Write("d.bonds", "d C -\n")};
  EXPECT_THAT(Read("", options),
              Refused("fields_mismatch", "other.bonds:1: molecule 1 (b): the file has other"));
  options.skip_refused = true;
  ASSERT_THAT(Read("", options), IsOk());
  EXPECT_THAT(block_.source_ids(), ElementsAre("a", "d"));
  EXPECT_EQ(import_->ledger().refused_by_reason().at("fields_mismatch"), 2u);
}

TEST_F(BondImportTest, FormatHasFlagsOfItsOwn) {
  ImportOptions options;
  options.read.flags["--types"] = "order";
  ASSERT_THAT(Read(kBonds, options), IsOk());
  EXPECT_THAT(Fields(), ElementsAre("z", "order", "y"));
}

TEST_F(BondImportTest, RecordsAreCalledWhatTheFormatCallsThem) {
  EXPECT_THAT(Read("a C -\nb C\n"), Refused("short_line", "m.bonds:2: molecule 2 (b): the line has two words"));
  EXPECT_EQ(import_->ledger().refused()[0].origin, (Origin{folder_.PathOf("m.bonds"), "molecule", 2, 2}));
}

}  // namespace
}  // namespace packtrain::ingest
