#include "server/limits/page.h"

#include <gmock/gmock.h>

#include "tests/testing/status_matchers.h"

namespace packtrain::limits {
namespace {

using ::packtrain::testing::StatusIs;
using ::testing::HasSubstr;

constexpr std::uint64_t kManyBytes = 64 << 20;

TEST(PageTokenTest, LeadsBackToTheKey) {
  for (const std::string key : {"qm9", "", "a b\xff", "1700000000000 20231114-221320-abcd"}) {
    EXPECT_EQ(*KeyOfPageToken(PageToken("state = done", key), "state = done"), key);
  }
  EXPECT_EQ(*KeyOfPageToken("", "state = done"), "");
}

TEST(PageTokenTest, AForeignOrChangedTokenIsRefused) {
  const std::string token = PageToken("query", "key");
  std::string changed = token;
  changed[3] = changed[3] == 'A' ? 'B' : 'A';
  for (const std::string& bad : {changed, token.substr(1), token + "AAAA", std::string("key"), std::string("*"),
                                 std::string(100'000, 'x')}) {
    EXPECT_THAT(KeyOfPageToken(bad, "query"),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("page_token")));
  }
  EXPECT_THAT(KeyOfPageToken(token, "other query"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(KeyOfPageToken(PageToken("ab", "c"), "a"), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(PageTest, HoldsAsManyItemsAsAskedForUpToTheLimit) {
  for (const auto& [asked, held] :
       {std::pair(1u, 1u), {7u, 7u}, {0u, Page::kMaxItems}, {5000u, Page::kMaxItems}}) {
    Page page(asked, kManyBytes);
    for (std::uint32_t i = 0; i < held; ++i) ASSERT_TRUE(page.Take(1)) << asked;
    EXPECT_FALSE(page.Take(1)) << asked;
  }
}

TEST(PageTest, EndsBeforeItsMessageIsTooLarge) {
  Page page(0, kManyBytes);
  EXPECT_TRUE(page.Take(1 << 20));
  EXPECT_TRUE(page.Take(1 << 19));
  EXPECT_FALSE(page.Take(1));
  Page small(0, 64 << 10);
  EXPECT_TRUE(small.Take(40 << 10));
  EXPECT_FALSE(small.Take(10 << 10));
}

TEST(PageTest, TheFirstItemIsTakenWhateverItsSize) { EXPECT_TRUE(Page(0, 64 << 10).Take(1 << 30)); }

}  // namespace
}  // namespace packtrain::limits
