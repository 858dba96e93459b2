#include "proto/wire/words.h"

#include <gtest/gtest.h>

namespace packtrain::wire {
namespace {

enum class Colour { kRed = 1, kGreen, kGrey };
constexpr Word<Colour> kColours[] = {
    {"red", Colour::kRed}, {"green", Colour::kGreen}, {"grey", Colour::kGrey, {2, 4096}}};

TEST(WordsTest, AWordIsParsedWhole) {
  EXPECT_EQ(ParseWord("green", kColours)->value, Colour::kGreen);
  EXPECT_FALSE(ParseWord("green", kColours)->number);
  for (const char* const text : {"", "gree", "greens", "Green", "green ", "green:1", "blue"}) {
    EXPECT_FALSE(ParseWord(text, kColours)) << text;
  }
}

TEST(WordsTest, ANumberIsWithinItsRange) {
  EXPECT_EQ(ParseWord("grey:2", kColours)->number, 2u);
  EXPECT_EQ(ParseWord("grey:4096", kColours)->number, 4096u);
  EXPECT_EQ(ParseWord("grey:4096", kColours)->value, Colour::kGrey);
  for (const char* const text : {"grey", "grey:", "grey:1", "grey:4097", "grey:4294967298", "grey:-2",
                                 "grey:+2", "grey: 2", "grey:2 ", "grey:2.5", "grey:x", "grey2", "greys:2"}) {
    EXPECT_FALSE(ParseWord(text, kColours)) << text;
  }
}

TEST(WordsTest, EveryWordIsPrintedAsItIsParsed) {
  for (const Word<Colour>& word : kColours) EXPECT_EQ(WordOf(word.value, kColours), word.text);
  EXPECT_EQ(WithNumber("grey", 8), "grey:8");
  EXPECT_EQ(WithNumber("red", std::nullopt), "red");
}

TEST(WordsTest, ValuesWithoutAWordAreNumbered) {
  EXPECT_EQ(WordOf(Colour{}, kColours), "");
  EXPECT_EQ(WordOf(static_cast<Colour>(77), kColours), "unknown(77)");
  EXPECT_EQ(WordOf(static_cast<Colour>(-1), kColours), "unknown(-1)");
}

TEST(WordsTest, MessagesListEveryWord) {
  EXPECT_EQ(KnownWords(kColours), "red, green and grey:K with K from 2 to 4096");
}

}  // namespace
}  // namespace packtrain::wire
