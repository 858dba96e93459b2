#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/records/graph_validator.h"
#include "server/records/id_table.h"

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

// The ids that differ from `id` in a word by the lengths of both, as if the length were part of that word.
std::vector<std::string> IdsBesideLengths(const std::string& id) {
  std::vector<std::string> ids;
  for (std::size_t length = 0; length <= id.size() + 16; ++length) {
    std::string other = id;
    other.resize(length, '\0');
    ids.push_back(other);  // cut off, or with zeros behind
    for (std::size_t word = 0; word < length; word += 8) {
      std::string mixed = other;
      mixed[word] = static_cast<char>(mixed[word] ^ static_cast<char>(id.size() ^ length));
      ids.push_back(mixed);
    }
  }
  return ids;
}

TEST(IdTableTest, IdsOfDifferentLengthsAreDifferentWhateverTheirBytes) {
  using std::string_literals::operator""s;
  for (const std::string& id :
       {"X"s, "["s, "a"s, "\0"s, "12345678"s, "123456789"s, "0123456789abcdef"s, "0123456789abcdefg"s}) {
    IdTable table;
    table.Add(id);
    EXPECT_EQ(table.Find(id), 0u);
    for (const std::string& other : IdsBesideLengths(id)) {
      EXPECT_EQ(table.Contains(other), other == id) << absl::CEscape(id) << " and " << absl::CEscape(other);
    }
  }
  IdTable table;
  table.Add("X");
  EXPECT_FALSE(table.Contains("[\0"s));
  table.Add("[\0"s);
  EXPECT_EQ(table.Find("X"), 0u);
  EXPECT_EQ(table.Find("[\0"s), 1u);
}

TEST(IdTableTest, IdsOfZerosAreToldApartByTheirNumber) {
  IdTable table;
  for (std::uint32_t zeros = 0; zeros < 200; ++zeros) {
    const std::string id(zeros, '\0');
    ASSERT_FALSE(table.Contains(id)) << zeros;
    table.Add(id);
    EXPECT_EQ(table.Find(id), zeros);
  }
}

}  // namespace
}  // namespace packtrain::records
