#include "client/ingest/formats/extxyz_comment.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/client/ingest/refused.h"

namespace packtrain::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::FieldsAre;
using testing::IsOk;
using testing::Refused;

std::vector<KeyValue> Parse(std::string_view comment) {
  std::vector<KeyValue> pairs;
  EXPECT_THAT(ParseComment(comment, &pairs), IsOk());
  return pairs;
}

TEST(ExtxyzCommentTest, PairsAreSplit) {
  EXPECT_THAT(Parse(R"(id=mp-1 pbc="T T F"  energy=-1.5)"),
              ElementsAre(FieldsAre("id", "mp-1", true), FieldsAre("pbc", "T T F", true),
                          FieldsAre("energy", "-1.5", true)));
}

TEST(ExtxyzCommentTest, PlainWordsHaveNoValue) {
  EXPECT_THAT(Parse("dsgdb9nsd_000001"), ElementsAre(FieldsAre("dsgdb9nsd_000001", "", false)));
}

TEST(ExtxyzCommentTest, QuotesAndBracketsHoldBlanks) {
  EXPECT_THAT(
      Parse(R"(a='x y' b={1 2} c=[3, 4] d="say \"hi\" =" e="")"),
      ElementsAre(FieldsAre("a", "x y", true), FieldsAre("b", "1 2", true), FieldsAre("c", "3, 4", true),
                  FieldsAre("d", R"(say \"hi\" =)", true), FieldsAre("e", "", true)));
}

TEST(ExtxyzCommentTest, BlanksMayStandAroundTheEqualsSign) {
  EXPECT_THAT(Parse("energy = -1.5 id= x"),
              ElementsAre(FieldsAre("energy", "-1.5", true), FieldsAre("id", "x", true)));
}

TEST(ExtxyzCommentTest, QuotesInPlainWordsMeanNothing) {
  EXPECT_THAT(Parse("5'-phosphate \"x"),
              ElementsAre(FieldsAre("5'-phosphate", "", false), FieldsAre("\"x", "", false)));
}

TEST(ExtxyzCommentTest, ValueWithoutEndIsRefused) {
  std::vector<KeyValue> pairs;
  for (const char* comment : {"a=\"1 2", "a=[1", "a={", "a='x\\'"}) {
    EXPECT_THAT(ParseComment(comment, &pairs), Refused("bad_comment", "does not end")) << comment;
  }
}

TEST(ExtxyzCommentTest, PropertiesSayWhereColumnsAre) {
  EXPECT_EQ(ParseProperties("species:S:1:pos:R:3").value(), AtomColumns());
  EXPECT_EQ(ParseProperties("forces:R:3:pos:R:3:charge:R:1:species:S:1:tag:I:2").value(),
            (AtomColumns{7, 3, 10}));
  EXPECT_EQ(ParseProperties("Z:I:1:pos:R:3").value(), AtomColumns());
  EXPECT_EQ(ParseProperties("Z:I:1:species:S:1:pos:R:3").value(), (AtomColumns{1, 2, 5}));
}

TEST(ExtxyzCommentTest, PropertiesWithoutWhatIsNeededAreRefused) {
  EXPECT_THAT(ParseProperties("pos:R:3"), Refused("bad_properties", "no species"));
  EXPECT_THAT(ParseProperties("species:S:1"), Refused("bad_properties", "no pos"));
  for (const char* text : {"species", "species:S", "species:S:x", "species:S:0", "species:S:1:pos:R:-3",
                           ":::", "species::1", "a:R:99999999999", "a:R:1000000:b:R:1000000"}) {
    EXPECT_THAT(ParseProperties(text), Refused("bad_properties", "Properties=")) << text;
  }
}

TEST(ExtxyzCommentTest, CellIsNineNumbers) {
  const PeriodicCell cell = ParseCell("1 0 0 0 2.5 0 0 0 -3", "T F 1").value();
  EXPECT_THAT(cell.vectors, ElementsAre(1, 0, 0, 0, 2.5, 0, 0, 0, -3));
  EXPECT_THAT(cell.pbc, ElementsAre(1, 0, 1));
  EXPECT_THAT(ParseCell("1 0 0 0 2.5 0 0 0 -3", std::nullopt).value().pbc, ElementsAre(1, 1, 1));
}

TEST(ExtxyzCommentTest, OtherCellsAreRefused) {
  for (const char* text : {"", "1 2 3", "1 0 0 0 1 0 0 0 nan", "1 0 0 0 1 0 0 0 x", "1 0 0 0 1 0 0 0 1 1"}) {
    EXPECT_THAT(ParseCell(text, std::nullopt), Refused("bad_lattice", "Lattice=")) << text;
  }
  EXPECT_THAT(ParseCell("1 0 0 0 1 0 0 0 1", "T T"), Refused("bad_pbc", "pbc="));
  EXPECT_THAT(ParseCell("1 0 0 0 1 0 0 0 1", "T T maybe"), Refused("bad_pbc", "pbc="));
}

}  // namespace
}  // namespace packtrain::ingest
