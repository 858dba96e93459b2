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

auto Word(const char* word) { return FieldsAre(word, "", false, false); }
auto Pair(const char* key, const char* value) { return FieldsAre(key, value, true, false); }
auto Ambiguous(const char* key, const char* value) { return FieldsAre(key, value, true, true); }

TEST(ExtxyzCommentTest, PairsAreSplit) {
  EXPECT_THAT(Parse(R"(id=mp-1 pbc="T T F"  energy=-1.5)"),
              ElementsAre(Pair("id", "mp-1"), Pair("pbc", "T T F"), Pair("energy", "-1.5")));
}

TEST(ExtxyzCommentTest, PlainWordsHaveNoValue) {
  EXPECT_THAT(Parse("dsgdb9nsd_000001"), ElementsAre(Word("dsgdb9nsd_000001")));
}

TEST(ExtxyzCommentTest, QuotesAndBracketsHoldBlanks) {
  EXPECT_THAT(Parse(R"(a='x y' b={1 2} c=[3, 4] d="say \"hi\" =" e="")"),
              ElementsAre(Pair("a", "x y"), Pair("b", "1 2"), Pair("c", "3, 4"), Pair("d", R"(say \"hi\" =)"),
                          Pair("e", "")));
}

TEST(ExtxyzCommentTest, BlanksMayStandAroundTheEqualsSign) {
  EXPECT_THAT(Parse("energy = -1.5 id= x"), ElementsAre(Pair("energy", "-1.5"), Pair("id", "x")));
}

TEST(ExtxyzCommentTest, QuotesInPlainWordsMeanNothing) {
  EXPECT_THAT(Parse("5'-phosphate \"x"), ElementsAre(Word("5'-phosphate"), Word("\"x")));
}

TEST(ExtxyzCommentTest, ValueWithoutEndIsRefused) {
  std::vector<KeyValue> pairs;
  for (const char* comment : {"a=\"1 2", "a=[1", "a={", "a='x\\'"}) {
    EXPECT_THAT(ParseComment(comment, &pairs), Refused("bad_comment", "does not end")) << comment;
  }
}

TEST(ExtxyzCommentTest, NestedBracketsAreOneValue) {
  EXPECT_THAT(Parse("a=[[1, 2], [3, 4]] b={{x} y}"),
              ElementsAre(Pair("a", "[1, 2], [3, 4]"), Pair("b", "{x} y")));
}

TEST(ExtxyzCommentTest, NumberBehindAColonBelongsToTheWordBeforeIt) {
  EXPECT_THAT(Parse("energy: -5.07, gnorm: 5e-5"), ElementsAre(Pair("energy", "-5.07"), Pair("gnorm", "5e-5")));
  EXPECT_THAT(Parse("energy : -5.07 gap :\t1"), ElementsAre(Pair("energy", "-5.07"), Pair("gap", "1")));
  EXPECT_THAT(Parse("i = 5, E = -17.25"), ElementsAre(Pair("i", "5"), Pair("E", "-17.25")));
}

TEST(ExtxyzCommentTest, TextBehindAColonMakesAnAmbiguousPairOfTheWordBeforeIt) {
  EXPECT_THAT(Parse("energy: -5.07 xtb: 6.6.1"),
              ElementsAre(Pair("energy", "-5.07"), Word("xtb:"), Ambiguous("xtb", "6.6.1")));
  EXPECT_THAT(Parse("made by: Anna"), ElementsAre(Word("made"), Word("by:"), Ambiguous("by", "Anna")));
  EXPECT_THAT(Parse("ethane : gas"), ElementsAre(Word("ethane"), Ambiguous("ethane", "gas")));
}

TEST(ExtxyzCommentTest, WhatFollowsAColonMayBeAKeyItself) {
  EXPECT_THAT(Parse("SCF: energy= -5"), ElementsAre(Word("SCF:"), Ambiguous("energy", "-5")));
  EXPECT_THAT(Parse("SCF: energy = -5"), ElementsAre(Word("SCF:"), Ambiguous("energy", "-5")));
  EXPECT_THAT(Parse("SCF: energy: -5"), ElementsAre(Word("SCF:"), Ambiguous("energy", "-5")));
  EXPECT_THAT(Parse("SCF: e=-5"), ElementsAre(Word("SCF:"), Pair("e", "-5")));
  EXPECT_THAT(Parse("end: :"), ElementsAre(Word("end:"), Word(":")));
}

TEST(ExtxyzCommentTest, NumberInAWordWithAColonIsAnAmbiguousPair) {
  EXPECT_THAT(Parse("energy:-5.07, e=1"),
              ElementsAre(Word("energy:-5.07,"), Ambiguous("energy", "-5.07"), Pair("e", "1")));
  EXPECT_THAT(Parse("12:30 species:S:1 http://a.b :5 a:"),
              ElementsAre(Word("12:30"), Word("species:S:1"), Word("http://a.b"), Word(":5"), Word("a:")));
}

TEST(ExtxyzCommentTest, LastWordOfALongerNameIsNoKey) {
  EXPECT_THAT(Parse("Etot= -76.4 g norm= 0.01 gap= 0.3"),
              ElementsAre(Pair("Etot", "-76.4"), Word("g"), Ambiguous("g norm", "0.01"), Pair("gap", "0.3")));
  EXPECT_THAT(Parse("the total energy: -5"),
              ElementsAre(Word("the"), Word("total"), Ambiguous("total energy", "-5")));
  EXPECT_THAT(Parse("word id= x norm=0.5"), ElementsAre(Word("word"), Pair("id", "x"), Pair("norm", "0.5")));
}

TEST(ExtxyzCommentTest, FirstWordIsNoPartOfALongerName) {
  EXPECT_THAT(Parse("ethane energy: -5"), ElementsAre(Word("ethane"), Ambiguous("energy", "-5")));
}

TEST(ExtxyzCommentTest, AmbiguousPairsAreNoSettings) {
  const std::vector<KeyValue> pairs = Parse("a id: 5 Lattice: x");
  EXPECT_EQ(FindKey(pairs, "id"), std::nullopt);
  EXPECT_EQ(FindSetting(pairs, "lattice"), std::nullopt);
}

TEST(ExtxyzCommentTest, SettingsAreFoundInAnyCase) {
  const std::vector<KeyValue> pairs = Parse("LATTICE=x id=y");
  EXPECT_EQ(FindSetting(pairs, "Lattice"), "x");
  EXPECT_EQ(FindKey(pairs, "Lattice"), std::nullopt);
  EXPECT_EQ(FindKey(pairs, "id"), "y");
}

TEST(ExtxyzCommentTest, PropertiesSayWhereColumnsAre) {
  EXPECT_EQ(ParseProperties("species:S:1:pos:R:3").value().columns, AtomColumns());
  EXPECT_EQ(ParseProperties("forces:R:3:pos:R:3:charge:R:1:species:S:1:tag:I:2").value().columns,
            (AtomColumns{.species = 7, .position = 3, .count = 10}));
  for (const char* name : {"Z", "numbers"}) {
    EXPECT_EQ(ParseProperties(std::string(name) + ":I:1:pos:R:3").value().columns,
              (AtomColumns{.numbers = true}));
  }
  EXPECT_EQ(ParseProperties("Z:I:1:species:S:1:pos:R:3").value().columns,
            (AtomColumns{.species = 1, .position = 2, .count = 5, .number = 0}));
  EXPECT_EQ(ParseProperties("Species:S:1:POS:R:3:Z:R:1").value().columns, (AtomColumns{.count = 5}));
}

TEST(ExtxyzCommentTest, PropertiesSayWhichColumnsAreNotRead) {
  const std::string text = "forces:R:3:pos:R:3:species:S:1:tag:I:2";
  const auto columns = ParseProperties(text).value();
  std::vector<std::string> names;
  for (const auto& [begin, size] : columns.other_names) names.push_back(text.substr(begin, size));
  EXPECT_THAT(names, ElementsAre("forces", "tag"));
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
  EXPECT_THAT(ParseCell("1 0 0 0 1 0 0 0 1", "T T T F"), Refused("bad_pbc", "more than three"));
}

}  // namespace
}  // namespace packtrain::ingest
