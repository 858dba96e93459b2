#include "server/records/graph_column.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace packtrain::records {
namespace {

using ::testing::ElementsAre;

TEST(GraphColumnTest, HoldsNumbersOfAnySize) {
  const std::vector<std::uint32_t> numbers = {0, 1, 65'534, 65'535, 65'536, 7, 4'294'967'295, 0};
  GraphColumn column;
  EXPECT_TRUE(column.empty());
  EXPECT_EQ(column.max(), 0u);
  for (const std::uint32_t number : numbers) column.Add(number);
  EXPECT_EQ(column.size(), numbers.size());
  for (std::size_t graph = 0; graph < numbers.size(); ++graph)
    EXPECT_EQ(column[graph], numbers[graph]) << graph;
  EXPECT_EQ(column.Numbers(), numbers);
  EXPECT_THAT(column.Numbers(3, 3), ElementsAre(65'535, 65'536, 7));
  EXPECT_EQ(column.max(), 4'294'967'295);
}

}  // namespace
}  // namespace packtrain::records
