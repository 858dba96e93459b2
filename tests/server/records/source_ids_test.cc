#include <gmock/gmock.h>

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "server/records/graph_validator.h"

namespace packtrain::records {
namespace {

TEST(SourceIdsTest, NumbersRepeatedIdsWithTheNextThatIsFree) {
  SourceIds ids(v1::DUPLICATE_POLICY_NUMBER);
  std::set<std::string, std::less<>> taken;
  const auto take = [&](std::string_view id) {
    std::string given = ids.Take(id, [&](std::string_view other) { return taken.contains(other); }).value();
    EXPECT_TRUE(taken.insert(given).second) << given;
    return given;
  };
  EXPECT_EQ(take("x"), "x");
  EXPECT_EQ(take("x#2"), "x#2");
  EXPECT_EQ(take("x"), "x#3");
  EXPECT_EQ(take("x"), "x#4");
  EXPECT_EQ(take("x#2"), "x#2#2");
  EXPECT_EQ(take("y"), "y");
  for (int number = 5; number <= 100; ++number) EXPECT_EQ(take("x"), absl::StrCat("x#", number));
}

}  // namespace
}  // namespace packtrain::records
