#include "client/ingest/formats/joined_words.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/ingest/refusal.h"
#include "server/records/graph_record.h"
#include "tests/client/ingest/refused.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsOk;
using testing::Refused;
using testing::StatusIs;

using Counts = std::vector<std::pair<std::string, std::uint64_t>>;

// Graphs of nodes with one field of words.
v1::Schema SchemaOf(v1::DataType type, const Counts& words) {
  v1::Schema schema;
  v1::Field& field = *schema.add_fields();
  field.set_name("token");
  field.set_scope(v1::FIELD_SCOPE_NODE);
  field.set_data_type(type);
  schema.set_edge_rule(v1::EDGE_RULE_FULL);
  schema.set_edges("full");
  v1::Vocabulary& vocabulary = *schema.add_vocabularies();
  vocabulary.set_field("token");
  for (const auto& [word, graphs] : words) {
    vocabulary.add_words(word);
    vocabulary.add_graphs(graphs);
  }
  return schema;
}

v1::Schema WithFixedNames(const std::vector<std::string>& names) {
  v1::Schema schema = SchemaOf(v1::DATA_TYPE_U8, {});
  for (const std::string& name : names) schema.mutable_vocabularies(0)->add_words(name);
  return schema;
}

template <typename T>
std::string RecordOf(const v1::Schema& schema, const std::string& id, const std::vector<T>& tokens) {
  const records::RecordLayout layout = records::RecordLayout::Create(schema).value();
  const std::string_view rows(reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(T));
  const std::string_view fields[] = {rows};
  records::GraphView graph;
  graph.n_node = static_cast<std::uint32_t>(tokens.size());
  graph.n_edge = graph.n_node * (graph.n_node - 1);
  graph.fields = fields;
  graph.source_id = id;
  std::string record;
  EXPECT_THAT(records::EncodeRecord(layout, graph, record), IsOk());
  return record;
}

template <typename T>
std::vector<T> TokensOf(const v1::Schema& schema, const std::string& record) {
  const records::RecordLayout layout = records::RecordLayout::Create(schema).value();
  const auto view = records::RecordView::Parse(layout, std::as_bytes(std::span(record))).value();
  std::vector<T> tokens(view.n_node());
  std::memcpy(tokens.data(), view.field(0).data(), view.field(0).size());
  return tokens;
}

// All of `schemas`, which must go with each other.
JoinedWords Joined(const std::vector<v1::Schema>& schemas) {
  JoinedWords words;
  for (const v1::Schema& schema : schemas) EXPECT_THAT(words.Add(schema), IsOk());
  EXPECT_THAT(words.Finish(), IsOk());
  return words;
}

v1::Vocabulary VocabularyOf(const JoinedWords& words) {
  v1::Schema schema;
  words.Store(&schema);
  return schema.vocabularies(0);
}

// Refused graphs as "PLACE ID REASON".
std::vector<std::string> Converted(const JoinedWords& words, const v1::Schema& schema, v1::RecordBlock* block) {
  std::vector<std::string> refused;
  const WordConverter converter = words.ConverterOf(schema).value();
  EXPECT_THAT(
      converter.Convert(block,
                        [&](int place, std::string_view id, const absl::Status& refusal) {
                          refused.push_back(absl::StrCat(place, " ", std::string(id), " ", ReasonOf(refusal)));
                          return absl::OkStatus();
                        }),
      IsOk());
  return refused;
}

TEST(JoinedWordsTest, WordsOfAllFilesAreSortedAndTheirCountsAdded) {
  const v1::Schema first = SchemaOf(v1::DATA_TYPE_I32, {{"b", 2}, {"d", 1}});
  const v1::Schema second = SchemaOf(v1::DATA_TYPE_I32, {{"a", 1}, {"b", 3}, {"e", 1}});
  const JoinedWords words = Joined({first, second});
  EXPECT_THAT(VocabularyOf(words).words(), ElementsAre("a", "b", "d", "e"));
  EXPECT_THAT(VocabularyOf(words).graphs(), ElementsAre(1, 5, 1, 1));
  v1::RecordBlock block;
  block.add_records(RecordOf<std::int32_t>(first, "g", {1, 0, 0}));
  EXPECT_THAT(Converted(words, first, &block), IsEmpty());
  EXPECT_THAT(TokensOf<std::int32_t>(first, block.records(0)), ElementsAre(2, 1, 1));
  block.set_records(0, RecordOf<std::int32_t>(second, "h", {0, 1, 2}));
  EXPECT_THAT(Converted(words, second, &block), IsEmpty());
  EXPECT_THAT(TokensOf<std::int32_t>(second, block.records(0)), ElementsAre(0, 1, 3));
}

TEST(JoinedWordsTest, RecordsStayAsTheyAreWhereAllFilesHaveTheSameWords) {
  const v1::Schema schema = SchemaOf(v1::DATA_TYPE_I32, {{"a", 1}, {"b", 2}});
  const JoinedWords words = Joined({schema, schema, SchemaOf(v1::DATA_TYPE_I32, {})});
  EXPECT_TRUE(words.ConverterOf(schema)->changes_nothing());
  EXPECT_TRUE(words.ConverterOf(SchemaOf(v1::DATA_TYPE_I32, {}))->changes_nothing());
  EXPECT_THAT(VocabularyOf(words).graphs(), ElementsAre(2, 4));
}

TEST(JoinedWordsTest, GraphWithAnIdThatDoesNotFitIsRefusedAlone) {
  Counts low, high;
  for (int k = 100; k < 300; ++k) low.emplace_back(absl::StrCat("a", k), 1);
  for (int k = 100; k < 300; ++k) high.emplace_back(absl::StrCat("b", k), 1);
  const v1::Schema first = SchemaOf(v1::DATA_TYPE_U8, low), second = SchemaOf(v1::DATA_TYPE_U8, high);
  const JoinedWords words = Joined({first, second});
  v1::RecordBlock block;
  block.add_records(RecordOf<std::uint8_t>(second, "fits", {0, 55}));
  block.add_records(RecordOf<std::uint8_t>(second, "too many", {0, 56}));
  block.add_records(RecordOf<std::uint8_t>(second, "fits too", {1}));
  EXPECT_THAT(Converted(words, second, &block), ElementsAre("1 too many too_many_edge_types"));
  ASSERT_EQ(block.records_size(), 2);
  EXPECT_THAT(TokensOf<std::uint8_t>(second, block.records(0)), ElementsAre(200, 255));
  EXPECT_THAT(TokensOf<std::uint8_t>(second, block.records(1)), ElementsAre(201));
}

TEST(JoinedWordsTest, IdWithoutAWordIsRefused) {
  const v1::Schema first = SchemaOf(v1::DATA_TYPE_I32, {{"b", 1}});
  const JoinedWords words = Joined({first, SchemaOf(v1::DATA_TYPE_I32, {{"a", 1}})});
  v1::RecordBlock block;
  block.add_records(RecordOf<std::int32_t>(first, "g", {0, 1}));
  block.add_records(RecordOf<std::int32_t>(first, "h", {-1}));
  EXPECT_THAT(Converted(words, first, &block), ElementsAre("0 g unknown_word", "1 h unknown_word"));
  EXPECT_EQ(block.records_size(), 0);
}

TEST(JoinedWordsTest, RefusalThatIsNotSkippedEndsTheConversion) {
  const v1::Schema first = SchemaOf(v1::DATA_TYPE_I32, {{"b", 1}});
  const JoinedWords words = Joined({first, SchemaOf(v1::DATA_TYPE_I32, {{"a", 1}})});
  v1::RecordBlock block;
  block.add_records(RecordOf<std::int32_t>(first, "g", {1}));
  EXPECT_THAT(words.ConverterOf(first)->Convert(
                  &block, [](int, std::string_view, const absl::Status& refusal) { return refusal; }),
              Refused("unknown_word", "'token' holds 1, but the file has 1 words"));
  block.set_records(0, "no record");
  EXPECT_THAT(words.ConverterOf(first)->Convert(
                  &block, [](int, std::string_view, const absl::Status&) { return absl::OkStatus(); }),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(JoinedWordsTest, FixedNamesMustBeTheSame) {
  JoinedWords words;
  const v1::Schema bonds = WithFixedNames({"single", "double"});
  ASSERT_THAT(words.Add(bonds), IsOk());
  EXPECT_THAT(words.Add(bonds), IsOk());
  EXPECT_THAT(words.Add(WithFixedNames({"double", "single"})),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'token' stand for other words")));
  EXPECT_THAT(words.Add(SchemaOf(v1::DATA_TYPE_U8, {{"single", 1}, {"double", 1}})),
              StatusIs(absl::StatusCode::kInvalidArgument));
  ASSERT_THAT(words.Finish(), IsOk());
  EXPECT_THAT(VocabularyOf(words).words(), ElementsAre("single", "double"));
  EXPECT_THAT(VocabularyOf(words).graphs(), IsEmpty());
  EXPECT_TRUE(words.ConverterOf(bonds)->changes_nothing());
}

TEST(JoinedWordsTest, FieldsOfWordsMustBeTheSame) {
  JoinedWords words;
  ASSERT_THAT(words.Add(SchemaOf(v1::DATA_TYPE_I32, {{"a", 1}})), IsOk());
  EXPECT_THAT(words.Add(WithoutWords(SchemaOf(v1::DATA_TYPE_I32, {{"a", 1}}))),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("its fields of words are none")));
}

TEST(JoinedWordsTest, MoreWordsThanAreStoredAreRefused) {
  Counts low, high;
  for (int k = 0; k < 9; ++k) low.emplace_back(std::string(1 << 20, 'a') + absl::StrCat(k), 1);
  for (int k = 0; k < 9; ++k) high.emplace_back(std::string(1 << 20, 'b') + absl::StrCat(k), 1);
  JoinedWords words;
  ASSERT_THAT(words.Add(SchemaOf(v1::DATA_TYPE_I32, low)), IsOk());
  ASSERT_THAT(words.Add(SchemaOf(v1::DATA_TYPE_I32, high)), IsOk());
  EXPECT_THAT(words.Finish(), Refused("too_many_words", "16777216 bytes"));
}

}  // namespace
}  // namespace packtrain::ingest
