#include "client/ingest/text.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "client/ingest/elements.h"

namespace packtrain::ingest {
namespace {

using ::testing::Optional;

TEST(TextTest, WordsAreSplitAtBlanksAndTabs) {
  std::string_view rest = " \tC  1.5\t-2 ";
  EXPECT_EQ(NextWord(&rest), "C");
  EXPECT_EQ(NextWord(&rest), "1.5");
  EXPECT_EQ(NextWord(&rest), "-2");
  EXPECT_EQ(NextWord(&rest), "");
}

TEST(TextTest, NumbersOfManyFormsAreRead) {
  EXPECT_THAT(ParseDouble("-0.012698"), Optional(-0.012698));
  EXPECT_THAT(ParseDouble("+1.5"), Optional(1.5));
  EXPECT_THAT(ParseDouble("3"), Optional(3.0));
  EXPECT_THAT(ParseDouble("1e-3"), Optional(1e-3));
  EXPECT_THAT(ParseDouble("1.E+03"), Optional(1000.0));
  EXPECT_THAT(ParseDouble(".5"), Optional(0.5));
}

TEST(TextTest, MathematicaExponentIsRead) {
  EXPECT_THAT(ParseDouble("7.9254*^-6"), Optional(7.9254e-6));
  EXPECT_THAT(ParseFloat("-1*^2"), Optional(-100.0f));
}

TEST(TextTest, FortranExponentIsRead) {
  EXPECT_THAT(ParseDouble("-0.76417D+02"), Optional(-76.417));
  EXPECT_THAT(ParseDouble("0.0d0"), Optional(0.0));
  EXPECT_THAT(ParseFloat("-3.7D-01"), Optional(-0.37f));
}

TEST(TextTest, FloatIsTheNearestToTheDecimal) { EXPECT_THAT(ParseFloat("0.1"), Optional(0.1f)); }

TEST(TextTest, DecimalsOfAnyLengthAreTheNearestNumber) {
  for (std::size_t digits = 1; digits <= 40; ++digits) {
    for (const char* const sign : {"", "-"}) {
      for (std::size_t point = 0; point <= digits; ++point) {
        std::string word = std::string("9182736450546372819091827364505463728190").substr(0, digits);
        word.insert(point, ".").insert(0, sign);
        EXPECT_THAT(ParseDouble(word), Optional(std::strtod(word.c_str(), nullptr))) << word;
        EXPECT_THAT(ParseFloat(word), Optional(std::strtof(word.c_str(), nullptr))) << word;
      }
    }
  }
}

// 1 + 2^-24 is in the middle between two floats, and a double that is near it may be rounded to it.
TEST(TextTest, DecimalsNearTheMiddleOfTwoFloatsAreTheNearestFloat) {
  const float above = std::nextafter(1.0f, 2.0f);
  EXPECT_THAT(ParseFloat("1.000000059604644775390625"), Optional(1.0f));
  EXPECT_THAT(ParseFloat("1.0000000596046448"), Optional(above));
  EXPECT_THAT(ParseFloat("1.00000005960464"), Optional(1.0f));
  EXPECT_THAT(ParseFloat("1.00000005960465"), Optional(above));
  EXPECT_THAT(ParseFloat("16777217"), Optional(16777216.0f));  // 2^24 + 1
  EXPECT_THAT(ParseFloat("16777219"), Optional(16777220.0f));
  EXPECT_THAT(ParseFloat("1000000000000003"), Optional(1e15f));
}

TEST(TextTest, ZeroKeepsItsSign) {
  EXPECT_TRUE(std::signbit(ParseDouble("-0.0").value()));
  EXPECT_FALSE(std::signbit(ParseFloat("0").value()));
}

TEST(TextTest, NextFloatCutsAWordOff) {
  std::string_view rest = " 1.5\t-.25 3. 1e2 0.1x ";
  EXPECT_THAT(NextFloat(&rest), Optional(1.5f));
  EXPECT_THAT(NextFloat(&rest), Optional(-0.25f));
  EXPECT_THAT(NextFloat(&rest), Optional(3.0f));
  EXPECT_THAT(NextFloat(&rest), Optional(100.0f));
  EXPECT_EQ(NextFloat(&rest), std::nullopt);
  EXPECT_EQ(NextWord(&rest), "");
  EXPECT_EQ(NextFloat(&rest), std::nullopt);
}

TEST(TextTest, TooLargeIsInfiniteAndTooSmallIsZero) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_THAT(ParseFloat("1e39"), Optional(infinity));
  EXPECT_THAT(ParseFloat("-1e999"), Optional(-infinity));
  EXPECT_THAT(ParseFloat("1e-99"), Optional(0.0f));
  EXPECT_THAT(ParseDouble("1e-999"), Optional(0.0));
}

TEST(TextTest, NanAndInfinityAreNumbersButNotFinite) {
  EXPECT_TRUE(std::isnan(ParseFloat("NaN").value()));
  EXPECT_TRUE(std::isinf(ParseFloat("-inf").value()));
}

TEST(TextTest, OtherWordsAreNoNumbers) {
  for (const char* word : {"", "abc", "1.5x", "1,5", "--1", "+-1", "+", "1 2", "*^3", "1*^", "1*^2*^3", "0x10",
                           "D3", "1D", "1D2D3", "1D*^3", "infD1"}) {
    EXPECT_EQ(ParseDouble(word), std::nullopt) << word;
  }
  EXPECT_EQ(ParseFloat(std::string_view()), std::nullopt);
}

TEST(TextTest, CountsAreWholeAndNotNegative) {
  EXPECT_THAT(ParseCount("29"), Optional(29u));
  for (const char* word : {"", "-1", "+1", "1.0", "3 ", "18446744073709551616"})
    EXPECT_EQ(ParseCount(word), std::nullopt);
}

TEST(ElementsTest, SymbolsAndNumbersAreKnown) {
  EXPECT_EQ(AtomicNumber("H"), 1);
  EXPECT_EQ(AtomicNumber("C"), 6);
  EXPECT_EQ(AtomicNumber("Cl"), 17);
  EXPECT_EQ(AtomicNumber("Og"), 118);
  EXPECT_EQ(AtomicNumber("17"), 17);
  EXPECT_EQ(AtomicNumber("118"), 118);
}

TEST(ElementsTest, OtherWordsAreNot) {
  for (const char* word : {"", "X", "D", "CL", "cl", "Xx", "C1", "Uue", "0", "119", "256", "-6", "6.0", "{"}) {
    EXPECT_EQ(AtomicNumber(word), 0) << word;
  }
}

TEST(TextTest, DigitsAreOrderedAsNumbers) {
  const std::vector<std::string> ordered = {"",    "2",  "10",   "a",   "a1b3", "a1b20",
                                            "a02", "a2", "a02b", "a10", "aa",   "b1"};
  for (std::size_t a = 0; a < ordered.size(); ++a) {
    for (std::size_t b = 0; b < ordered.size(); ++b) {
      EXPECT_EQ(NaturalLess(ordered[a], ordered[b]), a < b) << ordered[a] << " " << ordered[b];
    }
  }
}

}  // namespace
}  // namespace packtrain::ingest
