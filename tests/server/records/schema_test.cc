#include "server/records/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <set>
#include <string>

#include "tests/testing/sample_molecules.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::records {
namespace {

using ::packtrain::testing::IsOk;
using ::packtrain::testing::MoleculeSchema;
using ::packtrain::testing::StatusIs;
using ::testing::HasSubstr;

struct BadSchema {
  const char* name;
  std::function<void(v1::Schema&)> spoil;
  const char* message;
};

void PrintTo(const BadSchema& row, std::ostream* out) { *out << row.name; }

class BadSchemaTest : public ::testing::TestWithParam<BadSchema> {};

TEST_P(BadSchemaTest, IsRefusedByName) {
  v1::Schema schema = MoleculeSchema();
  GetParam().spoil(schema);
  EXPECT_THAT(CheckSchema(schema), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().message)));
}

v1::Field& Pos(v1::Schema& schema) { return *schema.mutable_fields(1); }

// Returns the field of the nodes' indices in the source.
v1::Field& Renumber(v1::Schema& schema) {
  schema.set_edge_rule(v1::EDGE_RULE_STORED);
  schema.set_edges("bonds");
  schema.set_renumbered(v1::RENUMBERING_RCM);
  v1::Field& field = *schema.add_fields();
  field.set_name(std::string(kSourceNodeField));
  field.set_scope(v1::FIELD_SCOPE_NODE);
  field.set_data_type(v1::DATA_TYPE_I32);
  return field;
}

v1::Vocabulary& Words(v1::Schema& schema, const std::string& field) {
  v1::Vocabulary& words = *schema.add_vocabularies();
  words.set_field(field);
  words.add_words("b");
  words.add_words("a");
  return words;
}

INSTANTIATE_TEST_SUITE_P(
    All, BadSchemaTest,
    ::testing::Values(
        BadSchema{"NoFields", [](v1::Schema& s) { s.clear_fields(), s.clear_targets(); }, "fields"},
        BadSchema{"TooManyFields",
                  [](v1::Schema& s) {
                    for (int k = 0; k < kMaxFields; ++k) *s.add_fields() = s.fields(1);
                  },
                  "64"},
        BadSchema{"EmptyName", [](v1::Schema& s) { Pos(s).set_name(""); }, "[a-z0-9_]"},
        BadSchema{"UpperCaseName", [](v1::Schema& s) { Pos(s).set_name("Pos"); }, "Pos"},
        BadSchema{"LongName", [](v1::Schema& s) { Pos(s).set_name(std::string(65, 'a')); }, "64"},
        BadSchema{"SectionName", [](v1::Schema& s) { Pos(s).set_name("n_node"); }, "n_node"},
        BadSchema{"RepeatedName", [](v1::Schema& s) { *s.add_fields() = s.fields(1); }, "twice"},
        BadSchema{"NoScope", [](v1::Schema& s) { Pos(s).clear_scope(); }, "scope"},
        BadSchema{"NoDataType", [](v1::Schema& s) { Pos(s).clear_data_type(); }, "data type"},
        BadSchema{"UnknownDataType", [](v1::Schema& s) { Pos(s).set_data_type(v1::DataType(99)); },
                  "data type"},
        BadSchema{"WordsOfNoField", [](v1::Schema& s) { Words(s, "none"); }, "no such field"},
        BadSchema{"WordsOfAFloatField", [](v1::Schema& s) { Words(s, "pos"); }, "must hold one"},
        BadSchema{"RepeatedWord", [](v1::Schema& s) { Words(s, "z").add_words("a"); }, "'a'"},
        BadSchema{"WordsWithoutTheirCounts", [](v1::Schema& s) { Words(s, "z").add_graphs(1); },
                  "number of graphs"},
        BadSchema{"TwoVocabulariesOfAField", [](v1::Schema& s) { Words(s, "z"), Words(s, "z"); }, "two"},
        BadSchema{"TooManyWords",
                  [](v1::Schema& s) { Words(s, "z").add_words(std::string(kMaxVocabularyBytes, 'c')); },
                  "16777216"},
        BadSchema{"ZeroDimension", [](v1::Schema& s) { Pos(s).add_dims(0); }, "elements"},
        BadSchema{"HugeRow", [](v1::Schema& s) { Pos(s).add_dims(1 << 16); }, "65536"},
        BadSchema{"OverflowingRow",
                  [](v1::Schema& s) {
                    for (int k = 0; k < 4; ++k) Pos(s).add_dims(1u << 31);
                  },
                  "65536"},
        BadSchema{"TooManyDimensions",
                  [](v1::Schema& s) {
                    for (int k = 0; k < 8; ++k) Pos(s).add_dims(1);
                  },
                  "dimensions"},
        BadSchema{"LongUnit", [](v1::Schema& s) { Pos(s).set_unit(std::string(257, 'm')); }, "unit"},
        BadSchema{"EdgeFieldWithoutStoredEdges", [](v1::Schema& s) { Pos(s).set_scope(v1::FIELD_SCOPE_EDGE); },
                  "EDGE_RULE_STORED"},
        BadSchema{"NoEdgeRule", [](v1::Schema& s) { s.clear_edge_rule(); }, "edge rule"},
        BadSchema{"UnknownFullBuilder", [](v1::Schema& s) { s.set_edges("knn:5"); }, "full"},
        BadSchema{"TargetsWithoutY", [](v1::Schema& s) { s.mutable_fields()->RemoveLast(); }, "'y'"},
        BadSchema{"YWithoutTargets", [](v1::Schema& s) { s.clear_targets(); }, "'y'"},
        BadSchema{"YOfFloats", [](v1::Schema& s) { s.mutable_fields(2)->set_data_type(v1::DATA_TYPE_F32); },
                  "F64"},
        BadSchema{"YOfNodes", [](v1::Schema& s) { s.mutable_fields(2)->set_scope(v1::FIELD_SCOPE_NODE); },
                  "'y'"},
        BadSchema{"YOfOtherWidth", [](v1::Schema& s) { s.mutable_fields(2)->set_dims(0, 2); }, "[1]"},
        BadSchema{"UnnamedTarget", [](v1::Schema& s) { s.mutable_targets(0)->clear_name(); }, "target"},
        BadSchema{"RepeatedTarget", [](v1::Schema& s) { *s.add_targets() = s.targets(0); }, "twice"},
        BadSchema{"RenumberedWithoutStoredEdges",
                  [](v1::Schema& s) {
                    Renumber(s);
                    s.set_edge_rule(v1::EDGE_RULE_FULL);
                    s.set_edges("full");
                  },
                  "EDGE_RULE_STORED"},
        BadSchema{"RenumberedWithoutSourceNodes",
                  [](v1::Schema& s) {
                    Renumber(s);
                    s.mutable_fields()->RemoveLast();
                  },
                  "'source_node'"},
        BadSchema{"SourceNodesOfGraphs", [](v1::Schema& s) { Renumber(s).set_scope(v1::FIELD_SCOPE_GRAPH); },
                  "'source_node'"},
        BadSchema{"SourceNodesOfFloats", [](v1::Schema& s) { Renumber(s).set_data_type(v1::DATA_TYPE_F32); },
                  "one I32"},
        BadSchema{"PairsOfSourceNodes", [](v1::Schema& s) { Renumber(s).add_dims(2); }, "one I32"},
        BadSchema{"UnknownRenumbering",
                  [](v1::Schema& s) {
                    Renumber(s);
                    s.set_renumbered(v1::Renumbering(99));
                  },
                  "unknown way"},
        BadSchema{"ZOfFloats", [](v1::Schema& s) { s.mutable_fields(0)->set_data_type(v1::DATA_TYPE_F32); },
                  "'z'"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(SchemaTest, TakesMolecules) { EXPECT_THAT(CheckSchema(MoleculeSchema()), IsOk()); }

TEST(SchemaTest, TakesStoredEdgesOfAnyBuilder) {
  v1::Schema schema = MoleculeSchema();
  schema.set_edge_rule(v1::EDGE_RULE_STORED);
  schema.set_edges("made elsewhere");
  EXPECT_THAT(CheckSchema(schema), IsOk());
}

TEST(SchemaTest, CanonicalBytesTellSchemasApart) {
  v1::Schema other_unit = MoleculeSchema();
  Pos(other_unit).set_unit("bohr");
  v1::Schema other_dims = MoleculeSchema();
  Pos(other_dims).add_dims(1);
  v1::Schema moved_boundary = MoleculeSchema();
  moved_boundary.mutable_targets(0)->set_name("energye");
  moved_boundary.mutable_targets(0)->set_unit("V");
  EXPECT_EQ(CanonicalSchema(MoleculeSchema()), CanonicalSchema(MoleculeSchema()));
  EXPECT_EQ(std::set({CanonicalSchema(MoleculeSchema()), CanonicalSchema(other_unit),
                      CanonicalSchema(other_dims), CanonicalSchema(moved_boundary)})
                .size(),
            4u);
}

TEST(SchemaTest, ANumberingMakesAnotherSchemaThanTheFieldAlone) {
  v1::Schema renumbered = MoleculeSchema();
  Renumber(renumbered);
  EXPECT_THAT(CheckSchema(renumbered), IsOk());
  v1::Schema field_alone = renumbered;
  field_alone.clear_renumbered();
  EXPECT_THAT(CheckSchema(field_alone), IsOk());
  EXPECT_NE(CanonicalSchema(renumbered), CanonicalSchema(field_alone));
  EXPECT_TRUE(IsRenumbered(renumbered));
  EXPECT_FALSE(IsRenumbered(field_alone));
}

TEST(VocabularyTest, WordsMakeAnotherSchemaAndCountsDoNot) {
  v1::Schema words = MoleculeSchema();
  Words(words, "z");
  EXPECT_THAT(CheckSchema(words), IsOk());
  EXPECT_NE(CanonicalSchema(words), CanonicalSchema(MoleculeSchema()));
  v1::Schema counted = words;
  counted.mutable_vocabularies(0)->add_graphs(7);
  counted.mutable_vocabularies(0)->add_graphs(8);
  EXPECT_THAT(CheckSchema(counted), IsOk());
  EXPECT_EQ(CanonicalSchema(counted), CanonicalSchema(words));
}

TEST(VocabularyTest, GoesWithItsField) {
  v1::Schema schema = MoleculeSchema();
  Words(schema, "z");
  DropStrayVocabularies(schema);
  EXPECT_EQ(schema.vocabularies_size(), 1);
  schema.mutable_vocabularies(0)->set_field("edge_type");
  DropStrayVocabularies(schema);
  EXPECT_EQ(schema.vocabularies_size(), 0);
}

}  // namespace
}  // namespace packtrain::records
