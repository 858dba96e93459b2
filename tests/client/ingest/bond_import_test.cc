// Imports of graphs that bring edges, fields that some of them lack, and names of their own.
#include <gmock/gmock.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/ingest/graph_import.h"
#include "proto/base/status_macros.h"
#include "tests/client/ingest/bond_reader.h"
#include "tests/client/ingest/graph_import_testing.h"
#include "tests/client/ingest/refused.h"
#include "tests/testing/temp_file.h"

namespace packtrain::ingest {
namespace {

using ::testing::ElementsAre;
using testing::ElementsOf;
using testing::IsOk;
using testing::Refused;

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
  EXPECT_THAT(ElementsOf<std::int32_t>(block_.columns(1)), ElementsAre(2, 2));
  EXPECT_THAT(ElementsOf<double>(block_.columns(2)), ElementsAre(7.5, 9));
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
    EXPECT_THAT(ElementsOf<float>(block_.columns(2)),
                a_is_first ? ElementsAre(0, 0, 1, 1) : ElementsAre(1, 1, 0, 0));
  }
  std::string late;
  for (int k = 0; k < 1500; ++k) late += absl::StrCat("m", k, " C -\n");
  ASSERT_THAT(Read(late + "b C - field=1\n"), IsOk());
  EXPECT_THAT(Fields(), ElementsAre("z", "edge_type", "field"));
  EXPECT_EQ(ElementsOf<float>(block_.columns(2)).size(), 2u * 1501u);
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
