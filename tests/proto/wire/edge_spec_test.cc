#include "proto/wire/edge_spec.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/testing/status_matchers.h"

namespace packtrain::wire {
namespace {

using ::packtrain::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(EdgeSpecTest, KnowsFullRadiusAndKnn) {
  EXPECT_EQ(*ParseEdgeSpec("full"), EdgeSpec{});
  EXPECT_EQ(*ParseEdgeSpec("radius:5"), (EdgeSpec{EdgeBuilder::kRadius, 5, 0}));
  EXPECT_EQ(*ParseEdgeSpec("radius:4.5:32"), (EdgeSpec{EdgeBuilder::kRadius, 4.5, 32}));
  EXPECT_EQ(*ParseEdgeSpec("knn:12"), (EdgeSpec{EdgeBuilder::kKnn, 0, 12}));
  EXPECT_EQ(*ParseEdgeSpec("radius:1e9:2147483647"),
            (EdgeSpec{EdgeBuilder::kRadius, kMaxRadius, kMaxNeighbours}));
}

TEST(EdgeSpecTest, HasOneSpelling) {
  for (const auto& [text, spelt] : {std::pair{"full", "full"},
                                    {"radius:5.0", "radius:5"},
                                    {"radius:0.50:07", "radius:0.5:7"},
                                    {"radius:1e-3", "radius:0.001"},
                                    {"knn:012", "knn:12"}}) {
    EXPECT_EQ(ToText(ParseEdgeSpec(text).value()), spelt);
  }
}

TEST(EdgeSpecTest, AnUnknownNameListsWhatIsKnown) {
  for (const char* text : {"", "full ", "Full", "full:1", "bonds", ":", "radius5"}) {
    EXPECT_THAT(ParseEdgeSpec(text), StatusIs(absl::StatusCode::kInvalidArgument,
                                              AllOf(HasSubstr("--edges '" + std::string(text) + "'"),
                                                    HasSubstr("known: full, radius"))));
  }
}

TEST(EdgeSpecTest, RefusesARadiusThatIsNone) {
  for (const char* text : {"radius:0", "radius:-1", "radius:nan", "radius:inf", "radius:1.1e9", "radius:1e999",
                           "radius:", "radius: 5", "radius:5A", "radius:0x5", "radius:+5"}) {
    EXPECT_THAT(ParseEdgeSpec(text), StatusIs(absl::StatusCode::kInvalidArgument,
                                              AllOf(HasSubstr("--edges"), HasSubstr("above 0, in angstrom"))));
  }
}

TEST(EdgeSpecTest, RefusesANumberOfNeighboursThatIsNone) {
  for (const char* text : {"knn:0", "knn:-1", "knn:", "knn:1.5", "knn:2147483648", "knn:99999999999",
                           "radius:5:0", "radius:5:", "radius:5:x"}) {
    EXPECT_THAT(ParseEdgeSpec(text), StatusIs(absl::StatusCode::kInvalidArgument,
                                              AllOf(HasSubstr("--edges"), HasSubstr("from 1 to 2147483647"))));
  }
}

TEST(EdgeSpecTest, RefusesPartsInExcessOrMissing) {
  for (const char* text : {"knn", "knn:1:2", "radius", "radius:1:2:3"}) {
    EXPECT_THAT(ParseEdgeSpec(text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is no ")));
  }
}

}  // namespace
}  // namespace packtrain::wire
