#include "client/ingest/vocabularies.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/client/ingest/refused.h"
#include "tests/testing/status_matchers.h"

namespace packtrain::ingest {
namespace {

using ::testing::ElementsAre;
using testing::IsOk;
using testing::Refused;

WordRows Rows(const std::vector<std::string>& words) {
  WordRows rows;
  for (const std::string& word : words) {
    rows.text += word;
    rows.ends.push_back(rows.text.size());
  }
  return rows;
}

TEST(VocabulariesTest, WordsAreSortedByTheirBytesAndCountedOncePerGraph) {
  Vocabularies words;
  words.Note("token", Rows({"b", "a", "b", "\xc3\xa9", ""}));
  words.Note("token", Rows({"b", "Z"}));
  words.Note("edge_type", Rows({"b"}));
  ASSERT_THAT(words.Finish(), IsOk());
  const v1::Vocabulary tokens = words.Of("token");
  EXPECT_EQ(tokens.field(), "token");
  EXPECT_THAT(tokens.words(), ElementsAre("", "Z", "a", "b", "\xc3\xa9"));
  EXPECT_THAT(tokens.graphs(), ElementsAre(1, 1, 1, 2, 1));
  EXPECT_EQ(words.Find("token", "b"), 3u);
  EXPECT_EQ(words.Find("edge_type", "b"), 0u);
  EXPECT_EQ(words.Find("token", "c"), std::nullopt);
  EXPECT_EQ(words.Find("none", "b"), std::nullopt);
  EXPECT_EQ(words.Of("none").words_size(), 0);
}

TEST(VocabulariesTest, WordsFoundElsewhereAreAddedWithTheirCounts) {
  Vocabularies words;
  v1::Vocabulary found;
  found.set_field("token");
  found.add_words("b");
  found.add_graphs(3);
  found.add_words("a");
  found.add_graphs(1);
  words.Note("token", Rows({"b", "c"}));
  words.Add(found);
  ASSERT_THAT(words.Finish(), IsOk());
  EXPECT_THAT(words.Of("token").words(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(words.Of("token").graphs(), ElementsAre(1, 4, 1));
}

TEST(VocabulariesTest, MoreWordsThanAreStoredAreRefused) {
  Vocabularies words(/*max_bytes=*/20);
  words.Note("token", Rows({"aa", "bb"}));  // 10 bytes each, as in a message
  words.Note("token", Rows({"aa", "bb"}));
  words.Note("token", Rows({"c"}));
  EXPECT_THAT(words.Finish(), Refused("too_many_words", "20 bytes"));
}

}  // namespace
}  // namespace packtrain::ingest
